import { expect, test } from "vitest";
import { partOf, spread } from "./perrow";

const rows = [3, 4, 9, 12];

test("the part of a result between two rows is found by its rows", () => {
  expect(partOf(rows, 4, 10)).toEqual({ start: 1, stop: 3 });
  expect(partOf(rows, 0, 3)).toEqual({ start: 0, stop: 0 });
});

test("values lie at their rows, and what lies between is not known", () => {
  const part = partOf(rows, 3, 6);
  const slice = { shape: [2, 2], dtype: "float32", values: Float32Array.from([1, 10, 2, 20]) };
  const { columns, known } = spread(slice, rows, { part, start: 3, stop: 6, count: 2 });
  expect(columns.map((column) => [...column])).toEqual([
    [1, 2, NaN],
    [10, 20, NaN],
  ]);
  expect(known).toBe(2);
});
