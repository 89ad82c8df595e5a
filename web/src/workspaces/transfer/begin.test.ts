import { expect, test } from "vitest";
import { byPlace } from "./begin";

test("places with the largest median come first, each with its largest rows", () => {
  const values = [9, 1, 1, 1, 4, 5, 6, 7, NaN];
  const place = (row: number): string => (row < 4 ? "hall" : "lab");
  const found = byPlace(values, place, (row) => row !== 7, "pairs");
  expect(found.map(({ row }) => row)).toEqual([6, 5, 4, 0, 1, 2]);
  expect(found[0]!.under).toBe("lab: median 5, 3 pairs");
  expect(found[3]!.under).toBe("hall: median 1, 4 pairs");
});
