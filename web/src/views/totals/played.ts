/** What was recorded, with what was rolled out in its place. */

/** Totals of rows, [row, factor, sign], and the first row. */
export interface Totals {
  readonly first: number;
  readonly values: ArrayLike<number>;
}

export interface PlayedIn {
  readonly values: Float32Array;
  /** Rows that were rolled out and lie in the recording, the first and the one after the last. */
  readonly start: number;
  readonly stop: number;
  /** How many of them are known. */
  readonly known: number;
}

/** Played rows take the place of recorded ones; those that are still asked for are blank. */
export function playedIn(
  recorded: Totals,
  each: number,
  played: readonly { readonly row: number; readonly totals: ArrayLike<number> | null }[],
): PlayedIn | null {
  const end = recorded.first + recorded.values.length / each;
  const inside = played.filter(({ row }) => row >= recorded.first && row < end);
  if (!inside.length) return null;
  const values = Float32Array.from(recorded.values);
  for (const { row, totals } of inside)
    for (let k = 0; k < each; k++) values[(row - recorded.first) * each + k] = totals?.[k] ?? NaN;
  const rows = inside.map(({ row }) => row);
  return {
    values,
    start: Math.min(...rows),
    stop: Math.max(...rows) + 1,
    known: inside.filter(({ totals }) => totals !== null).length,
  };
}
