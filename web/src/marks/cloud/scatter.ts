/** Points in a plane with labelled axes. */
import { scaleLinear } from "d3-scale";
import type { Palette } from "../colour/colour";
import type { Pen, Size } from "../pen/pen";
import { extentOf, type Extent } from "../time/timeline";

export interface Points {
  readonly xs: ArrayLike<number>;
  readonly ys: ArrayLike<number>;
  readonly colour: (row: number) => string;
  readonly selected: (row: number) => boolean;
}

export const margins = { left: 46, right: 10, top: 8, bottom: 34 };

export function axes(points: Pick<Points, "xs" | "ys">, size: Size) {
  const span = (e: Extent): [number, number] => [e.low, e.high];
  const x = scaleLinear(span(extentOf(points.xs)), [margins.left, size.width - margins.right]).nice();
  const y = scaleLinear(span(extentOf(points.ys)), [size.height - margins.bottom, margins.top]).nice();
  return { x, y };
}

export type Axes = ReturnType<typeof axes>;

/** Above this many points only every n-th is drawn, but all that are selected. */
const most = 60_000;

/** Of so many points every n-th is drawn, and those that are selected. */
export const everyOf = (count: number): number => Math.max(1, Math.ceil(count / most));

export function drawScatter(
  pen: Pen,
  size: Size,
  points: Points,
  scales: Axes,
  palette: Palette,
  titles: { x: string; y: string },
): void {
  drawAxes(pen, size, scales, palette, titles);
  const every = everyOf(points.xs.length);
  const dense = points.xs.length > 4000;
  for (const wanted of [false, true]) {
    for (let row = 0; row < points.xs.length; row += wanted ? 1 : every) {
      if (points.selected(row) !== wanted) continue;
      const [x, y] = [scales.x(points.xs[row]!), scales.y(points.ys[row]!)];
      if (Number.isNaN(x) || Number.isNaN(y)) continue;
      pen.fillStyle = wanted ? palette.selected : points.colour(row);
      pen.globalAlpha = wanted ? 0.95 : 0.55;
      if (dense) pen.fillRect(x - 1, y - 1, 2, 2);
      else {
        pen.beginPath();
        pen.arc(x, y, wanted ? 3.4 : 2.6, 0, 2 * Math.PI);
        pen.fill();
      }
    }
  }
  pen.globalAlpha = 1;
}

function drawAxes(pen: Pen, size: Size, { x, y }: Axes, palette: Palette, titles: { x: string; y: string }): void {
  pen.font = "11px ui-monospace, Menlo, monospace";
  pen.lineWidth = 1;
  const [across, up] = [Math.max(2, size.width / 90), Math.max(2, size.height / 50)];
  const [xText, yText] = [x.tickFormat(across), y.tickFormat(up)];
  for (const tick of x.ticks(across)) {
    line(pen, palette.line, x(tick), margins.top, x(tick), size.height - margins.bottom);
    label(pen, palette.muted, xText(tick), x(tick), size.height - margins.bottom + 13, "center");
  }
  for (const tick of y.ticks(up)) {
    line(pen, palette.line, margins.left, y(tick), size.width - margins.right, y(tick));
    label(pen, palette.muted, yText(tick), margins.left - 6, y(tick) + 4, "right");
  }
  label(pen, palette.ink, titles.x, size.width - margins.right, size.height - 4, "right");
  label(pen, palette.ink, titles.y, margins.left + 4, margins.top + 9, "left");
}

function line(pen: Pen, colour: string, x1: number, y1: number, x2: number, y2: number): void {
  pen.strokeStyle = colour;
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.lineTo(x2, y2);
  pen.stroke();
}

function label(pen: Pen, colour: string, text: string, x: number, y: number, align: CanvasTextAlign): void {
  pen.fillStyle = colour;
  pen.textAlign = align;
  pen.fillText(text, x, y);
}
