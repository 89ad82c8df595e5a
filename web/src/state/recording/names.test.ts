import { describe, expect, test } from "vitest";
import { Names } from "./names.svelte";

const words = Array.from({ length: 20 }, (_, i) => `name ${i}`);

function learned(): Names {
  const names = new Names();
  names.learn({ action: words, object: ["saw", "coin"], "words of next": ["coin"], "words of door": ["open", "shut"] });
  return names;
}

describe("places of names", () => {
  test("follow what the recordings know, kind by kind", () => {
    expect(words.map((word) => learned().placeOf("action", word))).toEqual([...words.keys()]);
    expect(learned().placeOf("object", "coin")).toBe(1);
    expect(["no", "yes"].map((word) => learned().placeOf("answer", word))).toEqual([0, 1]);
  });

  test("what is numbered has its number, whatever is known", () => {
    expect(learned().placeOf("factor", 5)).toBe(5);
    expect(new Names().placeOf("state", 11)).toBe(11);
  });

  test("an unknown name has one that follows from it, and none of the first eight", () => {
    const places = [...words].map((word) => new Names().placeOf("object", word));
    expect(places).toEqual(words.map((word) => learned().placeOf("object", word)));
    expect(Math.min(...places)).toBeGreaterThanOrEqual(8);
    expect(new Set(places).size).toBeGreaterThan(8);
  });
});

test("a column that names things has their kind", () => {
  const names = learned();
  expect(names.kindOfWords({ name: "next", kind: "fact" })).toBe("object");
  expect(names.kindOfWords({ name: "door", kind: "fact" })).toBe("words of door");
  expect(names.kindOfWords({ name: "elsewhere", kind: "fact" })).toBe("words of elsewhere");
  expect(names.kindOfWords({ name: "did", kind: "action" })).toBe("action");
});
