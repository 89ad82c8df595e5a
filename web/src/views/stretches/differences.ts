/** How two runs differ on average, and step by step. */
import { numbersOf, type ColumnData } from "../../api/data/columns";
import type { Column } from "../../api/model";
import type { HeatTile } from "../../marks/heatmap/heatmap";

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
