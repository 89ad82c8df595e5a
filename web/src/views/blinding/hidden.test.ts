import { expect, test } from "vitest";
import { hideable, suggestedClass } from "./hidden";

const settings = { invisible: [], classes: ["background", "agent", "wall", "saw", "enemy"] };

test("only a world that can hide things offers what", () => {
  expect(hideable(settings)).toEqual(["agent", "wall", "saw", "enemy"]);
  expect(hideable({ classes: ["saw"] })).toEqual([]);
  expect(hideable(undefined)).toEqual([]);
  expect(hideable({ ...settings, invisible: ["saw"] })).not.toContain("saw");
});

test("what it was made blind to is suggested, by the names of its factors", () => {
  const edited = (...names: string[]) => ({ factors: names.map((name, index) => ({ index, name })) });
  expect(suggestedClass(["saw", "enemy"], edited("", "Enemy moving left"))).toBe("enemy");
  expect(suggestedClass(["saw", "enemy"], edited("the sky"))).toBe("");
});
