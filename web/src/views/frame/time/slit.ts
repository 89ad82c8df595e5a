/** A part of each picture, one line of pixels per row: where it is, and how it is read off. */

export interface Slit {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** `down`: a line from top to bottom per row; `across`: from left to right. */
  readonly axis: "down" | "across";
  /** The mean over the other side of the rectangle, or its middle line alone. */
  readonly how: "mean" | "line";
}

export interface Native {
  readonly width: number;
  readonly height: number;
}

/** A narrow strip in the middle, where it goes. */
export function defaultSlit({ width, height }: Native): Slit {
  const wide = Math.max(1, Math.round(width / 16));
  return { x: Math.floor((width - wide) / 2), y: 0, width: wide, height, axis: "down", how: "mean" };
}

/** Whole pixels inside the picture, at least one. */
export function fitted(slit: Slit, native: Native): Slit {
  const inside = (value: number, most: number): number => Math.max(0, Math.min(most, Math.round(value) || 0));
  const x = inside(slit.x, native.width - 1);
  const y = inside(slit.y, native.height - 1);
  return {
    ...slit,
    x,
    y,
    width: Math.max(1, inside(slit.width, native.width - x)),
    height: Math.max(1, inside(slit.height, native.height - y)),
  };
}

export const slitText = (s: Slit): string => [s.x, s.y, s.width, s.height, s.axis, s.how].join(",");

export function slitFrom(text: string, native: Native): Slit {
  const usual = defaultSlit(native);
  const [x, y, width, height, axis, how] = text.split(",");
  const numbers = [x, y, width, height].map(Number);
  if (!text || numbers.some((n) => !Number.isFinite(n))) return usual;
  const [left, top, wide, high] = numbers as [number, number, number, number];
  const slit: Slit = {
    x: left,
    y: top,
    width: wide,
    height: high,
    axis: axis === "across" ? "across" : "down",
    how: how === "line" ? "line" : "mean",
  };
  return fitted(slit, native);
}

export const lengthOf = (slit: Slit): number => (slit.axis === "down" ? slit.height : slit.width);

/** The line of one picture: red, green and blue of each pixel along the slit. */
export function lineOf({ data, width }: { data: ArrayLike<number>; width: number }, slit: Slit): Uint8Array {
  const length = lengthOf(slit);
  const down = slit.axis === "down";
  const across = down ? slit.width : slit.height;
  const [from, to] = slit.how === "line" ? [across >> 1, (across >> 1) + 1] : [0, across];
  const line = new Uint8Array(3 * length);
  for (let along = 0; along < length; along++) {
    for (let k = 0; k < 3; k++) {
      let sum = 0;
      for (let side = from; side < to; side++) {
        const [x, y] = down ? [slit.x + side, slit.y + along] : [slit.x + along, slit.y + side];
        sum += data[4 * (y * width + x) + k]!;
      }
      line[3 * along + k] = Math.round(sum / (to - from));
    }
  }
  return line;
}

/** Which rows are drawn: every `step`-th, so that no more are read than there are places for on screen. */
export function rowsFor(from: number, to: number, places: number): { start: number; step: number; count: number } {
  const step = Math.max(1, Math.ceil((to - from) / Math.max(1, places)));
  const start = Math.floor(from / step) * step;
  return { start, step, count: Math.max(0, Math.ceil((to - start) / step)) };
}
