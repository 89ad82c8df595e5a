import { describe, expect, test } from "vitest";
import { read } from "./factorrows";
import { examplesOf, fullAt, indicesFrom, nameOf, distinguished, whyUnnamed, wordsOf, type Factor } from "./factors";

const example = (row: number, amount: number) => ({ row, y: 0, x: 0, amount });
const factor: Factor = {
  share: 0.5,
  channels: [],
  examples: { good: [example(1, 5), example(2, 1)], bad: [example(3, 3)] },
  meaning: { name: "saw? 40 %", means: "saw", score: 0.4, classes: [] },
};

describe("what factors say", () => {
  test("a name by hand comes before one from masks, and that before a number", () => {
    expect(nameOf(factor, 2, "blade")).toBe("blade");
    expect(nameOf(factor, 2, "")).toBe("saw? 40 %");
    expect(nameOf({ ...factor, known_as: "blade" }, 2, "")).toBe("blade");
    expect(nameOf({ ...factor, meaning: null }, 2, undefined)).toBe("factor 3");
    expect(nameOf({ ...factor, meaning: { name: "", means: "", score: 0.1, classes: [] } }, 0, "")).toBe("factor 1");
  });

  test("one without a name says why", () => {
    const line = { class: "saw", share: 0.9, chance: 0.2, excess: 0.7, consistency: 0.6, groups: 5, fixed: false };
    expect(whyUnnamed({ name: "", means: "", score: 0.7, classes: [line] })).toBe(
      "70 % more on saw than by chance, but in only 60 % of the episodes: a name needs 80 %",
    );
    expect(whyUnnamed({ name: "", means: "", score: 0.1, classes: [{ ...line, excess: 0.1 }] })).toContain(
      "no one kind",
    );
    expect(whyUnnamed({ name: "", means: "", score: 0, classes: [] })).toContain("no one kind");
  });

  test("the words are those of the target", () => {
    const words = (target: string, of: "attributions" | "activations" = "attributions") => wordsOf({ target, of });
    expect(words("value")).toEqual({ good: "Raises value", bad: "Lowers value", signed: true });
    expect(words("left over right")).toMatchObject({ good: "For left", bad: "For right" });
    expect(words("log jump")).toMatchObject({ good: "For jump", bad: "Against jump" });
    expect(words("action").bad).toBe("Against what it does");
    expect(words("value", "activations").signed).toBe(false);
  });

  test("examples of both signs stand in the order of their strength", () => {
    expect(examplesOf(factor, "all", 2).map(({ row, sign }) => [row, sign])).toEqual([
      [1, "good"],
      [3, "bad"],
    ]);
    expect(examplesOf(factor, "bad", 9).map(({ row }) => row)).toEqual([3]);
  });

  test("one outlier among many steps does not set the scale", () => {
    const scale = Array.from({ length: 100 }, (_, i) => [i === 50 ? 99 : 1, 7]).flat();
    expect(fullAt(scale)).toBe(1);
    expect(fullAt([])).toBe(1);
    expect(fullAt([0.5, 9])).toBe(0.5);
  });

  test("what somebody wrote into the address is read as far as it makes sense", () => {
    expect(indicesFrom("3,1,1,x,-2,9,1.5", 5)).toEqual([1, 3]);
    expect(indicesFrom(undefined, 5)).toEqual([]);
  });

  test("bytes become amounts of the row's own scale", () => {
    const slice = {
      amounts: [127, -127, 0, 0, /* next row */ 0, 64, 127, 0],
      rest: [255, 0, /* next row */ 0, 51],
      scale: [2, 10, 1, 5],
      totals: [2.5, 2, 0.1, 0, /* next row */ 0, 0.5, 1, 0],
    };
    const first = read(slice, 0, { factors: 2, cells: 2 });
    expect([...first.amounts]).toEqual([2, -2, 0, 0]);
    expect([...first.rest]).toEqual([10, 0]);
    const second = read(slice, 1, { factors: 2, cells: 2 });
    expect(second.amounts[2]).toBe(1);
    // Not sums of rounded amounts.
    expect(first.totals).toEqual([2.5, 2, 0.1, 0]);
    expect(second.totals).toEqual([0, 0.5, 1, 0]);
    expect(second.rest[1]).toBeCloseTo(1);
    expect(second.most).toBe(1);
  });

  test("that are called the same have their number behind the name", () => {
    expect(distinguished(["factor 1", "saw", "sky", "saw"])).toEqual(["factor 1", "saw 2", "sky", "saw 4"]);
  });
});
