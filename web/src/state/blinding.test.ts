import { expect, test } from "vitest";
import { proves } from "./blinding.svelte";

test("a proof is about weights, not about whoever has the name now", () => {
  const arms = [
    { kind: "original", weights: "aa" },
    { kind: "blind", weights: "bb" },
  ];
  const line = { arguments: { edited: "no saws", arms } };
  expect(proves(line, { name: "no saws", weights: "bb" })).toBe(true);
  expect(proves(line, { name: "no saws", weights: "cc" })).toBe(false);
  expect(proves(line, { name: "no saws", weights: "aa" })).toBe(false);
  expect(proves(line, { name: "other", weights: "bb" })).toBe(false);
  expect(proves(line, undefined)).toBe(false);
  expect(proves({ arguments: {} }, { name: "no saws", weights: "bb" })).toBe(false);
});
