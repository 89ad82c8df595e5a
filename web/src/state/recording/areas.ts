/** Named places that rows lie in: words of a column, or areas of the map. */
import type { Scene } from "../../api/model";
import { contains } from "../selection/polygon";
import type { Source } from "../selection/terms";

export interface Places {
  /** Which name each row has; -1 where it has none. */
  readonly codes: ArrayLike<number>;
  readonly names: readonly string[];
  readonly source: (name: string) => Source;
}

interface At {
  readonly xs: ArrayLike<number>;
  readonly ys: ArrayLike<number>;
}

/** The first area that each row lies in. */
export function areasOf({ xs, ys }: At, polygons: NonNullable<Scene["polygons"]>): Places {
  const lines = polygons.map(({ points }) => points.flat());
  const codes = Int32Array.from({ length: xs.length }, (_, row) =>
    lines.findIndex((line) => contains(line, xs[row]!, ys[row]!)),
  );
  const names = polygons.map(({ name }) => name);
  return { codes, names, source: (name) => ({ kind: "rows", runs: runsOf(codes, names.indexOf(name)) }) };
}

function runsOf(codes: Int32Array, wanted: number): [number, number][] {
  const runs: [number, number][] = [];
  codes.forEach((code, row) => {
    if (code !== wanted) return;
    const last = runs.at(-1);
    if (last?.[1] === row) last[1]++;
    else runs.push([row, row + 1]);
  });
  return runs;
}
