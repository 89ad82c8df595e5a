/** What is claimed of the colours of names: everybody tells the eight of a theme apart, and sees them on its grounds. */
import { describe, expect, test } from "vitest";
import css from "../../app.css?raw";

type Three = readonly [number, number, number];
type Matrix = readonly [Three, Three, Three];

const least = 11;
const minContrast = 3;
/** Nobody sees two of them as alike at a glance, either. */
const minSeen = 18;

/** Machado, Oliveira and Fernandes 2009, severity 1; they apply to linear red, green and blue. */
const blindness: Record<string, Matrix> = {
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
};
const toXyz: Matrix = [
  [0.4124564, 0.3575761, 0.1804375],
  [0.2126729, 0.7151522, 0.072175],
  [0.0193339, 0.119192, 0.9503041],
];
const same: Matrix = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
];

const times = (m: Matrix, v: Three): Three =>
  m.map((row) => row[0] * v[0] + row[1] * v[1] + row[2] * v[2]) as unknown as Three;

function linear(hex: string): Three {
  const digits = hex.slice(1);
  const full = digits.length === 3 ? [...digits].map((d) => d + d).join("") : digits;
  return [0, 2, 4].map((at) => {
    const value = Number.parseInt(full.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as unknown as Three;
}

function labOf(hex: string, seenBy: Matrix = same): Three {
  const seen = times(seenBy, linear(hex)).map((v) => Math.min(1, Math.max(0, v))) as unknown as Three;
  const white = times(toXyz, [1, 1, 1]);
  const [x, y, z] = times(toXyz, seen).map((v, i) => {
    const t = v / white[i]!;
    return t > (6 / 29) ** 3 ? Math.cbrt(t) : t / (3 * (6 / 29) ** 2) + 4 / 29;
  }) as unknown as Three;
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** CIEDE2000, after Sharma, Wu and Dalal 2005. */
function distance([l1, a1, b1]: Three, [l2, a2, b2]: Three): number {
  const [rad, deg] = [(d: number): number => (d * Math.PI) / 180, (r: number): number => (r * 180) / Math.PI];
  const mean = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2;
  const g = 0.5 * (1 - Math.sqrt(mean ** 7 / (mean ** 7 + 25 ** 7)));
  const [p1, p2] = [(1 + g) * a1, (1 + g) * a2];
  const [c1, c2] = [Math.hypot(p1, b1), Math.hypot(p2, b2)];
  const hue = (b: number, a: number): number => (a || b ? (deg(Math.atan2(b, a)) + 360) % 360 : 0);
  const [h1, h2] = [hue(b1, p1), hue(b2, p2)];
  const grey = c1 * c2 === 0;
  const turn = h2 - h1;
  const dh = grey ? 0 : turn > 180 ? turn - 360 : turn < -180 ? turn + 360 : turn;
  const [dL, dC, dH] = [l2 - l1, c2 - c1, 2 * Math.sqrt(c1 * c2) * Math.sin(rad(dh / 2))];
  const [l, c] = [(l1 + l2) / 2, (c1 + c2) / 2];
  const sum = h1 + h2;
  const h = grey ? sum : Math.abs(turn) <= 180 ? sum / 2 : sum < 360 ? (sum + 360) / 2 : (sum - 360) / 2;
  const cos = (angle: number): number => Math.cos(rad(angle));
  const t = 1 - 0.17 * cos(h - 30) + 0.24 * cos(2 * h) + 0.32 * cos(3 * h + 6) - 0.2 * cos(4 * h - 63);
  const sL = 1 + (0.015 * (l - 50) ** 2) / Math.sqrt(20 + (l - 50) ** 2);
  const [sC, sH] = [1 + 0.045 * c, 1 + 0.015 * c * t];
  const rotation = -2 * Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7)) * Math.sin(rad(60 * Math.exp(-(((h - 275) / 25) ** 2))));
  const [x, y, z] = [dL / sL, dC / sC, dH / sH];
  return Math.sqrt(x * x + y * y + z * z + rotation * y * z);
}

function contrast(one: string, other: string): number {
  const light = (hex: string): number => times(toXyz, linear(hex))[1];
  const [low, high] = [light(one), light(other)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

function nearest(colours: readonly string[], seenBy?: Matrix): number {
  const seen = colours.map((hex) => labOf(hex, seenBy));
  return Math.min(...seen.flatMap((one, i) => seen.slice(i + 1).map((other) => distance(one, other))));
}

/** Tokens of a theme; what the dark one does not say it has from the light one. */
function tokensOf(theme: "light" | "dark"): ReadonlyMap<string, string> {
  const block = (selector: string): [string, string][] => {
    const from = css.indexOf(`${selector} {`);
    const text = css.slice(from, css.indexOf("}", from));
    return [...text.matchAll(/--([\w-]+):\s*(#[0-9a-f]{3,6});/g)].map((found) => [found[1]!, found[2]!]);
  };
  return new Map([...block(":root"), ...(theme === "dark" ? block('[data-theme="dark"]') : [])]);
}
const coloursOf = (tokens: ReadonlyMap<string, string>): string[] =>
  [...tokens].filter(([name]) => /^c\d+$/.test(name)).map(([, hex]) => hex);

describe("the measures themselves", () => {
  test.each([
    [[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425],
    [[50, -1.3802, -84.2814], [50, 0, -82.7485], 1.0],
    [[50, 2.5, 0], [73, 25, -18], 27.1492],
    [[50, 2.5, 0], [50, 3.1736, 0.5854], 1.0],
    [[60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644],
    [[22.7233, 20.0904, -46.694], [23.0331, 14.973, -42.5619], 2.0373],
    [[90.8027, -2.0831, 1.441], [91.1528, -1.6435, 0.0447], 1.4441],
    [[2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514], 0.9082],
  ] as [Three, Three, number][])("CIEDE2000 of a published pair: %j and %j are %d apart", (one, other, apart) => {
    expect(distance(one, other)).toBeCloseTo(apart, 4);
  });

  test("Okabe and Ito's colours are 11.6 apart", () => {
    const known = ["#000000", "#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7"];
    const seen = Object.values(blindness).map((matrix) => nearest(known, matrix));
    expect(Math.min(...seen)).toBeCloseTo(11.6, 1);
  });

  test("black on white", () => expect(contrast("#000000", "#fff")).toBeCloseTo(21, 2));
});

describe.each(["light", "dark"] as const)("the %s theme", (theme) => {
  const tokens = tokensOf(theme);
  const colours = coloursOf(tokens);

  test("has eight of its own", () => {
    expect(colours).toHaveLength(8);
    if (theme === "dark") expect(colours).not.toEqual(coloursOf(tokensOf("light")));
  });

  test.each(Object.entries(blindness))("any two are told apart with %s", (_, matrix) => {
    expect(nearest(colours, matrix)).toBeGreaterThanOrEqual(least);
  });

  test("any two are told apart with all cones", () => expect(nearest(colours)).toBeGreaterThanOrEqual(minSeen));

  test.each(["panel", "bg", "soft"])("each is seen on the colour “%s”", (ground) => {
    for (const colour of colours)
      expect(contrast(colour, tokens.get(ground)!), colour).toBeGreaterThanOrEqual(minContrast);
  });
});
