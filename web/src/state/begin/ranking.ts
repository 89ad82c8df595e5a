/** Rows in the order of a score: what measures have in common. */
import type { ColumnData } from "../../api/data/columns";
import type { Bitset } from "../selection/bitset";
import type { Group, Groups } from "../recording/groups";

export interface Candidate {
  readonly row: number;
  readonly score: string;
  readonly why: string;
  /** A heading that it stands under, with others of its kind. */
  readonly under?: string;
}

export interface Measure {
  readonly name: string;
  readonly title: string;
  /** Said under the choice: how the number comes about. */
  readonly explains: string;
  readonly columns: readonly string[];
  /** The lens whose values per row are ranked: then `columns` are names of its columns and arrays, and `told` its value. */
  readonly lens?: string;
  rank(columns: (name: string) => ColumnData, groups: Groups, within: Bitset | null, told?: unknown): Candidate[];
}

export const wanted = 24;

/** Rows with the largest score, at most one per group while there are groups enough. */
export function best(
  rows: number,
  groups: Groups,
  within: Bitset | null,
  score: (row: number, group?: Group) => number,
): number[] {
  const tops: { row: number; score: number }[] = [];
  const consider = (start: number, stop: number, group?: Group): void => {
    let top = -Infinity;
    let at = -1;
    for (const [from, to] of within ? within.runs(start, stop) : [[start, stop] as const]) {
      for (let row = from; row < to; row++) {
        const value = score(row, group);
        if (value > top) [top, at] = [value, row];
      }
    }
    if (at >= 0) tops.push({ row: at, score: top });
  };
  if (groups.count > 1) for (const group of groups.all) consider(group.start, Math.min(group.stop, rows), group);
  else for (const [start, stop] of pieces(rows)) consider(start, stop, groups.at(0));
  return tops
    .sort((a, b) => b.score - a.score || a.row - b.row)
    .slice(0, wanted)
    .map((top) => top.row);
}

/** A recording in one piece is cut so that the best rows are not all neighbours. */
function pieces(rows: number): [number, number][] {
  const size = Math.max(1, Math.ceil(rows / 200));
  return Array.from({ length: Math.ceil(rows / size) }, (_, i) => [i * size, Math.min(rows, (i + 1) * size)]);
}
