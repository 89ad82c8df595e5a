/** Two axes beside each other, a line for each thing that has a value on both, and how values lie along an axis. */
import { scaleSqrt } from "d3-scale";
import type { Palette } from "./colour/colour";
import type { Pen, Size } from "./pen/pen";

export interface Axis {
  readonly title: string;
  readonly colour: string;
}

export interface ParallelLine {
  readonly name: string;
  /** One for each axis; NaN where it has none. */
  readonly values: readonly number[];
  readonly colour: string;
  readonly width: number;
  /** Everything that the value is the middle of, drawn beside the axes. */
  readonly spread: readonly ArrayLike<number>[];
}

const margin = { top: 26, bottom: 12, side: 58, names: 128 };
const bins = 28;

export function parallelScales(lines: readonly ParallelLine[], most: number, { width, height }: Size, axes: number) {
  const [left, right] = [margin.side, Math.max(margin.side + 40, width - margin.names)];
  const x = (axis: number): number => (axes < 2 ? left : left + ((right - left) * axis) / (axes - 1));
  const known = lines.flatMap(({ values }) => values.filter(Number.isFinite));
  const y = scaleSqrt([0, Math.max(most, ...known, 1e-9)], [height - margin.bottom, margin.top]).clamp(true);
  return { x, y };
}
type Scales = ReturnType<typeof parallelScales>;

export function drawParallel(
  pen: Pen,
  axes: readonly Axis[],
  lines: readonly ParallelLine[],
  scales: Scales,
  unit: string,
  palette: Palette,
): void {
  axes.forEach((axis, place) => drawAxis(pen, axis, place, scales, unit, palette));
  for (const one of lines)
    one.spread.forEach((values, axis) => drawSpread(pen, values, axis, axes[axis]!.colour, scales));
  for (const one of lines) drawLine(pen, one, scales, palette);
  drawNames(pen, lines, axes.length, scales, palette);
}

function drawAxis(pen: Pen, axis: Axis, place: number, { x, y }: Scales, unit: string, palette: Palette): void {
  const at = x(place);
  const [bottom, top] = y.range() as [number, number];
  pen.strokeStyle = axis.colour;
  pen.lineWidth = 2;
  pen.beginPath();
  pen.moveTo(at, bottom);
  pen.lineTo(at, top);
  pen.stroke();
  pen.fillStyle = axis.colour;
  pen.font = "600 12px sans-serif";
  pen.textAlign = "center";
  pen.fillText(axis.title, at, top - 12);
  if (place) return;
  pen.font = "11px ui-monospace, Menlo, monospace";
  pen.textAlign = "right";
  pen.fillStyle = palette.muted;
  const ticks = y.ticks(4);
  const words = y.tickFormat(4);
  for (const tick of ticks) pen.fillText(`${words(tick)} ${unit}`, at - 22, y(tick) + 4);
}

/** How many values lie at each height, to the left of the first axis and to the right of the others. */
function drawSpread(pen: Pen, values: ArrayLike<number>, axis: number, colour: string, { x, y }: Scales): void {
  const [bottom, top] = y.range() as [number, number];
  const counts = new Uint32Array(bins);
  for (let row = 0; row < values.length; row++) {
    const value = values[row]!;
    if (!Number.isFinite(value)) continue;
    counts[Math.min(bins - 1, Math.floor(((bottom - y(value)) / (bottom - top)) * bins))]!++;
  }
  const most = counts.reduce((a, b) => Math.max(a, b), 1);
  pen.fillStyle = colour;
  pen.globalAlpha = 0.35;
  const step = (bottom - top) / bins;
  counts.forEach((count, bin) => {
    const long = (18 * count) / most;
    if (count) pen.fillRect(axis ? x(axis) : x(axis) - long, bottom - (bin + 1) * step, long, step);
  });
  pen.globalAlpha = 1;
}

function drawLine(pen: Pen, { values, colour, width }: ParallelLine, { x, y }: Scales, palette: Palette): void {
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.beginPath();
  values.forEach((value, axis) => {
    if (!Number.isFinite(value)) return;
    if (axis && Number.isFinite(values[axis - 1])) pen.lineTo(x(axis), y(value));
    else pen.moveTo(x(axis), y(value));
  });
  pen.stroke();
  values.forEach((value, axis) => {
    if (!Number.isFinite(value)) return;
    pen.beginPath();
    pen.arc(x(axis), y(value), 2 + width, 0, 2 * Math.PI);
    pen.fillStyle = colour;
    pen.fill();
    pen.strokeStyle = palette.panel;
    pen.lineWidth = 1;
    pen.stroke();
  });
}

/** Beside the last axis, one under the other where they would cover each other; of too many those that are chosen. */
function drawNames(pen: Pen, lines: readonly ParallelLine[], axes: number, { x, y }: Scales, palette: Palette): void {
  pen.font = "12px sans-serif";
  pen.textAlign = "left";
  const last = (line: ParallelLine): number => line.values.findLast(Number.isFinite) ?? NaN;
  const [bottom, top] = y.range() as [number, number];
  const known = lines.filter((line) => Number.isFinite(last(line)));
  const fit = known.length * 14 <= bottom - top;
  const shown = known
    .filter((line) => fit || line.width > 2)
    .map((line) => ({ line, at: y(last(line)) }))
    .toSorted((one, other) => one.at - other.at);
  let free = -Infinity;
  const places = shown.map(({ at }) => (free = Math.max(at, free + 14)));
  const beyond = Math.max(0, (places.at(-1) ?? 0) - bottom);
  shown.forEach(({ line }, i) => {
    pen.fillStyle = line.width > 2 ? palette.ink : palette.muted;
    const short = line.name.length > 14 ? `${line.name.slice(0, 13)}…` : line.name;
    pen.fillText(short, x(axes - 1) + 24, places[i]! - beyond + 4);
  });
}

/** The line nearest a point of the screen; null where none is near. */
export function nearestLine(
  lines: readonly ParallelLine[],
  { x, y }: Scales,
  at: { x: number; y: number },
  near_px = 14,
): number | null {
  let [best, found] = [near_px, -1];
  lines.forEach(({ values }, line) => {
    for (let axis = 0; axis + 1 < values.length; axis++) {
      const share = Math.max(-0.05, Math.min(1.4, (at.x - x(axis)) / (x(axis + 1) - x(axis))));
      const [from, to] = [y(values[axis]!), y(values[axis + 1]!)];
      const away = Math.abs(from + (to - from) * Math.max(0, Math.min(1, share)) - at.y);
      if (away < best) [best, found] = [away, line];
    }
  });
  return found < 0 ? null : found;
}
