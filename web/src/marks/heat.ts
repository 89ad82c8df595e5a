/** Raw heat to pixels: scaled here and nowhere else, with the scale it was given. */
import { turbo } from "./colour/colour";
import type { Diverging } from "./heatmap/diverging";

export interface HeatShape {
  readonly channels: number;
  readonly height: number;
  readonly width: number;
}

/** One value a pixel of [channel, height, width]: of one channel, or the strongest of all with its sign. */
export function strongest(values: ArrayLike<number>, shape: HeatShape, channel?: number): Float32Array {
  const size = shape.height * shape.width;
  const found = new Float32Array(size);
  const [first, last] = channel === undefined ? [0, shape.channels] : [channel, channel + 1];
  for (let c = first; c < last; c++)
    for (let i = 0; i < size; i++) {
      const value = values[c * size + i]!;
      if (Math.abs(value) > Math.abs(found[i]!)) found[i] = value;
    }
  return found;
}

/** The largest size: what full colour stands for. */
export function reachOf(values: ArrayLike<number>): number {
  let most = 0;
  for (let i = 0; i < values.length; i++) most = Math.max(most, Math.abs(values[i]!) || 0);
  return most;
}

/** Opacity by strength, so that the picture stays visible underneath; blue and orange where the sign means something. */
export function toHeat(
  values: ArrayLike<number>,
  { width, height }: Pick<HeatShape, "width" | "height">,
  reach: number,
  signed: Diverging | null,
): ImageData {
  const image = new ImageData(width, height);
  for (let i = 0; i < width * height; i++) {
    const value = values[i]!;
    const t = reach ? Math.min(1, Math.abs(value) / reach) : 0;
    const [r, g, b] = signed ? (value < 0 ? signed.negative : signed.positive) : turbo(t);
    image.data.set([r, g, b, 255 * Math.min(0.85, t * 1.1)], 4 * i);
  }
  return image;
}

/** Corners of the colours for heat without a sign, from nothing to full. */
export function turboStops(count = 9): string[] {
  return Array.from(
    { length: count },
    (_, i) =>
      `rgb(${turbo(i / (count - 1))
        .map(Math.round)
        .join(" ")})`,
  );
}
