import { expect, test } from "vitest";
import type { Prediction } from "../../api/model";
import { modelsOf, posesOf, withoutBegin } from "./posed";
import { mediansBy, quantile } from "./quantile";
import { Bitset } from "../selection/bitset";

const predicted = (id: string, subject: string, binding: string, domain = "", filters = ""): Prediction =>
  ({
    id,
    subject,
    binding,
    domain,
    filters,
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
  expect(quantile([1, 2, 3, 4], 0.5, Bitset.ofRuns(4, [[2, 4]]))).toBe(3.5);
  const values = [1, 2, 3, 4];
  const [first, last] = [Bitset.ofRuns(4, [[0, 2]]), Bitset.ofRuns(4, [[3, 4]])];
  expect([quantile(values, 0.5, first), quantile(values, 0.5, last), quantile(values, 0.5)]).toEqual([1.5, 4, 2.5]);
  expect([...mediansBy([1, 2, 9, NaN, 5], [0, 0, 1, 1, -1], null)]).toEqual([[0, 1.5], [1, 9]]); // prettier-ignore
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

test("a subject behind a filter is a model of its own, beside plain pictures where only one domain goes through it", () => {
  const models = modelsOf(
    posesOf([
      predicted("1", "net", "x ← sim.rgb", "sim"),
      predicted("2", "net", "x ← real.rgb", "real"),
      predicted("3", "net", "x ← real.rgb | blur 1", "real", "blur 1"),
      predicted("4", "net", "x ← sim.rgb | blur 2", "sim", "blur 2"),
      predicted("5", "net", "x ← real.rgb | blur 2", "real", "blur 2"),
    ]),
    ["sim", "real"],
  );
  expect(models.map(({ title, sides }) => [title, ...sides.map(({ prediction }) => prediction.id)])).toEqual([
    ["net", "1", "2"],
    ["net · blur 1", "1", "3"],
    ["net · blur 2", "4", "5"],
  ]);
});
