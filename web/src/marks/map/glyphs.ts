/** Where predictions of a place lead: pins joined to the truth, and glyphs with a wedge for each domain. */
import type { Pen } from "../pen/pen";

/** One end of a glyph: a prediction seen from the true place, in pixels of the screen, y down. */
export interface Aim {
  /** Which way it lies, clockwise from the right. */
  readonly angle: number;
  /** How far off it is, in the unit of the error. */
  readonly error: number;
  /** Where a pin ends. */
  readonly x: number;
  readonly y: number;
}

/** A true place, and what each domain says of it; null where it says nothing. */
export interface Glyph {
  readonly x: number;
  readonly y: number;
  readonly aims: readonly (Aim | null)[];
  /** How many rows it stands for. */
  readonly count: number;
}

export interface Wedge {
  readonly from: number;
  readonly to: number;
  readonly radius: number;
}

/** Half of the angle of a wedge. */
const half = 0.42;

export const wedgeOf = ({ angle, error }: Aim, full: number, radius_px: number): Wedge => ({
  from: angle - half,
  to: angle + half,
  radius: radius_px * Math.max(0, Math.min(1, error / (full || 1))),
});

/** The part that two wedges of one glyph share; null where they point elsewhere. */
export function overlapOf(one: Wedge, other: Wedge): Wedge | null {
  const turn = 2 * Math.PI;
  const shift = Math.round(((one.from + one.to) / 2 - (other.from + other.to) / 2) / turn) * turn;
  const [from, to] = [Math.max(one.from, other.from + shift), Math.min(one.to, other.to + shift)];
  const radius = Math.min(one.radius, other.radius);
  return to > from && radius > 0 ? { from, to, radius } : null;
}

export interface GlyphColours {
  /** Of each domain. */
  readonly sides: readonly string[];
  readonly both: string;
  readonly truth: string;
  readonly ground: string;
  readonly ink: string;
}

export function drawWedges(pen: Pen, glyph: Glyph, full: number, radius_px: number, colours: GlyphColours): void {
  const { x, y, aims, count } = glyph;
  const wedges = aims.map((aim) => aim && wedgeOf(aim, full, radius_px));
  const fill = ({ from, to, radius }: Wedge, colour: string, edge: boolean): void => {
    pen.beginPath();
    pen.moveTo(x, y);
    pen.arc(x, y, Math.max(1.5, radius), from, to);
    pen.closePath();
    pen.fillStyle = colour;
    pen.fill();
    if (!edge) return;
    pen.strokeStyle = colours.ground;
    pen.lineWidth = 0.8;
    pen.stroke();
  };
  wedges.forEach((wedge, side) => wedge && fill(wedge, colours.sides[side]!, true));
  const [one, other] = wedges;
  const shared = one && other && overlapOf(one, other);
  if (shared) fill(shared, colours.both, false);
  drawTruth(pen, glyph, colours);
  if (count > 1) drawCount(pen, glyph, radius_px, colours);
}

export function drawPins(pen: Pen, glyph: Glyph, colours: GlyphColours): void {
  const { x, y, aims, count } = glyph;
  aims.forEach((aim, side) => {
    if (!aim) return;
    pen.strokeStyle = pen.fillStyle = colours.sides[side]!;
    pen.lineWidth = Math.min(4, 1.2 + Math.log2(count) / 2);
    pen.beginPath();
    pen.moveTo(x, y);
    pen.lineTo(aim.x, aim.y);
    pen.stroke();
    pen.beginPath();
    pen.arc(aim.x, aim.y, 3 + Math.min(4, Math.log2(count)), 0, 2 * Math.PI);
    pen.fill();
    pen.strokeStyle = colours.ground;
    pen.lineWidth = 0.8;
    pen.stroke();
  });
  drawTruth(pen, glyph, colours);
  if (count > 1) drawCount(pen, glyph, 8, colours);
}

function drawTruth(pen: Pen, { x, y, count }: Glyph, { truth, ground }: GlyphColours): void {
  pen.beginPath();
  pen.arc(x, y, count > 1 ? 3.4 : 2.6, 0, 2 * Math.PI);
  pen.fillStyle = truth;
  pen.fill();
  pen.strokeStyle = ground;
  pen.lineWidth = 1;
  pen.stroke();
}

function drawCount(pen: Pen, { x, y, count }: Glyph, away_px: number, { ink, ground }: GlyphColours): void {
  pen.font = "600 10px ui-monospace, Menlo, monospace";
  pen.textAlign = "center";
  const [left, top] = [x, y + Math.min(away_px, 14) + 5];
  pen.fillStyle = ground;
  pen.globalAlpha = 0.75;
  pen.fillRect(left - 3.5 * String(count).length - 1, top - 9, 7 * String(count).length + 2, 11);
  pen.globalAlpha = 1;
  pen.fillStyle = ink;
  pen.fillText(String(count), left, top);
}

/** Glyphs of one row each, joined where they crowd: each square of the picture gets one, with the means of its rows. */
export function gathered(glyphs: readonly Glyph[], cell_px: number): Glyph[] {
  const cells = new Map<string, Glyph[]>();
  for (const glyph of glyphs) {
    const key = `${Math.floor(glyph.x / cell_px)} ${Math.floor(glyph.y / cell_px)}`;
    const cell = cells.get(key);
    if (cell) cell.push(glyph);
    else cells.set(key, [glyph]);
  }
  return [...cells.values()].map(joined);
}

function joined(some: readonly Glyph[]): Glyph {
  if (some.length === 1) return some[0]!;
  const mean = (of: readonly number[]): number => of.reduce((sum, value) => sum + value, 0) / of.length;
  const sides = some[0]!.aims.length;
  return {
    x: mean(some.map(({ x }) => x)),
    y: mean(some.map(({ y }) => y)),
    count: some.reduce((sum, { count }) => sum + count, 0),
    aims: Array.from({ length: sides }, (_, side) => {
      const aims = some.map((glyph) => glyph.aims[side] ?? null).filter((aim) => aim !== null);
      if (!aims.length) return null;
      const [dx, dy] = [mean(aims.map(({ angle }) => Math.cos(angle))), mean(aims.map(({ angle }) => Math.sin(angle)))];
      return {
        angle: Math.atan2(dy, dx),
        error: mean(aims.map(({ error }) => error)),
        x: mean(aims.map(({ x }) => x)),
        y: mean(aims.map(({ y }) => y)),
      };
    }),
  };
}

/** Whether so many glyphs of this size would cover each other. */
export const isCrowded = (count: number, { width, height }: { width: number; height: number }): boolean =>
  count > (width * height) / 1400;
