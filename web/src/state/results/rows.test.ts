import { describe, expect, test } from "vitest";
import { rowsOf } from "./rows";

describe("the rows of a result", () => {
  const apart = rowsOf({
    arguments: {
      rows: [
        [3, 6],
        [10, 12],
      ],
    },
  });
  const one = rowsOf({ arguments: { rows: [[24, 48]] } });

  test("each has its line in the arrays, and rows between the ranges have none", () => {
    expect([2, 3, 5, 6, 9, 10, 11, 12].map((row) => apart.placeOf(row))).toEqual([null, 0, 2, null, null, 3, 4, null]);
    expect([0, 2, 3, 4].map((place) => apart.rowOf(place))).toEqual([3, 5, 10, 11]);
    expect([apart.count, one.count]).toEqual([5, 24]);
    expect([one.placeOf(24), one.placeOf(47), one.placeOf(48), one.rowOf(23)]).toEqual([0, 23, null, 47]);
  });

  test("an episode is a part of them, or none", () => {
    expect(apart.within(0, 100)).toEqual({ start: 0, stop: 5 });
    expect(apart.within(5, 11)).toEqual({ start: 2, stop: 4 });
    expect(apart.within(6, 10)).toBeNull();
    expect(one.within(0, 30)).toEqual({ start: 0, stop: 6 });
  });

  test("along time, rows that were left out are unknown and not those of their neighbours", () => {
    const spread = apart.spread({ start: 1, stop: 4 }, [1, 2, 3, 4, 5, 6]);
    expect(spread.first).toBe(4);
    expect([...(spread.values as Float32Array)]).toEqual([1, 2, 3, 4, ...new Array<number>(8).fill(NaN), 5, 6]);
    expect(one.spread({ start: 2, stop: 4 }, [7, 8])).toEqual({ first: 26, values: [7, 8] });
  });
});
