import { describe, expect, test } from "vitest";
import { fullAt, ofEpisode, ofStep, ranked } from "./influence";

// Two steps, two lags, three elements; what lies before the episode is not known.
const influence = {
  array: "memory",
  rows: [10, 12] as const,
  lags: [0, 1],
  steps: 2,
  elements: 3,
  values: [1, -2, 0, NaN, NaN, NaN, 0.5, 0, 0, -0.5, 4, 0],
};

describe("influence", () => {
  test("of a step keeps its signs", () => {
    const { cells, totals } = ofStep(influence, 1);
    expect([...cells]).toEqual([0.5, -0.5, 0, 4, 0, 0]);
    expect([...totals]).toEqual([1, 4, 0]);
  });

  test("of an episode is the mean strength, and unknown counts as none", () => {
    const { cells, totals } = ofEpisode(influence);
    expect([...cells]).toEqual([0.75, 0.25, 1, 2, 0, 0]);
    expect(ranked(totals)).toEqual([1, 0, 2]);
  });

  test("full colour is nearly the strongest", () => {
    expect(fullAt([0, -3, 2])).toBe(2);
    expect(fullAt([])).toBe(1);
  });
});
