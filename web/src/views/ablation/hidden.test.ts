import { expect, test } from "vitest";
import { hidableIn, suggestedClass } from "./hidden";

const study = { live_worlds: ["maze", "platformer"], hidable: { maze: [], platformer: ["saw", "enemy"] } };

test("a live world says what it can hide: the recorded one, or the first", () => {
  expect(hidableIn(study, "platformer")).toEqual(["saw", "enemy"]);
  expect(hidableIn(study, "another")).toEqual([]);
  expect(hidableIn({ live_worlds: ["platformer"], hidable: study.hidable }, "another")).toEqual(["saw", "enemy"]);
  expect(hidableIn({ live_worlds: [], hidable: {} }, "platformer")).toEqual([]);
  expect(hidableIn(null, undefined)).toEqual([]);
});

test("what was ablated is suggested, by the names of its factors", () => {
  const edited = (...names: string[]) => ({ factors: names.map((name, index) => ({ index, name })) });
  expect(suggestedClass(["saw", "enemy"], edited("", "Enemy moving left"))).toBe("enemy");
  expect(suggestedClass(["saw", "enemy"], edited("the sky"))).toBe("");
});
