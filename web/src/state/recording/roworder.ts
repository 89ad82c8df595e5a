/** Which rows are listed, and in which order. */
import { numbersOf, type ColumnData } from "../../api/data/columns";
import type { Bitset } from "../selection/bitset";

export function listed(total: number, within: Bitset | null): Uint32Array {
  if (!within) return Uint32Array.from({ length: total }, (_, row) => row);
  const rows = new Uint32Array(within.count());
  let at = 0;
  for (const [start, stop] of within.runs()) for (let row = start; row < stop; row++) rows[at++] = row;
  return rows;
}

/** The same rows by the value of a column; unknown values come last. */
export function ordered(rows: Uint32Array, data: ColumnData, down: boolean): Uint32Array {
  const sign = down ? -1 : 1;
  if (data.type === "text") {
    const rank = new Map(data.words.toSorted().map((word, index) => [word, index]));
    const ranks = data.words.map((word) => rank.get(word)!);
    return rows
      .slice()
      .sort((a, b) => compare(ranks[data.codes[a]!] ?? NaN, ranks[data.codes[b]!] ?? NaN, sign) || a - b);
  }
  const values = numbersOf(data);
  return rows.slice().sort((a, b) => compare(values[a]!, values[b]!, sign) || a - b);
}

function compare(a: number, b: number, sign: number): number {
  const [noA, noB] = [Number.isNaN(a), Number.isNaN(b)];
  if (noA || noB) return Number(noA) - Number(noB);
  return sign * (a - b);
}
