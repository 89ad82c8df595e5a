import { expect, test } from "vitest";
import { apart } from "./apart";

test("points of one row know how far the nearest other one is", () => {
  const cloud = { xs: Float32Array.of(0, 3, 10, 5, 5, 6), ys: Float32Array.of(0, 4, 0, 0, 1, 1) };
  expect([...apart(cloud as never, [7, 7, 8, 9, 9, 9])]).toEqual([5, 5, NaN, 1, 1, 1]);
});
