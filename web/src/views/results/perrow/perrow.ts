/** Numbers for some rows of a recording, read where they are looked at. */
import type { ArraySlice, Range } from "../../../api/service";
import { firstFrom } from "../../frame/cloud/layout";

export interface RowValues {
  /** First row, and the one after the last. */
  readonly start: number;
  readonly stop: number;
  /** For each column a number for every row from start to stop; NaN where none is known. */
  readonly columns: readonly Float32Array[];
  /** How many rows have any. */
  readonly known: number;
}

/** The part of the result that lies between two rows. */
export function partOf(rows: ArrayLike<number>, start: number, stop: number): Range {
  return { start: firstFrom(rows, start), stop: firstFrom(rows, stop) };
}

/** Values of that part, spread over all rows between. */
export function spread(
  { values }: ArraySlice,
  rows: ArrayLike<number>,
  { part, start, stop, count }: { part: Range; start: number; stop: number; count: number },
): RowValues {
  const columns = Array.from({ length: count }, () => new Float32Array(Math.max(0, stop - start)).fill(NaN));
  for (let at = part.start; at < part.stop; at++)
    for (let k = 0; k < count; k++) columns[k]![rows[at]! - start] = values[(at - part.start) * count + k]!;
  return { start, stop, columns, known: part.stop - part.start };
}
