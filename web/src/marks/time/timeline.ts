/** One value per step along a time axis: lines, areas, strips of yes and no, strips of words. */
import type { Look } from "../colour/names";
import type { Pen, Size } from "../pen/pen";

export interface Extent {
  readonly low: number;
  readonly high: number;
}

export function extentOf(values: ArrayLike<number>): Extent {
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) return { low: 0, high: 1 };
  if (low === high) return { low: low - 0.5, high: high + 0.5 };
  return { low, high };
}

/** The values that a stretch of the axis touches, and the index of the first. */
export function cut(values: ArrayLike<number>, from: number, to: number): { values: ArrayLike<number>; first: number } {
  const first = Math.max(0, Math.min(values.length, Math.floor(from)));
  const last = Math.max(first, Math.min(values.length, Math.ceil(to)));
  if (first === 0 && last === values.length) return { values, first };
  if (ArrayBuffer.isView(values)) return { values: (values as Float32Array).subarray(first, last), first };
  return { values: Array.prototype.slice.call(values, first, last) as number[], first };
}

/** Where a value lies from the top; a little air above and below. */
export function valueToY(value: number, { low, high }: Extent, height: number): number {
  return height - 2 - ((value - low) / (high - low)) * (height - 4);
}

export function yToValue(y: number, { low, high }: Extent, height: number): number {
  return low + ((height - 2 - y) / (height - 4)) * (high - low);
}

/** A line; where steps are denser than pixels each pixel spans the lowest to the highest value, so no spike is lost. */
export function drawLine(
  pen: Pen,
  size: Size,
  values: ArrayLike<number>,
  extent: Extent,
  colour: string,
  { area = false, width = 1.4, dashed = false }: { area?: boolean; width?: number; dashed?: boolean } = {},
): void {
  const n = values.length;
  if (!n) return;
  if (n > 2 * size.width) return drawDense(pen, size, values, extent, colour, { area, width });
  const points = plain(values);
  const x = (i: number): number => ((i + 0.5) / n) * size.width;
  const y = (value: number): number => valueToY(value, extent, size.height);
  const floor = extent.low <= 0 && extent.high >= 0 ? y(0) : size.height;
  pen.lineJoin = "round";
  if (area) {
    pen.fillStyle = colour;
    pen.globalAlpha = 0.16;
    for (const line of points) {
      pen.beginPath();
      pen.moveTo(x(line[0]!.at), floor);
      for (const p of line) pen.lineTo(x(p.at), y(p.value));
      pen.lineTo(x(line.at(-1)!.at), floor);
      pen.fill();
    }
    pen.globalAlpha = 1;
  }
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  if (dashed) pen.setLineDash([4, 3]);
  pen.beginPath();
  for (const line of points)
    line.forEach((p, i) => (i ? pen.lineTo(x(p.at), y(p.value)) : pen.moveTo(x(p.at), y(p.value))));
  pen.stroke();
  if (dashed) pen.setLineDash([]);
}

interface Point {
  readonly at: number;
  readonly value: number;
}

/** Points in unbroken lines: an unknown value breaks a line. */
function plain(values: ArrayLike<number>): Point[][] {
  const lines: Point[][] = [];
  let line: Point[] | null = null;
  for (let i = 0; i < values.length; i++) {
    if (Number.isNaN(values[i]!)) line = null;
    else {
      if (!line) lines.push((line = []));
      line.push({ at: i, value: values[i]! });
    }
  }
  return lines;
}

/** A bar per pixel from the lowest to the highest value, joined to the one before: much cheaper than a jagged stroke. */
function drawDense(
  pen: Pen,
  size: Size,
  values: ArrayLike<number>,
  extent: Extent,
  colour: string,
  { area, width }: { area: boolean; width: number },
): void {
  const pixels = Math.max(1, Math.floor(size.width));
  const each = size.width / pixels;
  const y = (value: number): number => valueToY(value, extent, size.height);
  const floor = extent.low <= 0 && extent.high >= 0 ? y(0) : size.height;
  const wide = each + width - 1.4;
  pen.fillStyle = colour;
  let before: [number, number] | null = null;
  for (let pixel = 0; pixel < pixels; pixel++) {
    const [low, high] = span(values, pixel, pixels);
    if (!(low <= high)) {
      before = null;
      continue;
    }
    const [top, bottom]: [number, number] = [y(high), y(low)];
    const first: number = before ? Math.min(top, before[1]) : top;
    const last: number = Math.max(before ? Math.max(bottom, before[0]) : bottom, first + width);
    if (area) {
      pen.globalAlpha = 0.16;
      pen.fillRect(pixel * each, Math.min(first, floor), each, Math.abs(floor - first));
      pen.globalAlpha = 1;
    }
    pen.fillRect(pixel * each, first, wide, last - first);
    before = [top, bottom];
  }
}

/** Lowest and highest value of a pixel. */
function span(values: ArrayLike<number>, pixel: number, pixels: number): [number, number] {
  const from = Math.floor((pixel * values.length) / pixels);
  const to = Math.floor(((pixel + 1) * values.length) / pixels);
  let low = Infinity;
  let high = -Infinity;
  for (let i = from; i < to; i++) {
    if (values[i]! < low) low = values[i]!;
    if (values[i]! > high) high = values[i]!;
  }
  return [low, high];
}

/** Bars where something holds; one step is at least a pixel and a half, so that a single event can be seen. */
export function drawStrip(
  pen: Pen,
  size: Size,
  holds: (index: number) => boolean,
  steps: number,
  colour: string,
): void {
  pen.fillStyle = colour;
  const height = Math.min(14, size.height * 0.6);
  const top = (size.height - height) / 2;
  if (steps > 4 * size.width) return drawDenseStrip(pen, { ...size, height }, top, holds, steps);
  for (let i = 0; i < steps; i++) {
    if (!holds(i)) continue;
    const from = i;
    while (i + 1 < steps && holds(i + 1)) i++;
    const width = Math.max(1.5, ((i + 1 - from) / steps) * size.width);
    pen.fillRect((from / steps) * size.width, top, width, height);
  }
}

/** A bar in each pixel where it holds at least once. */
function drawDenseStrip(pen: Pen, size: Size, top: number, holds: (index: number) => boolean, steps: number): void {
  const pixels = Math.max(1, Math.floor(size.width));
  const each = size.width / pixels;
  const any = (pixel: number): boolean => {
    const to = Math.floor(((pixel + 1) * steps) / pixels);
    for (let i = Math.floor((pixel * steps) / pixels); i < to; i++) if (holds(i)) return true;
    return false;
  };
  for (let pixel = 0; pixel < pixels; pixel++) {
    if (!any(pixel)) continue;
    const from = pixel;
    while (pixel + 1 < pixels && any(pixel + 1)) pixel++;
    pen.fillRect(from * each, top, (pixel + 1 - from) * each, size.height);
  }
}

/**
 * A coloured run per word; where steps are denser than pixels, the word that each pixel begins with. Of words that share
 * a colour the second is half as high, the third a thin line.
 */
export function drawWords(pen: Pen, size: Size, codes: ArrayLike<number>, looks: (code: number) => Look): void {
  if (codes.length > 4 * size.width) {
    const pixels = Math.max(1, Math.floor(size.width));
    codes = Array.from({ length: pixels }, (_, pixel) => codes[Math.floor((pixel * codes.length) / pixels)]!);
  }
  const n = codes.length;
  const highest = Math.min(14, size.height * 0.6);
  for (let i = 0; i < n; i++) {
    const from = i;
    const code = codes[i]!;
    while (i + 1 < n && codes[i + 1] === code) i++;
    if (!(code >= 0)) continue;
    const { colour, texture } = looks(code);
    const height = highest / (1 + texture);
    const wide = Math.max(0.7, ((i + 1 - from) / n) * size.width);
    pen.fillStyle = colour;
    pen.fillRect((from / n) * size.width, (size.height - height) / 2, wide, height);
  }
}
