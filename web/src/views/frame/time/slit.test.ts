import { describe, expect, test } from "vitest";
import { fitted, lineOf, rowsFor, slitFrom, slitText, defaultSlit, type Slit } from "./slit";

const native = { width: 4, height: 3 };
/** Red is the column, green the row. */
const picture = {
  width: 4,
  data: Array.from({ length: 12 }, (_, i) => [10 * (i % 4), 10 * Math.floor(i / 4), 0, 255]).flat(),
};
const slit: Slit = { x: 1, y: 0, width: 2, height: 3, axis: "down", how: "mean" };
const reds = (line: Uint8Array): number[] => [...line].filter((_, i) => i % 3 === 0);
const greens = (line: Uint8Array): number[] => [...line].filter((_, i) => i % 3 === 1);

describe("a slit", () => {
  test("is the mean over its width, or its middle line", () => {
    expect(reds(lineOf(picture, slit))).toEqual([15, 15, 15]);
    expect(greens(lineOf(picture, slit))).toEqual([0, 10, 20]);
    expect(reds(lineOf(picture, { ...slit, how: "line" }))).toEqual([20, 20, 20]);
  });

  test("can lie across", () => {
    const across: Slit = { ...slit, x: 0, y: 1, width: 4, height: 2, axis: "across" };
    expect(reds(lineOf(picture, across))).toEqual([0, 10, 20, 30]);
    expect(greens(lineOf(picture, across))).toEqual([15, 15, 15, 15]);
  });

  test("stays inside the picture and comes back from the address", () => {
    expect(fitted({ ...slit, x: 9, y: -3, width: 9, height: 0 }, native)).toMatchObject({
      x: 3,
      y: 0,
      width: 1,
      height: 1,
    });
    expect(slitFrom(slitText(slit), native)).toEqual(slit);
    expect(slitFrom("nonsense", native)).toEqual(defaultSlit(native));
    expect(slitFrom("", native)).toEqual(defaultSlit(native));
  });

  test("reads no more rows than there are places", () => {
    expect(rowsFor(0, 500, 600)).toEqual({ start: 0, step: 1, count: 500 });
    expect(rowsFor(7, 1_000_007, 500)).toEqual({ start: 0, step: 2000, count: 501 });
    expect(rowsFor(10.5, 20.5, 100)).toEqual({ start: 10, step: 1, count: 11 });
  });
});
