import { expect, test } from "vitest";
import type { ColumnData } from "../../api/data/columns";
import type { Column } from "../../api/model";
import { differenceTile, meansOf } from "./differences";

const numbers = (...values: number[]): ColumnData => ({ type: "number", values: Float32Array.from(values) });

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
