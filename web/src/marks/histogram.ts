/** How often values occur; the selected part in its own colour. */
import type { Palette } from "./colour/colour";
import type { Pen, Size } from "./pen/pen";
import { extentOf, type Extent } from "./time/timeline";

export interface Bins {
  readonly extent: Extent;
  readonly all: Uint32Array;
  readonly chosen: Uint32Array;
}

export function binned(values: ArrayLike<number>, bins: number, selected: ((row: number) => boolean) | null): Bins {
  const extent = extentOf(values);
  const all = new Uint32Array(bins);
  const chosen = new Uint32Array(bins);
  const scale = bins / (extent.high - extent.low);
  for (let row = 0; row < values.length; row++) {
    const bin = Math.min(bins - 1, Math.floor((values[row]! - extent.low) * scale));
    if (!(bin >= 0)) continue;
    all[bin]!++;
    if (selected?.(row)) chosen[bin]!++;
  }
  return { extent, all, chosen };
}

export function drawHistogram(pen: Pen, size: Size, bins: Bins, palette: Palette): void {
  const most = bins.all.reduce((a, b) => Math.max(a, b), 1);
  const step = size.width / bins.all.length;
  const bar = (n: number, i: number): void => {
    const height = n ? Math.max(1, (n / most) * size.height) : 0;
    pen.fillRect(i * step, size.height - height, Math.max(1, step - 1), height);
  };
  pen.fillStyle = palette.line;
  bins.all.forEach(bar);
  pen.fillStyle = palette.selected;
  bins.chosen.forEach(bar);
}
