import { describe, expect, test } from "vitest";
import { divergingAt, packedScale, packedSteps, roundRange, type Diverging } from "./diverging";
import { halves, valueAt } from "./half";
import { cellsOf, pixelsOf, type HeatPicture, type HeatTile } from "./heatmap";
import { labelStep } from "../time/lines";

const scale: Diverging = {
  negative: [0, 0, 200],
  zero: [250, 250, 250],
  positive: [250, 100, 0],
  unknown: [9, 9, 9],
};

describe("colours", () => {
  test("white at zero, blue below, orange above, no stronger than the range", () => {
    expect(divergingAt(scale, 0, 1)).toEqual([250, 250, 250]);
    expect(divergingAt(scale, -1, 1)).toEqual([0, 0, 200]);
    expect(divergingAt(scale, 7, 2)).toEqual([250, 100, 0]);
    expect(divergingAt(scale, 1, 2)).toEqual([250, 175, 125]);
    expect(divergingAt(scale, NaN, 1)).toEqual([9, 9, 9]);
  });

  test("the packed table says the same", () => {
    const table = packedScale(scale);
    const bytes = new Uint8Array(table.buffer);
    expect([...bytes.slice(4 * packedSteps, 4 * packedSteps + 4)]).toEqual([250, 250, 250, 255]);
    expect([...bytes.slice(0, 4)]).toEqual([0, 0, 200, 255]);
    expect([...bytes.slice(-4)]).toEqual([9, 9, 9, 255]);
  });

  test("ranges are easy to read", () => {
    expect([0, 0.3, 1, 1.2, 3, 7, 12, NaN].map(roundRange)).toEqual([1, 0.5, 1, 2, 5, 10, 20, 1]);
    expect([0.02, 0.0007, 1e-9].map(roundRange)).toEqual([0.02, 0.001, 1e-9]);
  });
});

test("halves are read as they were written", () => {
  const bits = new Uint16Array([0x0000, 0x3c00, 0xbc00, 0x3555, 0x7e00, 0x0001]);
  expect(valueAt(bits, 1)).toBe(1);
  expect(valueAt(bits, 2)).toBe(-1);
  expect(valueAt(bits, 3)).toBeCloseTo(1 / 3, 3);
  expect(valueAt(bits, 4)).toBeNaN();
  expect(halves()[1]).toBe(2 ** -24);
  expect(valueAt(new Float32Array([0.5]), 0)).toBe(0.5);
});

describe("cells of a pixel", () => {
  test("every cell is in exactly one pixel when there are more cells than pixels", () => {
    for (const [cells, pixels] of [
      [512, 345],
      [100, 33],
      [7, 7],
    ] as const) {
      const seen: number[] = [];
      for (let p = 0; p < pixels; p++) {
        const [first, last] = cellsOf((p * cells) / pixels, ((p + 1) * cells) / pixels, cells);
        for (let cell = first; cell < last; cell++) seen.push(cell);
      }
      expect(seen).toEqual(Array.from({ length: cells }, (_, i) => i));
    }
  });

  test("with more pixels than cells the one under the middle is shown", () => {
    expect(cellsOf(2.2, 2.5, 10)).toEqual([2, 3]);
    expect(cellsOf(2.9, 3.4, 10)).toEqual([3, 4]);
    expect(cellsOf(9.9, 10.4, 10)).toEqual([9, 10]);
  });

  test("pieces side by side share no pixel and leave none out", () => {
    const tile: HeatTile = { first: 0, rowsPerBin: 1, rows: 10, bins: 10, elements: 1, values: new Float32Array(10) };
    const picture = { from: 0.3, to: 9.1 } as HeatPicture;
    const [a, b] = [pixelsOf({ tile, from: 0, to: 4 }, picture, 77), pixelsOf({ tile, from: 4, to: 10 }, picture, 77)];
    expect(a[0]).toBe(0);
    expect(a[1]).toBe(b[0]);
    expect(b[1]).toBe(77);
  });
});

test("names of lines never touch", () => {
  expect(labelStep(10, 400)).toBe(1);
  expect(labelStep(128, 400)).toBe(5);
  expect(labelStep(512, 400)).toBe(20);
});
