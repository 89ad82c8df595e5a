/** Orders as a person chooses them. */
import type { OrderAsk, OrderBy } from "../../api/model";

export interface OrderChoice {
  readonly by: OrderBy;
  readonly title: string;
  readonly explains: string;
  /** What stands on top and at the bottom. */
  readonly ends: readonly [string, string] | null;
}

export const choices: readonly OrderChoice[] = [
  { by: "as-is", title: "as is", explains: "As the model numbers them.", ends: null },
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
    explains: "Those first that are strong and change little.",
    ends: ["most stable", "least"],
  },
  {
    by: "similar",
    title: "similar",
    explains: "By how much they stand out in the chosen interval.",
    ends: ["most alike", "least"],
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

/** Whether two asks look at the same rows. */
export function sameRows(a: OrderAsk, b: { recording: string; start: number; stop: number }): boolean {
  return a.recording === b.recording && a.start === b.start && a.stop === b.stop;
}
