import { expect, test } from "vitest";
import { classShares, runsOf } from "./shares";

test("each class stands beside its chance, the ground last, rows that are left out unknown", () => {
  const values = Float32Array.from([0.5, 0.5, 0.9, 0.1, 0.7, 0.3, 0.8, 0.2]);
  const found = classShares({ classes: ["ground", "saw"] }, [4, 6], { shape: [2, 4], dtype: "float32", values });
  expect(found.classes).toEqual(["saw", "ground"]);
  expect(found.start).toBe(4);
  expect([...found.share[0]!]).toEqual([0.5, NaN, Math.fround(0.3)]);
  expect([...found.chance[1]!]).toEqual([Math.fround(0.9), NaN, Math.fround(0.8)]);
  expect(found.times[0]).toBeCloseTo(0.8 / 0.3, 5);
});

test("the rows of a sentence reach from the onset to what happened, and join where they meet", () => {
  const behind = { of: [0, 0, 1, 0], began: [3, 5, 8, 20], happened: [5, 9, 9, 21] };
  expect(runsOf(0, behind)).toEqual([
    [3, 10],
    [20, 22],
  ]);
  expect(runsOf(1, behind)).toEqual([[8, 10]]);
  expect(runsOf(2, behind)).toEqual([]);
});
