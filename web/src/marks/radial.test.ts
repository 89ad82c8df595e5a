import { expect, test } from "vitest";
import { circleIn, directionAt, directionCounts } from "./radial";

test("headings are counted in their sectors, in whatever turn they lie", () => {
  expect([...directionCounts([0, 89, 90, -1, 361, NaN], 4, null)]).toEqual([3, 1, 0, 1]);
  expect([...directionCounts([0, 89, 90], 4, (row) => row > 0)]).toEqual([1, 1, 0, 0]);
});
test("up on the screen is 90 degrees", () => {
  const circle = circleIn({ width: 100, height: 100 });
  expect(directionAt(circle, 50, 10)).toBeCloseTo(90);
  expect(directionAt(circle, 10, 50)).toBeCloseTo(180);
  expect(directionAt(circle, 50, 90)).toBeCloseTo(270);
});
