/** Timelines as a drawing with labels, ranges and axis, and as a table. */
import { scaleLinear } from "d3-scale";
import { readPalette } from "../../marks/colour";
import type { Pen, Size } from "../../marks/pen";
import { number } from "../../state/format";
import { drawTrack, rangeOf, reading, type Track } from "./tracks";

const gutter = 126;
const ranges = 176;
const axis = 22;

export function drawingSize(tracks: readonly Track[], width: number, gap: number): Size {
  return { width: width + gutter + ranges, height: tracks.reduce((sum, track) => sum + track.height + gap, axis) };
}

export function paintTracks(pen: Pen, size: Size, tracks: readonly Track[], gap: number, many: string): void {
  const palette = readPalette();
  const width = size.width - gutter - ranges;
  pen.font = "12px system-ui, sans-serif";
  pen.textBaseline = "middle";
  let top = 0;
  tracks.forEach((track, index) => {
    const middle = top + track.height / 2;
    label(pen, palette.muted, track.title, gutter - 8, middle, "right");
    label(pen, palette.muted, rangeOf(track), gutter + width + 8, middle, "left");
    pen.save();
    pen.translate(gutter, top);
    drawTrack(pen, { width, height: track.height }, track, index, palette);
    pen.restore();
    top += track.height + gap;
  });
  const steps = tracks[0]?.values.length ?? 1;
  const x = scaleLinear([0, steps], [gutter, gutter + width]);
  for (const tick of x.ticks(width / 90)) label(pen, palette.muted, number(tick), x(tick + 0.5), top + 10, "center");
  label(pen, palette.muted, many, gutter + width + 8, top + 10, "left");
}

function label(pen: Pen, colour: string, text: string, x: number, y: number, align: CanvasTextAlign): void {
  pen.fillStyle = colour;
  pen.textAlign = align;
  pen.fillText(text, x, y);
}

export function trackTable(tracks: readonly Track[]): (string | number)[][] {
  const steps = tracks[0]?.values.length ?? 0;
  const cell = (track: Track, i: number): string | number =>
    track.form === "words" ? reading(track, i) : (track.values[i] ?? NaN);
  const title = ({ column }: Track): string => column.name + (column.unit ? ` (${column.unit})` : "");
  const lines = Array.from({ length: steps }, (_, i) => [i, ...tracks.map((track) => cell(track, i))]);
  return [["step", ...tracks.map(title)], ...lines];
}
