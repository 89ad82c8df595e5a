/** What can be aligned by, and how averages are drawn. */
import type { Aligned, Spread } from "../../api/metrics";
import type { Column } from "../../api/model";
import { divergingAt, type Diverging } from "../../marks/heatmap/diverging";
import type { Pen, Size } from "../../marks/pen/pen";
import { valueToY, type Extent } from "../../marks/time/timeline";
import type { Bitset } from "../../state/selection/bitset";
import { isEvent, titleOf } from "../../state/format";
import type { Groups } from "../../state/recording/groups";

export const selected = "(selection)";

export interface Event {
  readonly name: string;
  readonly title: string;
}

/** Events first, then whatever says yes or no, then the selection. */
export function eventsOf(columns: readonly Column[], hasSelection: boolean): Event[] {
  const events = columns.filter(isEvent);
  const truths = columns.filter((column) => column.type === "bool" && column.kind !== "event");
  return [
    ...events.map((column) => ({ name: column.name, title: titleOf(column) })),
    ...truths.map((column) => ({ name: column.name, title: `${titleOf(column)} begins` })),
    ...(hasSelection ? [{ name: selected, title: "starts of the selected intervals" }] : []),
  ];
}

/** Where selected stretches begin; one that runs on into the next episode begins there again. */
export function startsOf(rows: Bitset, groups: Groups): number[] {
  const starts: number[] = [];
  for (const [start, stop] of rows.runs()) {
    starts.push(start);
    for (let group = groups.of(start); group && group.stop < stop; group = groups.of(group.stop))
      starts.push(group.stop);
  }
  return starts;
}

/** Columns that have a mean. */
export const measurable = (columns: readonly Column[]): Column[] =>
  columns.filter(
    ({ type, kind, categories }) => ["int", "float", "bool"].includes(type) && kind !== "index" && !categories.length,
  );

export function rankedBy(effect: readonly number[]): number[] {
  const size = (element: number): number => Math.abs(effect[element]!) || 0;
  return effect.map((_, element) => element).sort((a, b) => size(b) - size(a) || a - b);
}

/** Elements from top to bottom, offsets from left to right; minus `zero` where differences are looked at. */
export function heatImage(
  { memory, offsets, elements }: Aligned,
  {
    order,
    range,
    scale,
    zero,
  }: { order: readonly number[]; range: number; scale: Diverging; zero?: ArrayLike<number> },
): ImageData {
  const image = new ImageData(offsets.length, Math.max(1, order.length));
  order.forEach((element, line) => {
    for (let t = 0; t < offsets.length; t++) {
      const value = memory[t * elements + element]! - (zero ? zero[element]! : 0);
      image.data.set([...divergingAt(scale, value, range), 255], 4 * (line * offsets.length + t));
    }
  });
  return image;
}

export function extentOfSpread({ low, high, mean }: Spread): Extent {
  const known = [...low, ...high, ...mean].filter((value): value is number => value !== null);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  if (!known.length) return { low: 0, high: 1 };
  return least === most ? { low: least - 0.5, high: most + 0.5 } : { low: least, high: most };
}

/** The mean as a line in a band; where nothing is known it breaks off. */
export function drawSpread(pen: Pen, size: Size, spread: Spread, extent: Extent, colour: string): void {
  const count = spread.mean.length;
  const x = (i: number): number => ((i + 0.5) / count) * size.width;
  const y = (value: number): number => valueToY(value, extent, size.height);
  for (const [from, to] of knownRuns(spread.mean)) {
    pen.fillStyle = pen.strokeStyle = colour;
    pen.globalAlpha = 0.2;
    pen.beginPath();
    for (let i = from; i < to; i++) pen.lineTo(x(i), y(spread.high[i]!));
    for (let i = to - 1; i >= from; i--) pen.lineTo(x(i), y(spread.low[i]!));
    pen.fill();
    pen.globalAlpha = 1;
    pen.lineWidth = 1.5;
    pen.beginPath();
    for (let i = from; i < to; i++) pen.lineTo(x(i), y(spread.mean[i]!));
    pen.stroke();
  }
}

function knownRuns(values: readonly (number | null)[]): [number, number][] {
  const runs: [number, number][] = [];
  values.forEach((value, i) => {
    const last = runs.at(-1);
    if (value === null) return;
    if (last?.[1] === i) last[1] = i + 1;
    else runs.push([i, i + 1]);
  });
  return runs;
}
