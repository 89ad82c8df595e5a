/** How names look, by their place among the names of their kind: a colour, and a texture where names share one. */
import { colourCount, type Palette } from "./colour";
import type { Pen } from "../pen/pen";

/** Plain, wide stripes, narrow stripes. */
export type Texture = 0 | 1 | 2;
const textureCount = 3;

export interface Look {
  readonly colour: string;
  readonly texture: Texture;
}

/** Kinds that stand beside each other begin with different colours, so that fewer of their names look alike. */
const begins: Readonly<Record<string, number>> = { object: 4, fact: 1, domain: 6 };

export const lookAt = (kind: string, place: number, palette: Palette): Look => ({
  colour: palette.names[(place + (begins[kind] ?? 0)) % colourCount]!,
  texture: (Math.floor(place / colourCount) % textureCount) as Texture,
});

/** Pixels from one stripe to the next. */
const periods: Readonly<Record<Texture, number>> = { 0: 0, 1: 6, 2: 3 };

/** A look as the background of an element. */
export function fillOf({ colour, texture }: Look, ground: string): string {
  if (!texture) return colour;
  const period = periods[texture];
  const wide = period - (texture === 1 ? 2 : 1);
  return `repeating-linear-gradient(90deg, ${colour} 0 ${wide}px, ${ground} ${wide}px ${period}px)`;
}

/** A rectangle that stands for a name. */
export function drawBlock(
  pen: Pen,
  x: number,
  y: number,
  width: number,
  height: number,
  { colour, texture }: Look,
  ground: string,
): void {
  pen.fillStyle = colour;
  pen.fillRect(x, y, width, height);
  pen.save();
  pen.translate(x, y);
  drawTexture(pen, width, { texture, ground }, () => [0, height]);
  pen.restore();
}

/** A texture of a line, which is too thin for stripes. */
export const dashOf = (texture: Texture): number[] => [[], [6, 3], [2, 3]][texture]!;

/** The parts across a disc that a texture leaves out, as shares of its diameter. */
export const gapsOf = (texture: Texture): readonly (readonly [from: number, to: number])[] =>
  Array.from({ length: texture }, (_, gap) => [(2 * gap + 1) / (2 * texture + 1), (2 * gap + 2) / (2 * texture + 1)]);

/** A disc, with stripes in the colour of the ground where it has a texture. */
export function drawDisc(pen: Pen, x: number, y: number, radius: number, look: Look, ground: string): void {
  pen.fillStyle = look.colour;
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.fill();
  pen.fillStyle = ground;
  for (const [from, to] of gapsOf(look.texture)) {
    const edge = Math.max(Math.abs(2 * from - 1), Math.abs(2 * to - 1));
    const high = radius * Math.sqrt(1 - edge * edge);
    pen.fillRect(x + radius * (2 * from - 1), y - high, 2 * radius * (to - from), 2 * high);
  }
}

/** Stripes in the colour of the ground over what was drawn, from top to bottom at each place across. */
export function drawTexture(
  pen: Pen,
  width: number,
  { texture, ground }: { texture: Texture; ground: string },
  band: (x: number) => readonly [top: number, bottom: number],
): void {
  if (!texture) return;
  pen.fillStyle = ground;
  const wide = texture === 1 ? 2 : 1;
  for (let x = periods[texture] - wide; x < width; x += periods[texture]) {
    const [top, bottom] = band(x);
    if (bottom > top) pen.fillRect(x, top, wide, bottom - top);
  }
}
