/** What two runs have in common, where they part, and how they differ on average. */
import { numbersOf, type ColumnData } from "../../api/data/columns";
import type { Column } from "../../api/model";
import type { HeatTile } from "../../marks/heatmap/heatmap";
import type { Shares } from "../../state/recording/episode.svelte";

/** Probabilities that differ by less are the same decision. */
const nearly = 1e-4;

export interface Run {
  readonly columns: ReadonlyMap<string, ColumnData>;
  readonly shares: Shares | null;
  /** Steps of the episode. */
  readonly steps: number;
}

/** First steps at which two runs differ; null where they never do. */
export interface FirstDifference {
  readonly decision: number | null;
  readonly action: number | null;
  readonly place: number | null;
}

export function firstDifferenceOf(a: Run, b: Run): FirstDifference {
  const shorter = Math.min(a.steps, b.steps);
  const ended = a.steps === b.steps ? null : shorter;
  const first = (differs: (step: number) => boolean): number | null => {
    for (let step = 0; step < shorter; step++) if (differs(step)) return step;
    return null;
  };
  const column = (name: string): ((step: number) => boolean) | null => {
    const [one, other] = [a.columns.get(name), b.columns.get(name)];
    if (!one || !other || one.type === "objects" || other.type === "objects") return null;
    const [x, y] = [numbersOf(one), numbersOf(other)];
    return (step) => Math.abs(x[step]! - y[step]!) > 1e-6;
  };
  const action = column("action");
  const [x, y] = [column("x"), column("y")];
  return {
    decision: sameKinds(a.shares, b.shares) ? first((step) => decidesOtherwise(a.shares!, b.shares!, step)) : null,
    action: (action && first(action)) ?? ended,
    place: x && y ? first((step) => x(step) || y(step)) : null,
  };
}

const sameKinds = (a: Shares | null, b: Shares | null): boolean => a !== null && b !== null && a.kinds === b.kinds;

function decidesOtherwise(a: Shares, b: Shares, step: number): boolean {
  for (let k = 0; k < a.kinds; k++)
    if (Math.abs(a.values[step * a.kinds + k]! - b.values[step * b.kinds + k]!) > nearly) return true;
  return false;
}

export interface MeanLine {
  readonly column: Column;
  readonly a: number;
  readonly b: number;
}

/** The mean of each column that both have, over their own steps. */
export function meansOf(
  columns: readonly Column[],
  a: { data: ReadonlyMap<string, ColumnData>; steps: readonly [number, number] },
  b: { data: ReadonlyMap<string, ColumnData>; steps: readonly [number, number] },
): MeanLine[] {
  const drawn = columns.filter(
    (column) =>
      column.kind !== "index" && column.type !== "objects" && column.type !== "text" && !column.categories.length,
  );
  return drawn.flatMap((column) => {
    const [one, other] = [a.data.get(column.name), b.data.get(column.name)];
    if (!one || !other) return [];
    return [{ column, a: mean(numbersOf(one), a.steps), b: mean(numbersOf(other), b.steps) }];
  });
}

function mean(values: ArrayLike<number>, [from, to]: readonly [number, number]): number {
  let sum = 0;
  let count = 0;
  for (let i = from; i < Math.min(to, values.length); i++) {
    if (Number.isNaN(values[i]!)) continue;
    sum += values[i]!;
    count++;
  }
  return count ? sum / count : NaN;
}

/** B minus A, step by step, [steps, elements]; where only one of them is, it is unknown. */
export function differenceTile(
  a: { values: ArrayLike<number>; first: number },
  b: { values: ArrayLike<number>; first: number },
  elements: number,
): HeatTile {
  const [lastA, lastB] = [a, b].map(({ values, first }) => first + values.length / elements) as [number, number];
  const first = Math.min(a.first, b.first);
  const rows = Math.max(lastA, lastB) - first;
  const out = new Float32Array(rows * elements).fill(NaN);
  for (let step = Math.max(a.first, b.first); step < Math.min(lastA, lastB); step++)
    for (let e = 0; e < elements; e++)
      out[(step - first) * elements + e] =
        b.values[(step - b.first) * elements + e]! - a.values[(step - a.first) * elements + e]!;
  return { first, rowsPerBin: 1, rows, bins: rows, elements, values: out };
}
