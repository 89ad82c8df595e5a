/** A number with its interval on a scale that classes share. */
import type { Palette } from "../../marks/colour/colour";
import type { Pen, Size } from "../../marks/pen/pen";
import { number } from "../../state/format";

export interface Figure {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

export interface Ignored {
  readonly name: string;
  readonly rows: number;
  readonly attention: Figure | null;
  readonly change: Figure | null;
  readonly control: number | null;
  readonly verdict: string;
}

export interface Range {
  readonly low: number;
  readonly high: number;
}

/** What holds every interval, and what stands for nothing. */
export function rangeOf(figures: readonly (Figure | null)[], nothing: number): Range {
  const known = figures.filter((figure) => figure !== null);
  const low = Math.min(nothing, 0, ...known.map((figure) => figure.low));
  const high = Math.max(nothing, ...known.map((figure) => figure.high));
  return { low, high: high > low ? high : low + 1 };
}

export const wordsOf = (figure: Figure | null): string =>
  figure ? `${number(figure.value)} (${number(figure.low)} to ${number(figure.high)})` : "–";

export function drawIntervals(
  pen: Pen,
  { width, height }: Size,
  figure: Figure | null,
  { range, nothing, colour }: { readonly range: Range; readonly nothing: number; readonly colour: string },
  palette: Palette,
): void {
  const x = (value: number): number => 4 + ((value - range.low) / (range.high - range.low)) * (width - 8);
  pen.fillStyle = palette.soft;
  pen.fillRect(0, height / 2 - 5, width, 10);
  pen.fillStyle = palette.muted;
  pen.fillRect(x(nothing) - 0.5, 0, 1, height);
  if (!figure) return;
  pen.fillStyle = colour;
  pen.fillRect(x(figure.low), height / 2 - 1, Math.max(1, x(figure.high) - x(figure.low)), 2);
  pen.beginPath();
  pen.arc(x(figure.value), height / 2, 3.5, 0, 2 * Math.PI);
  pen.fill();
}
