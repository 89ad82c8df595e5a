/** Which factor lies where, and how large pictures are. */
import { cellPixels, edge, fieldOf, type Drops } from "../../marks/drops";

/** The factor whose drop covers a place of the picture (0 to 1 across and down), or none. */
export function factorAt(drops: Drops, sign: 1 | -1, x: number, y: number): number | null {
  const pixels = Math.max(2, cellPixels(drops.width) >> 1);
  const [wide, high] = [drops.width * pixels, drops.height * pixels];
  const at = Math.min(high - 1, Math.floor(y * high)) * wide + Math.min(wide - 1, Math.floor(x * wide));
  const field = new Float32Array(wide * high);
  let [best, most] = [null as number | null, edge];
  for (let factor = 0; factor < drops.colours.length; factor++) {
    if (!drops.shown(factor) || !fieldOf(drops, factor, sign, pixels, field)) continue;
    if (field[at]! > most) [best, most] = [factor, field[at]!];
  }
  return best;
}

/** As large as fits beside each other; pixel art in quarter steps, so that its pixels stay alike. */
export function sizeOf(
  native: { width: number; height: number },
  room: { width: number; height: number },
  pixelated: boolean,
): { width: number; height: number } {
  const scale = Math.max(0.05, Math.min(room.width / native.width, room.height / native.height));
  const even = pixelated && scale >= 2 ? Math.floor(scale * 4) / 4 : scale;
  return { width: Math.floor(native.width * even), height: Math.floor(native.height * even) };
}

/** Good and bad of a row, summed over factors that are shown; `totals` is [factor, sign]. */
export function sumsOf(totals: ArrayLike<number>, shown: (factor: number) => boolean): { good: number; bad: number } {
  let [good, bad] = [0, 0];
  for (let factor = 0; 2 * factor < totals.length; factor++) {
    if (!shown(factor)) continue;
    good += totals[2 * factor]!;
    bad += totals[2 * factor + 1]!;
  }
  return { good, bad };
}
