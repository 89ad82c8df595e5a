import { expect, test } from "vitest";
import type { Prediction } from "../../api/model";
import { modelsOf, posesOf, withoutBegin } from "./posed";
import { quantile } from "./quantile";

const predicted = (id: string, subject: string, binding: string, domain = ""): Prediction =>
  ({
    id,
    subject,
    binding,
    domain,
    edits: [],
    current: true,
    columns: [{ name: "pose_position_error", unit: "m" }],
    poses: [{ head: "pose", position_error: "pose_position_error" }],
  }) as unknown as Prediction;

test("two predictions of one subject are told apart by what it was fed", () => {
  const found = posesOf([predicted("1", "net", "a"), predicted("2", "net", "b"), predicted("3", "other", "a")]);
  expect(found.map(({ title }) => title)).toEqual(["net · a", "net · b", "other"]);
  expect(found[0]!.unit).toBe("m");
});

test("names are told apart by what they do not share", () => {
  expect(withoutBegin(["pose network, vanilla", "pose network, vague"])).toEqual(["vanilla", "vague"]);
  expect(withoutBegin(["net_a", "net_b"])).toEqual(["a", "b"]);
  expect(withoutBegin(["net", "net b"])).toEqual(["net", "net b"]);
  expect(withoutBegin(["alone here"])).toEqual(["alone here"]);
});

test("a median leaves out what is not known", () => {
  expect(quantile([3, NaN, 1, 2], 0.5)).toBe(2);
  expect(quantile([1, 2, 3, 4], 0.5)).toBe(2.5);
  expect(quantile([1, 2, 3, 4], 0.5, (row) => row > 1)).toBe(3.5);
  expect(quantile([NaN], 0.5)).toBeNaN();
});

test("what one subject says of each domain goes together, simulated first; what is left over stands alone", () => {
  const [old, real, sim, other] = [
    predicted("1", "net", "x ← real.rgb", "real"),
    predicted("2", "net", "x ← real.rgb | resize 8x8", "real"),
    predicted("3", "net", "x ← sim.rgb", "sim"),
    predicted("4", "other", "x ← real.rgb", "real"),
  ];
  const before = predicted("0", "net", "x ← sim.rgb", "sim");
  const models = modelsOf(posesOf([before, old, real, sim, other]), ["sim", "real"]);
  expect(models.map(({ title, sides }) => [title, ...sides.map(({ prediction }) => prediction.id)])).toEqual([
    ["net", "3", "2"],
    ["net · x ← real.rgb", "1"],
    ["other", "4"],
  ]);
});
