/** Signals of a training and its score, each as a share of its own rise, over training steps on a logarithmic axis. */
import { scaleLinear, scaleLog } from "d3-scale";
import type { Palette } from "./colour/colour";
import { dashOf, drawBlock, type Look } from "./colour/names";
import type { Pen, Size } from "./pen/pen";

export interface Rise {
  readonly step: number | null;
  readonly low: number | null;
  readonly high: number | null;
}

export interface LearningLine {
  readonly name: string;
  readonly steps: readonly number[];
  readonly values: readonly number[];
  readonly rise: Rise;
}

const margins = { left: 46, right: 12, top: 24, bottom: 34 };

/** 0 where it began, 1 where it ended; 0 throughout where it did not change. */
export function sharesOfRise(values: readonly number[]): number[] {
  const [first = 0, last = 0] = [values[0], values.at(-1)];
  return values.map((value) => (last === first ? 0 : (value - first) / (last - first) + 0));
}

/** Steps before the first that counts stand at its place: a logarithm has no 0. */
export function learningScales(lines: readonly LearningLine[], size: Size) {
  const steps = lines.flatMap((line) => line.steps).filter((step) => step > 0);
  const [first, last] = steps.length ? [Math.min(...steps), Math.max(...steps)] : [1, 10];
  const across = scaleLog([first, Math.max(last, first * 2)], [margins.left, size.width - margins.right]);
  const shares = lines.flatMap((line) => sharesOfRise(line.values));
  const low = Math.max(-0.5, Math.min(0, ...shares));
  const high = Math.min(1.5, Math.max(1, ...shares));
  const y = scaleLinear([low, high], [size.height - margins.bottom, margins.top]).clamp(true);
  return { x: (step: number) => across(Math.max(step, first)), across, y };
}

export function drawLearning(
  pen: Pen,
  size: Size,
  lines: readonly LearningLine[],
  share: number,
  palette: Palette,
  look: (place: number) => Look,
): void {
  const { x, across, y } = learningScales(lines, size);
  const [bottom, right] = [size.height - margins.bottom, size.width - margins.right];
  const text = (words: string, at: number, down: number, align: CanvasTextAlign, colour = palette.muted): void => {
    pen.fillStyle = colour;
    pen.textAlign = align;
    pen.fillText(words, at, down);
  };
  const rule = (colour: string, x1: number, y1: number, x2: number, y2: number, width = 1): void => {
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.beginPath();
    pen.moveTo(x1, y1);
    pen.lineTo(x2, y2);
    pen.stroke();
  };
  pen.font = "11px ui-monospace, Menlo, monospace";
  for (const tick of [0, 0.5, 1]) {
    rule(palette.line, margins.left, y(tick), right, y(tick));
    text(`${100 * tick} %`, margins.left - 6, y(tick) + 4, "right");
  }
  const [first, last] = across.domain() as [number, number];
  for (let tick = 10 ** Math.ceil(Math.log10(first)); tick <= last; tick *= 10)
    text(wordsOf(tick), x(tick), bottom + 15, "center");
  rule(palette.muted, margins.left, bottom, right, bottom);
  pen.setLineDash([3, 3]);
  rule(palette.muted, margins.left, y(share), right, y(share));
  pen.setLineDash([]);
  text(`${Math.round(100 * share)} % of the rise`, right, y(share) - 4, "right");
  text("training steps", right, size.height - 5, "right", palette.ink);
  let at = margins.left;
  lines.forEach((line, place) => {
    const { colour, texture } = look(place);
    pen.setLineDash(dashOf(texture));
    pen.lineWidth = line.name === "score" ? 2.6 : 1.7;
    pen.strokeStyle = colour;
    pen.beginPath();
    sharesOfRise(line.values).forEach((value, i) => {
      if (i) pen.lineTo(x(line.steps[i]!), y(value));
      else pen.moveTo(x(line.steps[i]!), y(value));
    });
    pen.stroke();
    pen.setLineDash([]);
    const { step, low, high } = line.rise;
    if (step !== null) {
      const down = y(share) + 5 + 4 * place;
      if (low !== null && high !== null) rule(colour, x(low), down, x(high), down, 2);
      rule(colour, x(step), y(share) - 5, x(step), down + 2, 2);
    }
    drawBlock(pen, at, 5, 9, 9, look(place), palette.panel);
    text(line.name, at + 13, 13, "left", palette.ink);
    at += 30 + 7 * line.name.length;
  });
}

const wordsOf = (step: number): string =>
  step >= 1e6 ? `${step / 1e6} M` : step >= 1e3 ? `${step / 1e3} k` : String(step);
