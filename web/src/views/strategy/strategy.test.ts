import { describe, expect, test } from "vitest";
import { factLine, rowsOf, waysOut } from "./strategy";

describe("a strategy chart", () => {
  test("knows the rows of a state", () => {
    expect(rowsOf([0, 1, 1, 0, 1], 1)).toEqual([
      [1, 3],
      [4, 5],
    ]);
    expect(rowsOf([2, 2], 2, 100)).toEqual([[100, 102]]);
    expect(rowsOf([2, 2], 5)).toEqual([]);
  });

  test("knows where it goes from there", () => {
    const transitions = [
      { from: 0, to: 1, count: 1 },
      { from: 0, to: 2, count: 3 },
      { from: 0, to: 0, count: 90 },
      { from: 1, to: 0, count: 9 },
    ];
    expect(waysOut({ array: "", states: [], transitions }, 0)).toEqual([
      { to: 2, share: 0.75 },
      { to: 1, share: 0.25 },
    ]);
  });

  test("tells a fact with what it is compared to", () => {
    expect(factLine({ fact: "health low", share: 0.81, base: 0.12, lift: 6.7 })).toBe(
      "health low: 81 % here, 12 % at all",
    );
  });
});
