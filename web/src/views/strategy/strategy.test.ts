import { describe, expect, test } from "vitest";
import { ResultRows } from "../../state/results/rows";
import { factLine, runsOf, waysOut } from "./strategy";

describe("a strategy chart", () => {
  test("knows the rows of a state", () => {
    expect(runsOf([0, 1, 1, 0, 1], 1, new ResultRows([[0, 5]]))).toEqual([
      [1, 3],
      [4, 5],
    ]);
    expect(runsOf([2, 2], 2, new ResultRows([[100, 102]]))).toEqual([[100, 102]]);
    expect(runsOf([2, 2], 5, new ResultRows([[0, 2]]))).toEqual([]);
    const apart = new ResultRows([
      [3, 5],
      [9, 11],
    ]);
    expect(runsOf([0, 2, 2, 2], 2, apart)).toEqual([
      [4, 5],
      [9, 11],
    ]);
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
