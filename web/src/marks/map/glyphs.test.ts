import { describe, expect, it } from "vitest";
import { gathered, isCrowded, overlapOf, wedgeOf, type Glyph } from "./glyphs";

const aim = (angle: number, error: number) => ({ angle, error, x: 0, y: 0 });
const glyph = (x: number, y: number, ...aims: Glyph["aims"]): Glyph => ({ x, y, aims, count: 1 });

describe("wedges", () => {
  it("are as long as the error, up to what fills them", () => {
    expect(wedgeOf(aim(0, 1), 2, 20).radius).toBe(10);
    expect(wedgeOf(aim(0, 9), 2, 20).radius).toBe(20);
  });
  it("share what both point at, also across the seam of the circle", () => {
    const [one, other] = [wedgeOf(aim(Math.PI - 0.1, 2), 2, 20), wedgeOf(aim(-Math.PI + 0.1, 1), 2, 20)];
    const shared = overlapOf(one, other)!;
    expect(shared.radius).toBe(10);
    expect(shared.to - shared.from).toBeCloseTo(2 * 0.42 - 0.2);
    expect(overlapOf(one, wedgeOf(aim(0, 2), 2, 20))).toBeNull();
  });
});

describe("crowded glyphs", () => {
  it("are joined square by square with the means of their rows", () => {
    const some = [
      glyph(1, 1, aim(0, 2), null),
      glyph(3, 5, aim(Math.PI / 2, 4), aim(1, 3)),
      glyph(40, 1, aim(0, 1), null),
    ];
    const found = gathered(some, 20);
    expect(found.map(({ count }) => count)).toEqual([2, 1]);
    expect(found[0]).toMatchObject({ x: 2, y: 3 });
    expect(found[0]!.aims[0]!.angle).toBeCloseTo(Math.PI / 4);
    expect(found[0]!.aims[0]!.error).toBe(3);
    expect(found[0]!.aims[1]!.error).toBe(3);
  });
  it("are those that would cover each other", () => {
    expect(isCrowded(40, { width: 600, height: 600 })).toBe(false);
    expect(isCrowded(4000, { width: 600, height: 600 })).toBe(true);
  });
});
