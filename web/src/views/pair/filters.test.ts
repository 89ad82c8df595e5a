import { expect, test } from "vitest";
import type { PictureFilter } from "../../api/filters";
import { fedThrough, settingsOf, stepsOf } from "./filters";

const one = (name: string, ...neutral: number[]): PictureFilter =>
  ({ name, numbers: neutral.map((value) => ({ neutral: value })) }) as unknown as PictureFilter;
const known = [one("brightness", 1), one("blur", 0), one("depth range", 0, 100)];

test("only what changes something is written, in the order of the filters", () => {
  expect(stepsOf(known, { blur: [0.5], brightness: [1.2] })).toBe("brightness 1.2 | blur 0.5");
  expect(stepsOf(known, { brightness: [1], "depth range": [0, 7] })).toBe("depth range 0 7");
  expect(stepsOf(known, {})).toBe("");
});

test("what is written sets the sliders", () => {
  expect(settingsOf(known, "depth range 0.3 7 | blur 1")).toEqual({ "depth range": [0.3, 7], blur: [1] });
  expect(settingsOf(known, "sharpen 2")).toBeNull();
  expect(settingsOf(known, "blur 1 | blur 2")).toBeNull();
});

test("pictures of the domain go through filters, or are fed as they were", () => {
  const inputs = { rgbd: "real.rgb + real.depth | depth 10" };
  expect(fedThrough(inputs, "real", "blur 1")).toEqual({ rgbd: "real | blur 1" });
  expect(fedThrough(inputs, "real", "")).toEqual(inputs);
});
