import { describe, expect, test } from "vitest";
import { balanceY, bandAt, drawBalance, netOf, reachOf, type Balance } from "./balance";
import type { Pen } from "../pen/pen";

/** Two steps of two factors: good, bad of each. */
const balance: Balance = {
  values: [3, 0, 1, 2, /* next step */ 0, 4, 2, 0],
  factors: 2,
  looks: [
    { colour: "red", texture: 0 },
    { colour: "blue", texture: 0 },
  ],
  ground: "white",
  shown: () => true,
};

describe("good above, bad below", () => {
  test("stacks reach as far as the highest and the deepest step", () => {
    expect(reachOf(balance, "stacked")).toEqual({ good: 4, bad: 4 });
    expect(reachOf(balance, "lines")).toEqual({ good: 3, bad: 4 });
  });

  test("one step that sticks out does not press the others flat", () => {
    const steps = Array.from({ length: 200 }, (_, i) => [i ? 1 + (i % 7) / 10 : 90, 0]).flat();
    const { good } = reachOf({ ...balance, values: steps, factors: 1 }, "stacked");
    expect(good).toBeCloseTo(1.15 * 1.6);
    expect(reachOf({ ...balance, shown: (f) => f === 0 }, "stacked")).toEqual({ good: 3, bad: 4 });
  });

  test("the line of nothing divides the height", () => {
    const reach = { good: 3, bad: 1 };
    expect(balanceY(3, reach, 100)).toBe(0);
    expect(balanceY(0, reach, 100)).toBe(75);
    expect(balanceY(-1, reach, 100)).toBe(100);
  });

  test("what is left of good and bad, of all or of one", () => {
    expect([...netOf(balance, null)]).toEqual([2, -2]);
    expect([...netOf(balance, 1)]).toEqual([-1, 2]);
    expect([...netOf({ ...balance, values: [NaN, NaN, NaN, NaN, 0, 4, 2, 0] }, null)]).toEqual([NaN, -2]);
    expect([...netOf({ ...balance, shown: (f) => f === 0 }, null)]).toEqual([3, -4]);
  });

  test("a band is found where it is drawn", () => {
    expect(bandAt(balance, 0, 2.5)).toBe(0);
    expect(bandAt(balance, 0, 3.5)).toBe(1);
    expect(bandAt(balance, 0, -1)).toBe(1);
    expect(bandAt(balance, 0, 5)).toBeNull();
    expect(bandAt({ ...balance, shown: (f) => f === 1 }, 0, 0.5)).toBe(1);
  });

  test("what is hidden is not drawn and takes no room", () => {
    const colours: unknown[] = [];
    const pen = {
      beginPath() {},
      lineTo() {},
      fill() {
        colours.push((this as unknown as Pen).fillStyle);
      },
      fillStyle: "",
    } as unknown as Pen;
    drawBalance(pen, { width: 2, height: 8 }, { ...balance, shown: (f) => f === 1 }, { good: 4, bad: 4 });
    expect(colours).toEqual(["blue", "blue"]);
  });
});
