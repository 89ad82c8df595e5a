/** Good and bad news as drops of colour: each cell of a grid is one whose area shows how strong it is. */

export type Rgb = readonly [number, number, number];

export interface Drops {
  /** Signed, [factor, height, width]; 1 is what fills a whole drop. */
  readonly amounts: ArrayLike<number>;
  readonly height: number;
  readonly width: number;
  readonly colours: readonly Rgb[];
  /** Which factors are drawn. */
  readonly shown: (factor: number) => boolean;
}

/** Pixels along a side of a cell: fine enough for a clean edge, cheap enough to draw while time passes. */
export const cellPixels = (width: number): number => Math.max(8, Math.min(28, Math.round(300 / width)));

/** Radius of a drop of strength 1, in cells; a stronger one grows on, but not over the whole picture. */
const fullRadius = 1.4;
const largest = 2.5;
/** Weaker ones would be dust. */
const weakest = 0.05;
/** The edge of a drop lies where its field falls to this. */
export const edge = 0.2;

/** The field of one factor: drops that touch run together. Their area is in proportion to their strength. */
export function fieldOf(drops: Drops, factor: number, sign: 1 | -1, pixels: number, into: Float32Array): boolean {
  const { height, width, amounts } = drops;
  const [wide, high] = [width * pixels, height * pixels];
  into.fill(0);
  let any = false;
  for (let cell = 0; cell < height * width; cell++) {
    const strength = sign * amounts[factor * height * width + cell]!;
    if (!(strength > weakest)) continue;
    any = true;
    const squared = fullRadius ** 2 * Math.min(largest, strength) * pixels ** 2;
    const radius = Math.sqrt(squared);
    const cx = ((cell % width) + 0.5) * pixels;
    const cy = (Math.floor(cell / width) + 0.5) * pixels;
    const [x0, x1] = [Math.max(0, Math.floor(cx - radius)), Math.min(wide, Math.ceil(cx + radius))];
    const [y0, y1] = [Math.max(0, Math.floor(cy - radius)), Math.min(high, Math.ceil(cy + radius))];
    for (let y = y0; y < y1; y++) {
      const dy = (y + 0.5 - cy) ** 2;
      for (let x = x0; x < x1; x++) {
        const inside = 1 - ((x + 0.5 - cx) ** 2 + dy) / squared;
        if (inside > 0) into[y * wide + x]! += inside * inside;
      }
    }
  }
  return any;
}

/** News of one sign over a picture: colour by factor, where several meet mostly that of the strongest. */
export function drawDrops(drops: Drops, sign: 1 | -1): ImageData {
  const pixels = cellPixels(drops.width);
  const [wide, high] = [drops.width * pixels, drops.height * pixels];
  const image = new ImageData(wide, high);
  const field = new Float32Array(wide * high);
  const [red, green, blue, weight, most] = Array.from({ length: 5 }, () => new Float32Array(wide * high));
  for (let factor = 0; factor < drops.colours.length; factor++) {
    if (!drops.shown(factor) || !fieldOf(drops, factor, sign, pixels, field)) continue;
    const [r, g, b] = drops.colours[factor]!;
    for (let i = 0; i < field.length; i++) {
      const here = field[i]!;
      if (!here) continue;
      const share = here ** 4;
      red![i]! += share * r;
      green![i]! += share * g;
      blue![i]! += share * b;
      weight![i]! += share;
      if (here > most![i]!) most![i] = here;
    }
  }
  for (let i = 0; i < field.length; i++) {
    const opacity = opacityOf(most![i]!);
    if (!opacity) continue;
    const all = weight![i]!;
    image.data.set([red![i]! / all, green![i]! / all, blue![i]! / all, 255 * opacity], 4 * i);
  }
  return image;
}

/** Nothing outside, a firm rim, and a body through which the picture can be seen. */
export function opacityOf(field: number): number {
  const over = field - edge;
  if (over <= -0.03) return 0;
  if (over < 0.03) return (0.95 * (over + 0.03)) / 0.06;
  if (over < 0.1) return 0.95;
  const body = Math.min(0.78, 0.5 + 0.22 * field);
  return over < 0.18 ? 0.95 + ((body - 0.95) * (over - 0.1)) / 0.08 : body;
}

/** What factors leave out, as slanted lines: it is no factor, so it has no colour. */
export function drawHatch(amounts: ArrayLike<number>, height: number, width: number, ink: Rgb): ImageData {
  const pixels = cellPixels(width);
  const wide = width * pixels;
  const image = new ImageData(wide, height * pixels);
  const field = new Float32Array(wide * height * pixels);
  fieldOf({ amounts, height, width, colours: [ink], shown: () => true }, 0, 1, pixels, field);
  for (let i = 0; i < field.length; i++) {
    if (field[i]! < edge) continue;
    const line = (((i % wide) + Math.floor(i / wide)) % 8) / 8;
    if (line < 0.3) image.data.set([...ink, 230], 4 * i);
  }
  return image;
}

/** `#rrggbb` to numbers. */
export function rgbOf(colour: string): Rgb {
  const value = Number.parseInt(colour.replace("#", ""), 16);
  return Number.isNaN(value) ? [128, 128, 128] : [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

/** Colours that stay apart on a grey picture, in the order in which factors take them. */
const order = [2, 0, 1, 5, 6, 10, 4, 11, 7, 3, 8, 9];

export const factorPlace = (factor: number): number => order[factor % order.length]!;
