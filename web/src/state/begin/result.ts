/** Values per row of a lens, as columns of the recording that measures rank. */
import type { ColumnData } from "../../api/data/columns";
import type { ArraySlice } from "../../api/service";
import type { Results } from "../results/results.svelte";

export interface Ranked {
  readonly columns: readonly ColumnData[];
  /** What the lens says beside them. */
  readonly told: unknown;
}

/** Columns of a result by their names, arrays of that name where it has no such column; unknown where it says nothing. */
export async function columnsOf(
  results: Results,
  id: string,
  names: readonly string[],
  count: number,
): Promise<Ranked> {
  const [whole, rows, values] = await Promise.all([
    results.whole(id),
    results.array(id, "rows"),
    results.array(id, "values"),
  ]);
  const axes = (whole.shown.columns ?? []) as { name: string }[];
  const columns = names.map(async (name): Promise<ColumnData> => {
    const at = axes.findIndex((axis) => axis.name === name);
    if (at >= 0) return spread(rows.values, values, at, axes.length, count);
    if (!whole.arrays[name]) return { type: "number", values: new Float32Array(count).fill(NaN) };
    return spread(rows.values, await results.array(id, name), 0, 1, count);
  });
  return { columns: await Promise.all(columns), told: whole.value };
}

function spread(rows: ArrayLike<number>, { values }: ArraySlice, at: number, each: number, count: number): ColumnData {
  const found = new Float32Array(count).fill(NaN);
  for (let i = 0; i < rows.length; i++) found[rows[i]!] = values[i * each + at]!;
  return { type: "number", values: found };
}
