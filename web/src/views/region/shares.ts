/** The share of one map that falls into a region, row by row. */
import type { ArraySlice } from "../../api/service";

export interface Shares {
  /** The first row. */
  readonly start: number;
  /** For every row from the first to the last; NaN where it is not known. */
  readonly share: Float32Array;
  readonly most: number;
  /** The region's share of the picture. */
  readonly chance: number;
  /** Rows whose map is 0 everywhere. */
  readonly dark: number;
}

export function sharesOf(rows: ArrayLike<number>, { shape, values }: ArraySlice, value: unknown): Shares {
  const start = rows[0] ?? 0;
  const share = new Float32Array(rows.length ? rows[rows.length - 1]! + 1 - start : 0).fill(NaN);
  const each = shape[1] ?? 1;
  let [most, dark] = [0, 0];
  for (let i = 0; i < rows.length; i++) {
    const one = values[i * each]!;
    share[rows[i]! - start] = one;
    if (Number.isNaN(one)) dark++;
    else most = Math.max(most, one);
  }
  const told = value as { "share of the picture"?: number };
  return { start, share, most, chance: told["share of the picture"] ?? 0, dark };
}

/** Rows whose share lies between two, as [start, stop). */
export function runsBetween({ start, share }: Shares, low: number, high: number): [number, number][] {
  const runs: [number, number][] = [];
  share.forEach((value, i) => {
    if (!(value >= low && value <= high)) return;
    const last = runs.at(-1);
    if (last && last[1] === start + i) last[1]++;
    else runs.push([start + i, start + i + 1]);
  });
  return runs;
}
