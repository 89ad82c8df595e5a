import { expect, test } from "vitest";
import type { ColumnData } from "../../api/data/columns";
import type { Column } from "../../api/model";
import { differenceTile, meansOf, firstDifferenceOf } from "./differences";

const numbers = (...values: number[]): ColumnData => ({ type: "number", values: Float32Array.from(values) });
const run = (actions: number[], xs: number[]) => ({
  columns: new Map([
    ["action", numbers(...actions)],
    ["x", numbers(...xs)],
    ["y", numbers(...xs.map(() => 0))],
  ]),
  shares: { kinds: 2, names: ["a", "b"], values: actions.flatMap((a) => [a, 1 - a]) },
  steps: actions.length,
});

test("runs part where they first act otherwise, and show it a step later", () => {
  const parted = firstDifferenceOf(run([0, 1, 0, 1], [0, 1, 2, 3]), run([0, 1, 1, 1], [0, 1, 2, 2]));
  expect(parted).toEqual({ decision: 2, action: 2, place: 3 });
});

test("the same run never parts; one that ends parts there", () => {
  const same = run([0, 1, 0], [0, 1, 2]);
  expect(firstDifferenceOf(same, same)).toEqual({ decision: null, action: null, place: null });
  expect(firstDifferenceOf(same, run([0, 1], [0, 1])).action).toBe(2);
});

test("means are those of the steps, and unknown values do not count", () => {
  const column = { name: "health", kind: "fact", type: "float", categories: [] as string[] } as unknown as Column;
  const [line] = meansOf(
    [column],
    { data: new Map([["health", numbers(100, 2, 4, NaN)]]), steps: [1, 4] },
    { data: new Map([["health", numbers(1, 1)]]), steps: [0, 2] },
  );
  expect([line!.a, line!.b]).toEqual([3, 1]);
});

test("a difference is B minus A where both are, else unknown", () => {
  const tile = differenceTile({ values: [1, 2, 3, 4], first: 0 }, { values: [10, 10, 10, 10], first: 1 }, 2);
  expect([tile.first, tile.rows]).toEqual([0, 3]);
  expect([...tile.values]).toEqual([NaN, NaN, 7, 6, NaN, NaN]);
});
