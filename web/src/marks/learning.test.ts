import { describe, expect, it } from "vitest";
import { learningScales, sharesOfRise } from "./learning";

describe("the share of a rise", () => {
  it("is 0 at the first step and 1 at the last, whichever way it goes", () => {
    expect(sharesOfRise([2, 3, 6])).toEqual([0, 0.25, 1]);
    expect(sharesOfRise([6, 3, 2])).toEqual([0, 0.75, 1]);
    expect(sharesOfRise([1, 1])).toEqual([0, 0]);
    expect(sharesOfRise([])).toEqual([]);
  });
});

describe("the axis of steps", () => {
  const rise = { step: null, low: null, high: null };
  const size = { width: 300, height: 200 };
  it("keeps a step 0 at the edge, and a factor of ten one width", () => {
    const { x } = learningScales([{ name: "a", steps: [0, 10, 100, 1000], values: [0, 1, 2, 3], rise }], size);
    expect(x(0)).toBe(x(10));
    expect(x(100) - x(10)).toBeCloseTo(x(1000) - x(100));
  });
  it("stands where there is nothing", () => {
    expect(Number.isFinite(learningScales([], size).x(5))).toBe(true);
  });
});
