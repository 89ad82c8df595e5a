import { expect, test } from "vitest";
import type { ResultLine } from "../../api/results";
import { answerTo, askedOf, readRegion, regionBetween, writeRegion } from "./region";

test("a region is written and read", () => {
  const region = { left: 0.125, top: 0, right: 0.5, bottom: 1 };
  expect(readRegion(writeRegion(region))).toEqual(region);
});

test.each(["", "0,0,1", "0.5,0,0.5,1", "0,0.6,1,0.2", "0,0,1,1.2", "a,0,1,1", "0,0,1,1,1"])(
  "%j is no region",
  (text) => {
    expect(readRegion(text)).toBeNull();
  },
);

test("a drag in any direction gives whole pixels, and at least one", () => {
  const size = { width: 8, height: 4 };
  const wanted = { left: 0.25, top: 0.25, right: 0.625, bottom: 0.75 };
  expect(regionBetween([0.3, 0.3], [0.6, 0.7], size)).toEqual(wanted);
  expect(regionBetween([0.6, 0.7], [0.3, 0.3], size)).toEqual(wanted);
  expect(regionBetween([0.99, 0.99], [1.4, 1.4], size)).toEqual({ left: 0.875, top: 0.75, right: 1, bottom: 1 });
});

const lens = { parameters: [{ name: "method", type: "choice", choices: ["guided", "g1gradcam"] }] } as never;
test("a cell is asked about by its method's name, and frames are counted back", () => {
  const cell = {
    method: "g1gradcam",
    parameters: { target: "value", layer: "conv1", gradients: "guided" },
    frame: "t−2",
  };
  expect(askedOf(lens, cell)).toEqual({ method: "g1gradcam", frame: 2, target: "value", layer: "conv1" });
  expect(askedOf(lens, { method: "guided", parameters: {}, frame: "" })).toEqual({ method: "guided", frame: -1 });
  expect(askedOf(lens, { method: "plugged", parameters: {}, frame: "" })).toBeNull();
});

test("an answer holds for the rows, the question and the subject that are meant", () => {
  const line = (rows: [number, number], method: string, subject: string): ResultLine =>
    ({ id: method + rows.join(), arguments: { parameters: { method, left: 0 }, rows: [rows], subject } }) as never;
  const lines = [line([0, 9], "guided", "a"), line([0, 99], "guided", "a"), line([0, 99], "guided", "b")];
  const found = (method: string, subject: string): string | undefined =>
    answerTo(lines, { method }, { start: 5, stop: 20, subject })?.id;
  expect(found("guided", "a")).toBe("guided0,99");
  expect(found("guided", "")).toBe("guided0,99");
  expect(found("gradcam", "")).toBeUndefined();
  expect(found("guided", "c")).toBeUndefined();
});
