/** Series over one axis: lines, bars and points, with axes, units and a legend. */
import { scaleLinear } from "d3-scale";
import type { Palette } from "./colour/colour";
import { dashOf, drawBlock, drawDisc, type Look } from "./colour/names";
import type { Pen, Size } from "./pen/pen";
import { extentOf } from "./time/timeline";

export interface Series {
  readonly name: string;
  readonly x: readonly (number | string)[];
  readonly y: readonly (number | null)[];
  readonly mark: "line" | "bar" | "point";
}

export interface Chart {
  /** Titles of the axes, with their units. */
  readonly x: string;
  readonly y: string;
  readonly series: readonly Series[];
}

const margins = { left: 56, right: 14, top: 26, bottom: 40 };

export function chartScales({ series }: Chart, size: Size) {
  const words = [...new Set(series.flatMap((one) => one.x.filter((x) => typeof x === "string")))];
  const numbers = series.flatMap((one) => one.x.filter((x) => typeof x === "number"));
  const [left, right] = [margins.left, size.width - margins.right];
  const bars = series.filter((one) => one.mark === "bar").length;
  const values = series.flatMap((one) => one.y.filter((y): y is number => y !== null));
  const { low, high } = extentOf(bars ? [...values, 0] : values);
  const yScale = scaleLinear([low, high], [size.height - margins.bottom, margins.top]).nice();
  if (words.length) {
    const step = (right - left) / words.length;
    const place = new Map(words.map((word, i) => [word, left + (i + 0.5) * step]));
    return { words, x: (x: number | string) => place.get(String(x)) ?? NaN, xScale: null, yScale, step, left, bars };
  }
  const extent = extentOf(numbers);
  const apart = new Set(numbers).size;
  const step = bars ? (right - left) / Math.max(1, apart) : 0;
  const xScale = scaleLinear([extent.low, extent.high], [left + step / 2, right - step / 2]);
  return { words, x: (x: number | string) => xScale(Number(x)), xScale, yScale, step, left, bars };
}

type Scales = ReturnType<typeof chartScales>;

export function drawChart(pen: Pen, size: Size, chart: Chart, palette: Palette, look: (name: string) => Look): void {
  const scales = chartScales(chart, size);
  drawAxes(pen, size, chart, scales, palette);
  let bar = 0;
  for (const one of chart.series) {
    if (one.mark === "bar") drawBars(pen, one, scales, look(one.name), palette.panel, bar++);
    else if (one.mark === "line") drawLine(pen, one, scales, look(one.name));
    else drawPoints(pen, one, scales, look(one.name), palette.panel);
  }
  drawLegend(pen, chart, palette, look);
}

function drawBars(pen: Pen, { x, y }: Series, scales: Scales, look: Look, ground: string, index: number): void {
  const width = Math.min(80, (0.8 * scales.step) / scales.bars);
  const zero = scales.yScale(0);
  y.forEach((value, i) => {
    if (value === null) return;
    const from = scales.x(x[i]!) + (index - scales.bars / 2) * width;
    const top = scales.yScale(value);
    drawBlock(
      pen,
      from,
      Math.min(top, zero),
      Math.max(1, width - 1),
      Math.max(0.5, Math.abs(zero - top)),
      look,
      ground,
    );
  });
}

function drawLine(pen: Pen, { x, y }: Series, scales: Scales, look: Look): void {
  pen.strokeStyle = look.colour;
  pen.setLineDash(dashOf(look.texture));
  pen.lineWidth = 1.8;
  pen.lineJoin = "round";
  pen.beginPath();
  let open = false;
  y.forEach((value, i) => {
    if (value === null) return void (open = false);
    if (open) pen.lineTo(scales.x(x[i]!), scales.yScale(value));
    else pen.moveTo(scales.x(x[i]!), scales.yScale(value));
    open = true;
  });
  pen.stroke();
  pen.setLineDash([]);
}

function drawPoints(pen: Pen, { x, y }: Series, scales: Scales, look: Look, ground: string): void {
  y.forEach((value, i) => {
    if (value !== null) drawDisc(pen, scales.x(x[i]!), scales.yScale(value), 3, look, ground);
  });
}

function drawAxes(pen: Pen, size: Size, chart: Chart, scales: Scales, palette: Palette): void {
  const [bottom, right] = [size.height - margins.bottom, size.width - margins.right];
  pen.font = "11px ui-monospace, Menlo, monospace";
  pen.lineWidth = 1;
  const count = Math.max(2, size.height / 70);
  const text = scales.yScale.tickFormat(count);
  for (const tick of scales.yScale.ticks(count)) {
    line(pen, tick === 0 ? palette.muted : palette.line, [
      margins.left,
      scales.yScale(tick),
      right,
      scales.yScale(tick),
    ]);
    label(pen, palette.muted, text(tick), margins.left - 6, scales.yScale(tick) + 4, "right");
  }
  if (scales.xScale) {
    const across = Math.max(2, size.width / 90);
    const words = scales.xScale.tickFormat(across);
    for (const tick of scales.xScale.ticks(across))
      label(pen, palette.muted, words(tick), scales.x(tick), bottom + 15, "center");
  } else {
    const letters = Math.max(3, Math.floor(scales.step / 7));
    const every = Math.max(1, Math.ceil(18 / Math.max(1, scales.step)));
    scales.words.forEach((word, i) => {
      const short = word.length > letters ? `${word.slice(0, letters - 1)}…` : word;
      if (i % every === 0) label(pen, palette.muted, short, scales.x(word), bottom + 15, "center");
    });
  }
  line(pen, palette.muted, [margins.left, bottom, right, bottom]);
  label(pen, palette.ink, chart.x, right, size.height - 6, "right");
  label(pen, palette.ink, chart.y, 4, 14, "left");
}

function drawLegend(pen: Pen, { series, y }: Chart, palette: Palette, look: (name: string) => Look): void {
  if (series.length < 2) return;
  let x = 24 + 7 * y.length;
  for (const { name } of series) {
    drawBlock(pen, x, 6, 9, 9, look(name), palette.panel);
    label(pen, palette.ink, name, x + 13, 14, "left");
    x += 28 + 7 * name.length;
  }
}

function line(pen: Pen, colour: string, [x1, y1, x2, y2]: readonly [number, number, number, number]): void {
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
