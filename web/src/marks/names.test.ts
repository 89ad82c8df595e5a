import { describe, expect, test } from "vitest";
import type { Palette } from "./colour";
import { drawTexture, fillOf, lookAt, Places } from "./names";
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
    expect(lookAt(place, palette).texture).toBeGreaterThan(0);
  });
});

describe("looks", () => {
  test("the first eight differ in colour, the next in texture", () => {
    const looks = names.map((_, place) => lookAt(place, palette));
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
