import { describe, expect, test } from "vitest";
import { Groups, type Group } from "./groups";
import type { OpenRecording } from "./recording";
import { momentName, rowName, rowsName } from "./rowname";

const group = (index: number, start: number, stop: number): Group => ({
  index,
  label: String(index),
  start,
  stop,
  outcome: "",
  total: 0,
  scene: "",
});
const groups = new Groups([group(0, 0, 525), group(1, 525, 1050), group(2, 1050, 1100)]);
const episodes = { groups, info: { row: { one: "step", many: "steps" } } } as unknown as OpenRecording;
const pairs = { groups: new Groups([]), info: { row: { one: "pair", many: "pairs" } } } as unknown as OpenRecording;

describe("what rows are called", () => {
  test("steps are counted in the episode that they lie in, never beyond its end", () => {
    expect(rowsName(episodes, 10, 21)).toBe("ep 0: 10–20");
    expect(rowsName(episodes, 525, 1050)).toBe("ep 1: 0–524");
    expect(rowsName(episodes, 500, 1060)).toBe("ep 0: 500 – ep 2: 9");
  });

  test("rows without time are counted as they are", () => {
    expect(rowsName(pairs, 3, 9)).toBe("pairs 3–8");
    expect(rowName(pairs, 3)).toBe("pair 3");
  });

  test("a moment names its episode where more than one is shown", () => {
    expect(momentName(episodes, 600, "episode")).toBe("step 75");
    expect(momentName(episodes, 600, "recording")).toBe("ep 1, step 75");
  });
});
