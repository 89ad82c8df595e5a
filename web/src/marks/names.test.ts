import { describe, expect, test } from "vitest";
import type { Palette } from "./colour";
import { drawTexture, fillOf, Places } from "./names";
import { toSvg } from "./svgpen";

const palette = { names: Array.from({ length: 8 }, (_, i) => `#00000${i}`) } as unknown as Palette;
const names = Array.from({ length: 20 }, (_, i) => `name ${i}`);

describe("places", () => {
  const places = new Places({ action: names, object: ["name 3"] });

  test("follow the vocabulary, kind by kind", () => {
    expect(names.map((name) => places.of("action", name))).toEqual([...names.keys()]);
    expect(places.of("object", "name 3")).toBe(0);
    expect([places.of("answer", "no"), places.of("answer", "yes")]).toEqual([0, 1]);
  });

  test("what is numbered has its number, whatever is known", () => {
    expect(places.of("factor", 5)).toBe(5);
    expect(new Places().of("state", 11)).toBe(11);
  });

  test("an unknown name has one of its own that never looks like one of the first eight", () => {
    const place = places.of("object", "comet");
    expect(new Places({ object: ["a", "b"] }).of("object", "comet")).toBe(place);
    expect(new Places().look("object", "comet", palette).texture).toBeGreaterThan(0);
  });
});

describe("looks", () => {
  const places = new Places({
    action: names,
    object: names.slice(0, 4),
    "words of next": ["name 1"],
    "words of x": ["y"],
  });

  test("kinds that stand beside each other begin with other colours", () => {
    const colours = (kind: string) => names.slice(0, 4).map((name) => places.look(kind, name, palette).colour);
    expect(new Set([...colours("action"), ...colours("object")]).size).toBe(8);
  });

  test("a column that names things has their colours", () => {
    expect(places.kindOfWords({ name: "next", kind: "fact" })).toBe("object");
    expect(places.kindOfWords({ name: "x", kind: "fact" })).toBe("words of x");
    expect(places.kindOfWords({ name: "did", kind: "action" })).toBe("action");
  });

  test("the first eight differ in colour, the next in texture", () => {
    const looks = names.map((name) => places.look("action", name, palette));
    expect(new Set(looks.slice(0, 8).map(({ colour }) => colour)).size).toBe(8);
    expect(new Set(looks.map(({ colour, texture }) => `${colour} ${texture}`)).size).toBe(20);
    expect(looks.slice(0, 8).every(({ texture }) => texture === 0)).toBe(true);
    expect(new Set(looks.map((look) => fillOf(look, "#fff"))).size).toBe(20);
  });

  test("stripes cover part of a band and nothing of a plain one", () => {
    const stripes = (texture: 0 | 1 | 2): number =>
      toSvg({ width: 60, height: 10 }, "#fff", (pen) =>
        drawTexture(pen, 60, { texture, ground: "#abcdef" }, () => [2, 8]),
      ).match(/#abcdef/g)?.length ?? 0;
    expect(stripes(0)).toBe(0);
    expect(stripes(1)).toBe(10);
    expect(stripes(2)).toBe(20);
  });
});
