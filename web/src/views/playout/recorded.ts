/** What was recorded, beside what was played out. */
import type { ColumnData } from "../../api/columns";
import type { Column } from "../../api/model";

interface Recorded {
  readonly columns: ReadonlyMap<string, ColumnData>;
}

/** A number of the episode at a step; undefined where it was over by then. */
export function recordedAt({ columns }: Recorded, name: string, step: number): number | undefined {
  const data = columns.get(name);
  return data?.type === "number" ? data.values[step] : undefined;
}

/** The column of the value that both have. */
export function valueName(columns: readonly Column[], values: Readonly<Record<string, unknown>>): string {
  return columns.find((column) => column.kind === "value" && column.name in values)?.name ?? "value";
}

/** How it went, in words. */
export function outcomeWords(outcome: string, steps: number, total: number): string {
  const how = outcome || "not over";
  const earned = Number.isNaN(total) ? "" : `, return ${+total.toFixed(2)}`;
  return `${how} after ${steps} ${steps === 1 ? "step" : "steps"}${earned}`;
}
