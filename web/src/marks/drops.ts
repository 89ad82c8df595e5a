/** Good and bad news as drops of colour: each cell of a grid is one whose area shows how strong it is. */

import type { Texture } from "./colour/names";
import type { ReceptiveField } from "./receptivefield";

export type Rgb = readonly [number, number, number];

export interface Drops {
  /** Signed, [factor, height, width]; 1 is what fills a whole drop. */
  readonly amounts: ArrayLike<number>;
  readonly height: number;
  readonly width: number;
  readonly receptive_field: ReceptiveField;
  readonly colours: readonly Rgb[];
  /** Of factors that share a colour the later ones are striped. */
  readonly textures?: readonly Texture[];
  /** Which factors are drawn. */
  readonly shown: (factor: number) => boolean;
}

/** Pixels along a side of a cell: fine enough for a clean edge, cheap enough to draw while time passes. */
export const cellPixels = (width: number): number => Math.max(5, Math.min(80, Math.round(240 / width)));

/** What a drop is as wide as: the same share of the picture in every layer, but never less than about a cell. */
const across = 24;
const narrowest = 0.55;
/** Weaker cells would be dust. */
const weakest = 0.02;
/** The edge of a drop lies where its field falls to this. */
export const edge = 0.12;

/** How wide a cell's drop is, in cells. */
export const dropWidth = (width: number): number => Math.max(narrowest, width / across);

/** How much of a cell's strength its drop keeps: where neighbours add up, in fine layers, each is lower. */
export const dropHeight = (crowd: number): number => 1 / (1 + 0.25 * (crowd - 1));

/** How many times its own strength the strongest cell has once its neighbours are added: 1 where it stands alone. */
export function crowdOf(cells: ArrayLike<number>, width: number, wide: number): number {
  let strongest = 0;
  for (let cell = 1; cell < cells.length; cell++) if (cells[cell]! > cells[strongest]!) strongest = cell;
  const [row, column, reach] = [Math.floor(strongest / width), strongest % width, Math.ceil(3 * wide)];
  let sum = 0;
  for (let y = Math.max(0, row - reach); y <= Math.min(cells.length / width - 1, row + reach); y++) {
    for (let x = Math.max(0, column - reach); x <= Math.min(width - 1, column + reach); x++) {
      sum += cells[y * width + x]! * Math.exp((-0.5 * ((y - row) ** 2 + (x - column) ** 2)) / wide ** 2);
    }
  }
  return sum / (cells[strongest]! || 1);
}

/**
 * The field of one factor, [height · pixels, width · pixels]: amounts smoothed over nearby places, so that neighbours run
 * together and a strong one takes up more room than a weak one. False where there is nothing of this sign.
 */
export function fieldOf(drops: Drops, factor: number, sign: 1 | -1, pixels: number, into: Float32Array): boolean {
  const { height, width, amounts } = drops;
  const { first, stride } = drops.receptive_field;
  const wide = dropWidth(1 / stride[1]);
  const cells = new Float32Array(height * width);
  const filled = new Uint8Array(height);
  let any = false;
  for (let cell = 0; cell < cells.length; cell++) {
    const strength = sign * amounts[factor * cells.length + cell]!;
    if (!(strength > weakest)) continue;
    cells[cell] = Math.min(4, strength);
    filled[Math.floor(cell / width)] = 1;
    any = true;
  }
  if (!any) {
    into.fill(0);
    return false;
  }
  const high = dropHeight(crowdOf(cells, width, wide));
  const columns = width * pixels;
  const rows = new Float32Array(height * columns);
  const [overX, overY] = [
    spread(width, pixels, wide, first[1], stride[1]),
    spread(height, pixels, wide, first[0], stride[0]),
  ];
  for (let x = 0; x < columns; x++) {
    const { first, weights } = overX[x]!;
    for (let y = 0; y < height; y++) {
      let sum = 0;
      for (let k = 0; k < weights.length; k++) sum += weights[k]! * cells[y * width + first + k]!;
      rows[y * columns + x] = sum;
    }
  }
  into.fill(0);
  for (let y = 0; y < height * pixels; y++) {
    const { first, weights } = overY[y]!;
    const to = y * columns;
    // Whole lines at a time, and only those in which there is something: attributions are sparse.
    for (let k = 0; k < weights.length; k++) {
      if (!filled[first + k]) continue;
      const [weight, from] = [high * weights[k]!, (first + k) * columns];
      for (let x = 0; x < columns; x++) into[to + x]! += weight * rows[from + x]!;
    }
  }
  return true;
}

interface Spread {
  readonly first: number;
  readonly weights: Float32Array;
}

const spreads = new Map<string, Spread[]>();

/** For each pixel along a side, the cells that reach it and how much: a bell around each cell's middle. */
function spread(cells: number, pixels: number, wide: number, begin: number, stride: number): Spread[] {
  const key = `${cells} ${pixels} ${wide} ${begin} ${stride}`;
  const known = spreads.get(key);
  if (known) return known;
  const reach = Math.ceil(3 * wide);
  const made = Array.from({ length: cells * pixels }, (_, pixel) => {
    const at = ((pixel + 0.5) / (cells * pixels) - begin) / stride;
    const first = Math.max(0, Math.ceil(at - reach));
    const last = Math.min(cells - 1, Math.floor(at + reach));
    const weights = Float32Array.from({ length: Math.max(0, last - first + 1) }, (_, k) => {
      const away = (first + k - at) / wide;
      return Math.exp(-0.5 * away * away);
    });
    return { first, weights };
  });
  if (spreads.size > 16) spreads.clear();
  spreads.set(key, made);
  return made;
}

/** Far outside of a drop: it neither shows nor counts. */
const faint = 0.5 * edge;

/** Attribution of one sign over a picture: colour by factor, where several meet mostly that of the strongest. */
export function drawDrops(drops: Drops, sign: 1 | -1): ImageData {
  const pixels = cellPixels(drops.width);
  const [wide, high] = [drops.width * pixels, drops.height * pixels];
  const image = new ImageData(wide, high);
  const field = new Float32Array(wide * high);
  const strongest = new Uint8Array(wide * high);
  const [red, green, blue, weight, most] = Array.from({ length: 5 }, () => new Float32Array(wide * high));
  for (let factor = 0; factor < drops.colours.length; factor++) {
    if (!drops.shown(factor) || !fieldOf(drops, factor, sign, pixels, field)) continue;
    const [r, g, b] = drops.colours[factor]!;
    for (let i = 0; i < field.length; i++) {
      const here = field[i]!;
      if (here < faint) continue;
      const squared = here * here;
      const share = squared * squared * squared * squared;
      red![i]! += share * r;
      green![i]! += share * g;
      blue![i]! += share * b;
      weight![i]! += share;
      if (here > most![i]!) {
        most![i] = here;
        strongest[i] = drops.textures?.[factor] ?? 0;
      }
    }
  }
  for (let i = 0; i < field.length; i++) {
    const opacity = opacityOf(most![i]!);
    if (!opacity) continue;
    const all = weight![i]!;
    image.data[4 * i] = red![i]! / all;
    image.data[4 * i + 1] = green![i]! / all;
    image.data[4 * i + 2] = blue![i]! / all;
    image.data[4 * i + 3] = 255 * opacity * striped(strongest[i]!, (i % wide) + Math.floor(i / wide));
  }
  return image;
}

/** How much of its opacity a pixel keeps, by the slanted line that it lies on. */
export function striped(texture: number, line: number): number {
  if (!texture) return 1;
  return line % (texture === 1 ? 10 : 5) < (texture === 1 ? 4 : 2) ? 0.35 : 1;
}

/** Nothing outside, a firm rim, and a body through which the picture can be seen. */
export function opacityOf(field: number): number {
  const over = field / edge - 1;
  if (over <= -0.08) return 0;
  if (over < 0.08) return (0.95 * (over + 0.08)) / 0.16;
  if (over < 0.35) return 0.95;
  const body = Math.min(0.8, 0.52 + 0.22 * field);
  return over < 0.6 ? 0.95 + ((body - 0.95) * (over - 0.35)) / 0.25 : body;
}

/** What factors leave out, as slanted lines: it is no factor, so it has no colour. */
export function drawHatch(
  amounts: ArrayLike<number>,
  { grid, receptive_field }: { grid: readonly [number, number]; receptive_field: ReceptiveField },
  ink: Rgb,
): ImageData {
  const [height, width] = grid;
  const pixels = cellPixels(width);
  const wide = width * pixels;
  const image = new ImageData(wide, height * pixels);
  const field = new Float32Array(wide * height * pixels);
  fieldOf({ amounts, height, width, receptive_field, colours: [ink], shown: () => true }, 0, 1, pixels, field);
  for (let i = 0; i < field.length; i++) {
    if (field[i]! < edge) continue;
    const line = ((i % wide) + Math.floor(i / wide)) % 7;
    if (line < 2) image.data.set([...ink, line ? 110 : 190], 4 * i);
  }
  return image;
}

/** `#rrggbb` to numbers. */
export function rgbOf(colour: string): Rgb {
  const value = Number.parseInt(colour.replace("#", ""), 16);
  return Number.isNaN(value) ? [128, 128, 128] : [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}
