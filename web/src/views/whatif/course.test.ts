import { expect, test } from "vitest";
import type { WhatIfNode } from "../../api/whatif";
import { axisOf, byStep, thumbsOf, totalOf, valuesOf } from "./course";
import { movesWords, outcomeWords, valueName } from "./recorded";

const node = (step: number, value: number, reward = 0): WhatIfNode => ({
  key: String(step),
  step,
  do: "act",
  action: 0,
  thing: "",
  values: { value },
  probabilities: null,
  reward,
  ended: "",
});
const nodes = [node(3, 0.5), node(3, 0.7), node(4, 0.8, 1), node(5, 0.2, 2)];

test("a change at a step replaces what was said before it", () => {
  expect(byStep(nodes).get(3)).toBe(1);
  expect(valuesOf(nodes, "value")).toEqual([0.7, 0.8, 0.2]);
  expect(totalOf(nodes, [1, 1, 1, 100])).toBe(6);
});

test("pictures stand side by side and none comes twice", () => {
  expect(thumbsOf({ start: 0, stop: 100 }, 200, 50).map(({ step }) => step)).toEqual([12, 37, 62, 87]);
  expect(thumbsOf({ start: 5, stop: 7 }, 200, 50)).toEqual([
    { step: 5, x: 25 },
    { step: 6, x: 125 },
  ]);
});

test("words", () => {
  expect(outcomeWords("saw", 1, 0)).toBe("saw after 1 step, return 0");
  expect(outcomeWords("", 12, NaN)).toBe("not over after 12 steps");
  expect(valueName([], {})).toBe("value");
  const own = { do: "agent" } as const;
  expect(movesWords([{ do: "remove", thing: "saw 3.4" }, own, own, { do: "act", action: 1 }], ["left", "right"])).toBe(
    "without saw 3.4, its own move × 2, right",
  );
  expect(movesWords([own, { do: "act", action: 0 }, own], ["left"], 2)).toBe("…, left, its own move");
});

test("the axis stays near the rollout, or shows all of both", () => {
  expect(axisOf({ real: 134, from: 30, last: 35 }, "near")).toEqual({ start: 24, stop: 60 });
  expect(axisOf({ real: 40, from: 3, last: 90 }, "near")).toEqual({ start: 0, stop: 91 });
  expect(axisOf({ real: 134, from: 30, last: 35 }, "whole")).toEqual({ start: 0, stop: 134 });
});
