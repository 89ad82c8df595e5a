/** Shares stacked along time, from the top; what they lack to one is left blank. */
import { drawTexture, type Look } from "../colour/names";
import type { Pen, Size } from "../pen/pen";

/** `shares` holds a value per look and step, step after step. */
export function drawStacked(
  pen: Pen,
  size: Size,
  shares: ArrayLike<number>,
  looks: readonly Look[],
  ground: string,
): void {
  const kinds = looks.length;
  const steps = Math.floor(shares.length / kinds);
  if (!steps) return;
  const columns = Math.min(steps, Math.max(1, Math.floor(size.width)));
  const heights = averaged(shares, kinds, steps, columns);
  const x = (column: number): number => (column / columns) * size.width;
  const base = new Float32Array(columns);
  for (let kind = 0; kind < kinds; kind++) {
    const { colour, texture } = looks[kind]!;
    const below = base.slice();
    pen.fillStyle = colour;
    pen.beginPath();
    for (let c = 0; c < columns; c++) {
      const y = base[c]! * size.height;
      pen.lineTo(x(c), y);
      pen.lineTo(x(c + 1), y);
    }
    for (let c = columns - 1; c >= 0; c--) {
      base[c]! += heights[c * kinds + kind]!;
      const y = Math.min(1, base[c]!) * size.height;
      pen.lineTo(x(c + 1), y);
      pen.lineTo(x(c), y);
    }
    pen.fill();
    drawTexture(pen, size.width, { texture, ground }, (at) => {
      const c = Math.floor((at / size.width) * columns);
      return [below[c]! * size.height, Math.min(1, base[c]!) * size.height];
    });
  }
}

/** Mean share per column of the picture, of the steps that are known; without any a gap is left. */
function averaged(shares: ArrayLike<number>, kinds: number, steps: number, columns: number): Float32Array {
  const out = new Float32Array(columns * kinds);
  for (let column = 0; column < columns; column++) {
    const from = Math.floor((column * steps) / columns);
    const to = Math.max(from + 1, Math.floor(((column + 1) * steps) / columns));
    for (let kind = 0; kind < kinds; kind++) {
      let sum = 0;
      let known = 0;
      for (let step = from; step < to; step++) {
        const share = shares[step * kinds + kind]!;
        if (Number.isNaN(share)) continue;
        sum += share;
        known++;
      }
      out[column * kinds + kind] = known ? sum / known : 0;
    }
  }
  return out;
}
