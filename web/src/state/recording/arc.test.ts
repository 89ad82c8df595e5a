import { expect, test } from "vitest";
import { rowsOf, type Cells } from "../selection/terms";
import { arcSource } from "./arc";

const cells = (values: Float64Array): Cells => ({ rows: values.length, numbers: () => values }) as unknown as Cells;
const rowsIn = (values: number[], deg: number, from: number, to: number): number[] => {
  const all = Float64Array.from(values);
  const directions = { column: "angle", deg, low: Math.min(...values), high: Math.max(...values) };
  return rowsOf(arcSource(directions, from, to), cells(all)).runs().flatMap(([a, b]) => Array.from({ length: b - a }, (_, i) => a + i)); // prettier-ignore
};

test("an arc across the seam holds what is on both sides of it", () => {
  expect(rowsIn([350, 5, 20, 180], 1, 340, 10)).toEqual([0, 1]);
});
test("angles in radians, below zero and beyond a turn are found where they point", () => {
  const angles = [-Math.PI / 2, (3 * Math.PI) / 2, (7 * Math.PI) / 2, 0.1];
  expect(rowsIn(angles, 180 / Math.PI, 260, 280)).toEqual([0, 1, 2]);
  expect(rowsIn(angles, 180 / Math.PI, -10, 10)).toEqual([3]);
});
test("a whole turn holds everything", () => {
  expect(rowsIn([0, 90, 359], 1, 20, 20)).toEqual([0, 1, 2]);
});
