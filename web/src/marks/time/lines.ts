/** The edge of a heat map: names of its lines, a bar each for their score, and marks on those that are chosen. */
import type { Palette } from "../colour/colour";
import type { Pen, Size } from "../pen/pen";

export interface Edge {
  /** Elements from top to bottom. */
  readonly order: ArrayLike<number>;
  readonly top: number;
  readonly bottom: number;
  readonly label: (element: number) => string;
  /** One number per element; an infinite one has a full bar. */
  readonly scores: ArrayLike<number> | null;
  readonly chosen: ReadonlySet<number>;
  /** The place that is pointed at. */
  readonly pointed: number | null;
}

const bars = 34;
const mark = 4;
const least = 12;

/** Every so many lines get a name, so that names do not touch. */
export function labelStep(lines: number, height: number): number {
  const every = (least * lines) / Math.max(1, height);
  if (every <= 1) return 1;
  return [2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000].find((n) => n >= every) ?? Math.ceil(every);
}

export function drawEdge(pen: Pen, size: Size, edge: Edge, palette: Palette): void {
  const { order, top, bottom } = edge;
  const y = (line: number): number => ((line - top) / (bottom - top)) * size.height;
  const right = size.width - mark - 2;
  if (edge.scores) drawBars(pen, { ...size, width: right }, edge, palette);
  drawMarks(pen, size, edge, palette);
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  const room = right - (edge.scores ? bars + 5 : 2);
  const taken: number[] = [];
  const name = (line: number, colour: string, font: string): void => {
    const at = Math.max(6, Math.min(size.height - 6, y(line + 0.5)));
    if (taken.some((other) => Math.abs(other - at) < least - 1)) return;
    taken.push(at);
    pen.font = font;
    pen.fillStyle = colour;
    pen.fillText(edge.label(order[line]!), room, at);
  };
  const first = Math.max(0, Math.ceil(top - 0.5));
  const last = Math.min(order.length, Math.floor(bottom + 0.5));
  if (edge.pointed !== null && edge.pointed >= first && edge.pointed < last) name(edge.pointed, palette.ink, bold);
  if (edge.chosen.size)
    for (let line = first; line < last; line++) if (edge.chosen.has(order[line]!)) name(line, palette.accent, bold);
  const step = labelStep(bottom - top, size.height);
  for (let line = Math.ceil(first / step) * step; line < last; line += step) name(line, palette.muted, plain);
}

const plain = "11px ui-monospace, Menlo, monospace";
const bold = "600 11px ui-monospace, Menlo, monospace";

function drawBars(pen: Pen, size: Size, { order, top, bottom, scores }: Edge, palette: Palette): void {
  let largest = 0;
  for (let e = 0; e < scores!.length; e++) {
    const size = Math.abs(scores![e]!);
    if (size > largest && size < Infinity) largest = size;
  }
  const height = size.height / (bottom - top);
  const each = Math.max(1, height - (height > 5 ? 1 : 0));
  for (let line = Math.max(0, Math.floor(top)); line < Math.min(order.length, Math.ceil(bottom)); line++) {
    const score = scores![order[line]!]!;
    const width = Math.min(bars, (Math.abs(score) / largest) * bars);
    if (!(width > 0)) continue;
    pen.fillStyle = score < 0 ? palette.negative : palette.muted;
    pen.globalAlpha = 0.55;
    pen.fillRect(size.width - width, (line - top) * height, width, each);
  }
  pen.globalAlpha = 1;
}

function drawMarks(pen: Pen, size: Size, { order, top, bottom, chosen }: Edge, palette: Palette): void {
  if (!chosen.size) return;
  const height = size.height / (bottom - top);
  pen.fillStyle = palette.accent;
  for (let line = Math.max(0, Math.floor(top)); line < Math.min(order.length, Math.ceil(bottom)); line++)
    if (chosen.has(order[line]!))
      pen.fillRect(size.width - mark, (line - top) * height, mark, Math.max(1.5, height - (height > 5 ? 1 : 0)));
}
