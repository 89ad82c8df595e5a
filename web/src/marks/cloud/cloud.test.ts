import { describe, expect, test } from "vitest";
import { cloudFrom } from "../../api/layout";
import { contains, inside } from "../../state/selection/polygon";
import { nearestPoint, stampCloud, toPlane, toScreen, wholeCloud, zoomed } from "./cloud";
import { colourRows, packed, typicalRange } from "./colour";
import { circle, runsOf, simplified } from "./lasso";
import { layOut, overlap, strongest } from "../graph";
import type { Palette } from "../colour/colour";
import { lookAt } from "../colour/names";

const size = { width: 200, height: 100 };
const names = Array.from({ length: 8 }, (_, i) => `#0000${i.toString(16).padStart(2, "0")}`);
const palette = {
  accent: "#112233",
  negative: "#0000ff",
  positive: "#ff8000",
  line: "#eee",
  names,
} as unknown as Palette;

describe("a cloud", () => {
  const cloud = cloudFrom([0, 0, 10, 0, 0, 10, 10, 10, NaN, 5]);

  test("is seen whole, and a pixel leads back to its place", () => {
    const camera = wholeCloud(cloud, size);
    for (let i = 0; i < 4; i++) {
      const [px, py] = toScreen(camera, size, cloud.xs[i]!, cloud.ys[i]!);
      expect(px).toBeGreaterThanOrEqual(0);
      expect(px).toBeLessThanOrEqual(200);
      expect(py).toBeGreaterThanOrEqual(0);
      expect(py).toBeLessThanOrEqual(100);
      const [x, y] = toPlane(camera, size, px, py);
      expect(x).toBeCloseTo(cloud.xs[i]!, 6);
      expect(y).toBeCloseTo(cloud.ys[i]!, 6);
    }
  });

  test("zooms around the pointer", () => {
    const camera = wholeCloud(cloud, size);
    const nearer = zoomed(camera, size, 3, 150, 20);
    expect(toPlane(nearer, size, 150, 20)).toEqual(toPlane(camera, size, 150, 20).map((v) => expect.closeTo(v, 6)));
  });

  test("has a nearest point only nearby", () => {
    const camera = wholeCloud(cloud, size);
    const [px, py] = toScreen(camera, size, 10, 10);
    expect(nearestPoint(cloud, camera, size, px + 3, py - 2)).toBe(3);
    expect(nearestPoint(cloud, camera, size, 100, 50)).toBe(-1);
  });

  test("is stamped where its points are, and nowhere else", () => {
    const image = { width: 200, height: 100, data: new Uint8ClampedArray(200 * 100 * 4) } as ImageData;
    const camera = wholeCloud(cloud, size);
    const look = {
      colours: new Uint32Array(5).fill(0x0000ff),
      textures: null,
      opacity: new Uint8Array(5).fill(255),
      radius: 1,
    };
    stampCloud(image, cloud, camera, look);
    const [px, py] = toScreen(camera, size, 0, 0).map(Math.round) as [number, number];
    const at = 4 * (py * 200 + px);
    expect([...image.data.subarray(at, at + 4)]).toEqual([255, 0, 0, 255]);
    const painted = image.data.filter((_, i) => i % 4 === 3 && image.data[i]! > 0).length;
    expect(painted).toBe(4 * 5);
  });
});

test("a texture leaves out stripes of a point", () => {
  const columns = (texture: number): string => {
    const image = { width: 9, height: 9, data: new Uint8ClampedArray(9 * 9 * 4) } as ImageData;
    const look = {
      colours: Uint32Array.of(0xff),
      textures: Uint8Array.of(texture),
      opacity: Uint8Array.of(255),
      radius: 2,
    };
    stampCloud(image, cloudFrom([0, 0]), { x: 0, y: 0, scale: 1 }, look);
    return Array.from({ length: 5 }, (_, x) => (image.data[4 * (5 * 9 + 3 + x) + 3] ? "#" : ".")).join("");
  };
  expect([0, 1, 2].map(columns)).toEqual(["#####", "##.##", "#.#.#"]);
});

test("points that cover each other mix by their opacity", () => {
  const image = { width: 9, height: 9, data: new Uint8ClampedArray(9 * 9 * 4) } as ImageData;
  const cloud = cloudFrom([0, 0, 0, 0]);
  const look = {
    colours: Uint32Array.of(0x0000ff, 0xff0000),
    textures: null,
    opacity: Uint8Array.of(255, 128),
    radius: 1,
  };
  stampCloud(image, cloud, { x: 0, y: 0, scale: 1 }, look);
  const [r, g, b, a] = image.data.subarray(4 * (5 * 9 + 5), 4 * (5 * 9 + 5) + 4);
  expect(Math.abs(r! - 127)).toBeLessThan(4);
  expect(g).toBeLessThan(3);
  expect(Math.abs(b! - 128)).toBeLessThan(4);
  expect(a).toBeGreaterThan(250);
});

describe("colours", () => {
  const look = (kind: string, name: string | number) => lookAt(kind, "abcdefgh?".indexOf(String(name)), palette);
  const rows = [0, 1, 2, 3];

  test("words look as everywhere, also from the ninth on; what has no word is grey", () => {
    const { colours, textures, legend } = colourRows(
      { type: "words", codes: [2, 0, 2, -1, 3], words: ["a", "b", "c", "?"], kind: "letter" },
      [...rows, 4],
      palette,
      look,
    );
    expect(colours[0]).toBe(packed("#000002"));
    expect(colours[1]).toBe(packed("#000000"));
    expect(colours[3]).not.toBe(colours[1]);
    expect(colours[4]).toBe(packed(look("letter", "?").colour));
    expect([...textures!]).toEqual([0, 0, 0, 0, 1]);
    expect(legend.type === "words" && legend.words.map((w) => w.name)).toEqual(["a", "c", "?"]);
  });

  test("numbers on both sides of zero have zero in the middle", () => {
    const { colours, legend } = colourRows({ type: "numbers", values: [-1, 3, 0, NaN] }, rows, palette, look);
    expect(legend).toMatchObject({ type: "ramp", low: -3, high: 3 });
    expect(colours[1]).toBe(packed("#ff8000"));
    expect(colours[2]).toBe(colours[3]);
  });

  test("one outlier does not make all others alike", () => {
    const values = [...Array.from({ length: 999 }, (_, i) => i / 999), 1e9];
    expect(typicalRange(values, Array.from(values.keys())).high).toBeLessThan(1.01);
  });
});

describe("a lasso", () => {
  test("holds what lies inside, also where it is not convex", () => {
    const u = [0, 0, 10, 0, 10, 10, 7, 10, 7, 3, 3, 3, 3, 10, 0, 10];
    expect(contains(u, 1, 9)).toBe(true);
    expect(contains(u, 5, 9)).toBe(false);
    expect(inside(cloudFrom([1, 9, 5, 9, 8, 8, 5, 1]), u)).toEqual([0, 2, 3]);
    expect(contains(circle(5, 5, 2), 6, 5)).toBe(true);
    expect(contains(circle(5, 5, 2), 7.5, 5)).toBe(false);
  });

  test("has no more corners than it needs", () => {
    const line = [0, 0, 1, 0.01, 2, 0, 2, 1, 2.01, 2, 0, 2];
    expect(simplified(line, 0.1)).toEqual([0, 0, 2, 0, 2.01, 2, 0, 2]);
    expect(simplified(line, 0)).toEqual(line);
    expect(simplified([0, 0, 1, 1, 2, 0], 5)).toEqual([0, 0, 1, 1, 2, 0]);
  });

  test("rows become runs", () => {
    expect(runsOf([7, 3, 4, 5, 11, 4])).toEqual([
      [3, 6],
      [7, 8],
      [11, 12],
    ]);
  });
});

describe("a chart of states", () => {
  const frames = [
    { width: 270, height: 180 },
    { width: 900, height: 600 },
    { width: 120, height: 90 },
  ];

  test.each(frames)("never overlaps, stays in its frame and is the same again: %o", (frame) => {
    const nodes = Array.from({ length: 12 }, (_, i) => ({
      share: 1 / (1 + i),
      place: [i % 3, i % 2] as [number, number],
    }));
    const discs = layOut(nodes, frame);
    expect(overlap(discs)).toBe(false);
    expect(discs).toEqual(layOut(nodes, frame));
    for (const { x, y, r } of discs) {
      expect(x - r).toBeGreaterThanOrEqual(0);
      expect(x + r).toBeLessThanOrEqual(frame.width);
      expect(y - r).toBeGreaterThanOrEqual(0);
      expect(y + r).toBeLessThanOrEqual(frame.height);
    }
    expect(discs[0]!.r).toBeGreaterThanOrEqual(discs[11]!.r);
  });

  test("every state keeps its strongest ways out", () => {
    const edges = [
      { from: 0, to: 1, weight: 100 },
      { from: 1, to: 0, weight: 1 },
      { from: 0, to: 0, weight: 500 },
      { from: 0, to: 2, weight: 90 },
      { from: 0, to: 3, weight: 80 },
      { from: 0, to: 4, weight: 1 },
    ];
    expect(strongest(edges).map((e) => `${e.from}${e.to}`)).toEqual(["01", "02", "03", "10"]);
  });
});
