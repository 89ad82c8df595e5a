/** Orders as a person chooses them. */
import type { OrderAsk, OrderBy } from "../../api/model";
import { Memory } from "../../state/memory/memory.svelte";
import type { Session } from "../../state/session.svelte";

export interface OrderChoice {
  readonly by: OrderBy;
  readonly title: string;
  readonly explains: string;
  /** What stands on top and at the bottom. */
  readonly ends: readonly [string, string] | null;
}

export const choices: readonly OrderChoice[] = [
  { by: "model", title: "model order", explains: "As the model numbers them.", ends: null },
  {
    by: "activation",
    title: "activation",
    explains: "By how strong they are on average, whatever the sign.",
    ends: ["most active", "least active"],
  },
  { by: "change", title: "change", explains: "By how much they change over time.", ends: ["most change", "least"] },
  {
    by: "stable",
    title: "stable",
    explains: "Those first that change least.",
    ends: ["most stable", "least"],
  },
  {
    by: "similar",
    title: "similar",
    explains: "By how much they stand out in the chosen interval.",
    ends: ["stands out", "least"],
  },
  { by: "tsne", title: "t-SNE", explains: "Elements that behave alike stand together.", ends: null },
  {
    by: "correlation",
    title: "metric…",
    explains: "By how they follow a column, whatever the sign.",
    ends: ["follows most", "least"],
  },
  { by: "cluster", title: "clusters", explains: "Elements that rise and fall together, group by group.", ends: null },
];

export type Over = "whole" | "interval";

export function endsOf(by: OrderBy): readonly [string, string] | null {
  return choices.find((choice) => choice.by === by)?.ends ?? null;
}

/** Which rows an order looks at when it is asked for now. */
export function rowsNow(session: Session): { recording: string; start: number; stop: number } {
  const { start, stop } = session.window;
  return { recording: session.recording?.info.name ?? "", start, stop };
}

/** Whether the order was made over other rows than those shown: another episode, or another recording. */
export function madeElsewhere(session: Session): boolean {
  const { ask } = session.of(Memory).chosen;
  const now = rowsNow(session);
  return ask !== null && (ask.recording !== now.recording || ask.start !== now.start || ask.stop !== now.stop);
}

/** Order over the rows that are shown; says so where an interval is needed and none is chosen. */
export function orderBy(session: Session, wanted: { by: OrderBy; over: Over; column: string }): void {
  const memory = session.of(Memory);
  if (wanted.by === "model") return memory.setOrder(null);
  const rows = rowsNow(session);
  const { interval } = memory;
  const needed = wanted.by === "similar" || wanted.over === "interval";
  if (needed && !(interval && interval[0] >= rows.start && interval[1] <= rows.stop)) {
    session.toasts.say("Choose an interval first: drag over the memory, or press i at its begin and end.");
    return;
  }
  memory.setOrder({
    by: wanted.by,
    array: memory.array,
    ...rows,
    ...(needed ? { from: interval![0], to: interval![1] } : {}),
    ...(wanted.by === "correlation" ? { column: wanted.column } : {}),
  });
}

/** The order that is shown, as it was wished for. */
export function wishOf(ask: OrderAsk | null): { by: OrderBy; over: Over; column: string } {
  const by = ask?.by ?? "model";
  return { by, over: ask?.from !== undefined && by !== "similar" ? "interval" : "whole", column: ask?.column ?? "" };
}
