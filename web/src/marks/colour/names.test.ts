import { describe, expect, test } from "vitest";
import type { Palette } from "./colour";
import { drawTexture, fillOf, lookAt } from "./names";
import { toSvg } from "../pen/svgpen";

const palette = { names: Array.from({ length: 8 }, (_, i) => `#00000${i}`) } as unknown as Palette;
const looks = (kind: string, count: number) =>
  Array.from({ length: count }, (_, place) => lookAt(kind, place, palette));

describe("looks", () => {
  test("the first eight differ in colour, the next in texture", () => {
    const actions = looks("action", 20);
    expect(new Set(actions.slice(0, 8).map(({ colour }) => colour)).size).toBe(8);
    expect(actions.slice(0, 8).every(({ texture }) => texture === 0)).toBe(true);
    expect(new Set(actions.map(({ colour, texture }) => `${colour} ${texture}`)).size).toBe(20);
    expect(new Set(actions.map((look) => fillOf(look, "#fff"))).size).toBe(20);
  });

  test("kinds that stand beside each other begin with other colours", () => {
    const both = [...looks("action", 4), ...looks("object", 4)];
    expect(new Set(both.map(({ colour }) => colour)).size).toBe(8);
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
