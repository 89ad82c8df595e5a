import { describe, expect, test } from "vitest";
import type { Drops } from "../../marks/drops";
import { factorAt, sizeOf, sumsOf } from "./place";

/** Two factors on 8 × 8 cells: the first good at the upper left, the second bad at the lower right. */
const amounts = new Float32Array(128);
amounts[8 + 1] = 1;
amounts[64 + 6 * 8 + 6] = -1;
const drops: Drops = {
  amounts,
  receptive_field: { first: [1 / 16, 1 / 16], stride: [1 / 8, 1 / 8] },
  height: 8,
  width: 8,
  colours: [
    [1, 1, 1],
    [2, 2, 2],
  ],
  shown: () => true,
};

describe("where attribution is", () => {
  test("a place in the picture has the factor that is drawn there", () => {
    expect(factorAt(drops, 1, 1.5 / 8, 1.5 / 8)).toBe(0);
    expect(factorAt(drops, -1, 1.5 / 8, 1.5 / 8)).toBeNull();
    expect(factorAt(drops, -1, 6.5 / 8, 6.5 / 8)).toBe(1);
    expect(factorAt({ ...drops, shown: (f) => f === 1 }, 1, 1.5 / 8, 1.5 / 8)).toBeNull();
    expect(factorAt(drops, -1, 1, 1)).toBe(null);
  });

  test("sums are of what is shown", () => {
    expect(sumsOf([1, 2, 3, 0], () => true)).toEqual({ good: 4, bad: 2 });
    expect(sumsOf([1, 2, 3, 0], (f) => f === 1)).toEqual({ good: 3, bad: 0 });
  });

  test("pixels stay alike, photographs fill the room", () => {
    const native = { width: 64, height: 64 };
    expect(sizeOf(native, { width: 330, height: 400 }, true)).toEqual({ width: 320, height: 320 });
    expect(sizeOf(native, { width: 330, height: 400 }, false)).toEqual({ width: 330, height: 330 });
    expect(sizeOf({ width: 1000, height: 500 }, { width: 300, height: 300 }, true)).toEqual({
      width: 300,
      height: 150,
    });
  });
});
