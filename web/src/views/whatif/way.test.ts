import { expect, test } from "vitest";
import { stepOf, wayOf } from "./way";

test("a drag goes right and up in the world's unit, by its grid", () => {
  expect(wayOf({ dx: -13, dy: 5 }, { grid: 1, unit_px: 6 })).toEqual([-2, -1]);
  expect(wayOf({ dx: 2, dy: -1 }, { grid: 1, unit_px: 6 })).toBeNull();
  expect(wayOf({ dx: 2, dy: -4 }, { grid: 0, unit_px: 6 })).toEqual([0.25, 0.75]);
  expect([stepOf({ grid: 1, unit_px: 6 }), stepOf({ grid: 0, unit_px: 6 })]).toEqual([1, 0.5]);
});
