/** Timelines as a drawing with labels, ranges and axis, and as a table. */
import { readPalette } from "../../marks/colour/colour";
import type { Pen, Size } from "../../marks/pen/pen";
import { ticksOf, type Seen } from "../frame/time/axis";
import { drawPart, rangeOf, reading, type Track } from "./tracks";

const gutter = 126;
const ranges = 176;
const axis = 22;

export function drawingSize(tracks: readonly Track[], width: number, gap: number): Size {
  return { width: width + gutter + ranges, height: tracks.reduce((sum, track) => sum + track.height + gap, axis) };
}

/** What is saved: the lines as they are on screen, over the rows that are shown. */
export interface Drawn {
  readonly tracks: readonly Track[];
  readonly gap: number;
  readonly many: string;
  /** The row of the first value. */
  readonly first: number;
  readonly seen: Seen;
}

export function paintTracks(pen: Pen, size: Size, { tracks, gap, many, first, seen }: Drawn): void {
  const palette = readPalette();
  const width = size.width - gutter - ranges;
  pen.font = "12px system-ui, sans-serif";
  pen.textBaseline = "middle";
  let top = 0;
  tracks.forEach((track) => {
    const middle = top + track.height / 2;
    label(pen, palette.muted, track.title, gutter - 8, middle, "right");
    label(pen, palette.muted, rangeOf(track), gutter + width + 8, middle, "left");
    pen.save();
    pen.translate(gutter, top);
    drawPart(pen, { width, height: track.height }, { track, first }, seen);
    pen.restore();
    top += track.height + gap;
  });
  for (const { text, x } of ticksOf(seen, width)) label(pen, palette.muted, text, gutter + x, top + 10, "center");
  label(pen, palette.muted, many, gutter + width + 8, top + 10, "left");
}

function label(pen: Pen, colour: string, text: string, x: number, y: number, align: CanvasTextAlign): void {
  pen.fillStyle = colour;
  pen.textAlign = align;
  pen.fillText(text, x, y);
}

export function trackTable(tracks: readonly Track[], first: number, seen: Drawn["seen"]): (string | number)[][] {
  const [from, to] = [Math.floor(seen.from), Math.ceil(seen.to)];
  const cell = (track: Track, i: number): string | number =>
    track.form === "words" ? reading(track, i) : (track.values[i] ?? NaN);
  const title = ({ column }: Track): string => column.name + (column.unit ? ` (${column.unit})` : "");
  const line = (row: number): (string | number)[] => [
    row - seen.start,
    ...tracks.map((track) => cell(track, row - first)),
  ];
  return [
    [seen.scope === "recording" ? "row" : "step", ...tracks.map(title)],
    ...Array.from({ length: to - from }, (_, i) => line(from + i)),
  ];
}
