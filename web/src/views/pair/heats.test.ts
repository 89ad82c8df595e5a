import { expect, test } from "vitest";
import type { ArraySpec } from "../../api/model";
import { channelsOf } from "./heats.svelte";

test("an array has its own channels of the input that it feeds with others", () => {
  const arrays = [
    { name: "sim.rgb", shape: [8, 8, 3] },
    { name: "sim.depth", shape: [8, 8] },
  ] as unknown as ArraySpec[];
  const inputs = { rgbd: "sim.rgb | resize 4x4 + sim.depth | depth 10" };
  expect(channelsOf(inputs, arrays, "sim.rgb")).toEqual({ input: "rgbd", first: 0, count: 3, all: 4 });
  expect(channelsOf(inputs, arrays, "sim.depth")).toEqual({ input: "rgbd", first: 3, count: 1, all: 4 });
  expect(channelsOf(inputs, arrays, "real.rgb")).toBeNull();
});
