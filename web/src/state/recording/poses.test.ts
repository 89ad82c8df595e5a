import { expect, test } from "vitest";
import type { Prediction } from "../../api/model";
import { posesOf, quantile } from "./poses.svelte";

const predicted = (id: string, subject: string, binding: string): Prediction =>
  ({
    id,
    subject,
    binding,
    current: true,
    columns: [{ name: "pose_position_error", unit: "m" }],
    poses: [{ head: "pose", position_error: "pose_position_error" }],
  }) as unknown as Prediction;

test("two predictions of one subject are told apart by what it was fed", () => {
  const found = posesOf([predicted("1", "net", "a"), predicted("2", "net", "b"), predicted("3", "other", "a")]);
  expect(found.map(({ title }) => title)).toEqual(["net · a", "net · b", "other"]);
  expect(found[0]!.unit).toBe("m");
});

test("a median leaves out what is not known", () => {
  expect(quantile([3, NaN, 1, 2], 0.5)).toBe(2);
  expect(quantile([1, 2, 3, 4], 0.5)).toBe(2.5);
  expect(quantile([1, 2, 3, 4], 0.5, (row) => row > 1)).toBe(3.5);
  expect(quantile([NaN], 0.5)).toBeNaN();
});
