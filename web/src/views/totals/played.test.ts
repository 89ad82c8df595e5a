import { expect, test } from "vitest";
import { playedIn } from "./played";

const recorded = { first: 10, values: [1, 2, 3, 4, 5, 6, 7, 8] };

test("played rows take the place of recorded ones, and what is not known yet is blank", () => {
  const found = playedIn(recorded, 2, [
    { row: 11, totals: [30, 40] },
    { row: 12, totals: null },
  ]);
  expect([...found!.values]).toEqual([1, 2, 30, 40, NaN, NaN, 7, 8]);
  expect(found).toMatchObject({ start: 11, stop: 13, known: 1 });
});

test("what was played beyond the recorded episode has no place in it", () => {
  const found = playedIn(recorded, 2, [
    { row: 13, totals: [0, 1] },
    { row: 14, totals: [9, 9] },
  ]);
  expect([...found!.values]).toEqual([1, 2, 3, 4, 5, 6, 0, 1]);
  expect(found!.stop).toBe(14);
  expect(playedIn(recorded, 2, [{ row: 14, totals: [9, 9] }])).toBeNull();
  expect(playedIn(recorded, 2, [])).toBeNull();
});
