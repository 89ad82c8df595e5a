import { describe, expect, test } from "vitest";
import type { ReceptiveField } from "../../marks/receptivefield";
import { cutOf, mapOf, opacityOf } from "./patch";

const evenly = (cells: number): ReceptiveField => ({
  first: [0.5 / cells, 0.5 / cells],
  stride: [1 / cells, 1 / cells],
});

describe("examples", () => {
  test("are cut out around the middle of their cell, also over the edge", () => {
    const picture = { height: 64, width: 64 };
    expect(cutOf({ y: 8, x: 4 }, evenly(16), picture, 10)).toEqual({
      x: 13,
      y: 29,
      side: 10,
    });
    expect(cutOf({ y: 0, x: 0 }, evenly(16), picture, 20)).toEqual({
      x: -8,
      y: -8,
      side: 20,
    });
    expect(cutOf({ y: 0, x: 0 }, evenly(1), picture, 200).side).toBe(64);
  });

  test("lie within the picture where cells keep away from its edges", () => {
    const receptive_field = { first: [10 / 36, 10 / 36], stride: [8 / 36, 8 / 36] } as const;
    const picture = { height: 36, width: 36 };
    expect(cutOf({ y: 0, x: 0 }, receptive_field, picture, 20)).toEqual({ x: 0, y: 0, side: 20 });
    expect(cutOf({ y: 1, x: 2 }, receptive_field, picture, 20)).toEqual({ x: 16, y: 8, side: 20 });
  });

  test("are fainter where weaker, but never gone", () => {
    expect(opacityOf(1, 1)).toBe(1);
    expect(opacityOf(0.5, 1)).toBeCloseTo(0.707, 2);
    expect(opacityOf(0.001, 1)).toBe(0.25);
    expect(opacityOf(1, 0)).toBe(1);
  });

  test("by place are of the stronger sign, or of the one that is asked for", () => {
    // One factor, two signs, 1 × 1 cells.
    const [cells, rows] = [
      [2, 5],
      [11, 22],
    ];
    expect(mapOf(cells, rows, { factor: 0, which: "all", side: 1 })).toEqual([{ row: 22, amount: 5, sign: "bad" }]);
    expect(mapOf(cells, rows, { factor: 0, which: "good", side: 1 })).toEqual([{ row: 11, amount: 2, sign: "good" }]);
  });
});
