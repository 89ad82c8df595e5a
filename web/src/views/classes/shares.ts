/** Attention per class over time, as a result holds it. */
import type { ArraySlice } from "../../api/service";

export interface ClassShares {
  readonly classes: readonly string[];
  /** The first row. */
  readonly start: number;
  /** By class, for every row from the first to the last: NaN where it is not known. */
  readonly share: readonly Float32Array[];
  /** The same of the picture: what chance would give. */
  readonly chance: readonly Float32Array[];
  /** Over all rows, how many times its size each class has of the map; NaN where it never was in view. */
  readonly times: readonly number[];
}

/** The first class is the ground that things stand before; it comes last. */
export function classShares(value: unknown, rows: ArrayLike<number>, { values }: ArraySlice): ClassShares {
  const { classes } = value as { classes: string[] };
  const count = classes.length;
  const start = rows[0] ?? 0;
  const length = rows.length ? rows[rows.length - 1]! + 1 - start : 0;
  const spread = (column: number): Float32Array => {
    const found = new Float32Array(length).fill(NaN);
    for (let i = 0; i < rows.length; i++) found[rows[i]! - start] = values[i * 2 * count + column]!;
    return found;
  };
  const order = [...classes.keys()].slice(1).concat(count ? [0] : []);
  const share = order.map(spread);
  const chance = order.map((column) => spread(count + column));
  const times = share.map((one, k) => {
    let [on, of] = [0, 0];
    one.forEach((value, i) => {
      if (Number.isNaN(value)) return;
      on += value;
      of += chance[k]![i]!;
    });
    return of > 0 ? on / of : NaN;
  });
  return { classes: order.map((column) => classes[column]!), start, share, chance, times };
}

/** The rows behind one sentence, from where attention began to where something happened, as [start, stop). */
export function runsOf(
  sentence: number,
  { of, began, happened }: Readonly<Record<"of" | "began" | "happened", ArrayLike<number>>>,
): [number, number][] {
  const runs: [number, number][] = [];
  for (let i = 0; i < of.length; i++) {
    if (of[i] !== sentence) continue;
    const last = runs.at(-1);
    if (last && began[i]! <= last[1]) last[1] = Math.max(last[1], happened[i]! + 1);
    else runs.push([began[i]!, happened[i]! + 1]);
  }
  return runs;
}
