/** Response by place on the screen, beside how often a thing was there. */
import type { ArraySlice } from "../../api/service";
import { turbo } from "../../marks/colour/colour";
import type { Pen, Size } from "../../marks/pen/pen";
import { number } from "../../state/format";

export interface Figure {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

interface Told {
  readonly name: string;
  readonly sightings: number;
  readonly place: Figure | null;
  /** Beyond where the thing lies from the player; null where nobody says. */
  readonly beyond: Figure | null;
  readonly verdict: string;
}

export interface ClassPlaces extends Told {
  /** [line][column]: in times the average pixel; NaN where it never was. */
  readonly response: readonly (readonly number[])[];
  readonly often: readonly (readonly number[])[];
  readonly most: number;
  readonly oftenest: number;
}

/** Classes that were in view, those that can be spoken of first. */
export function placesOf(
  value: unknown,
  { response, often }: Readonly<Record<string, ArraySlice>>,
): { readonly classes: readonly ClassPlaces[]; readonly words: string } {
  const { classes, cells, words } = value as { classes: Told[]; cells: number; words: string };
  const read = ({ values }: ArraySlice, k: number): number[][] =>
    Array.from({ length: cells }, (_, y) =>
      Array.from({ length: cells }, (_each, x) => values[(k * cells + y) * cells + x]!),
    );
  const largest = (lines: readonly (readonly number[])[]): number =>
    Math.max(0, ...lines.flat().filter((one) => !Number.isNaN(one)));
  const found = classes.map((told, k): ClassPlaces => {
    const [responses, times] = [read(response!, k), read(often!, k)];
    return { ...told, response: responses, often: times, most: largest(responses), oftenest: largest(times) };
  });
  const seen = found.filter(({ sightings }) => sightings > 0);
  return { words, classes: seen.toSorted((a, b) => Number(b.place !== null) - Number(a.place !== null)) };
}

const interval = ({ value, low, high }: Figure): string =>
  `${number(100 * value)} % (${number(100 * low)} to ${number(100 * high)})`;

/** The figures with their intervals. */
export function wordsOf({ place, beyond, verdict }: Told): string {
  if (!place) return verdict === "everywhere alike" ? "Its response never varies." : "No figure: " + verdict + ".";
  const alone = `Place explains ${interval(place)} of what its response varies in episodes left out`;
  return beyond ? `${alone}; beyond where the player is ${interval(beyond)}.` : `${alone}.`;
}

export function drawPlaces(
  pen: Pen,
  { width, height }: Size,
  lines: readonly (readonly number[])[],
  most: number,
): void {
  const [wide, high] = [width / (lines[0]?.length ?? 1), height / lines.length];
  lines.forEach((values, y) =>
    values.forEach((value, x) => {
      if (!value) return; // never there, or no response
      pen.fillStyle = `rgb(${turbo(most ? value / most : 0)
        .map(Math.round)
        .join(" ")})`;
      pen.fillRect(x * wide, y * high, wide + 0.3, high + 0.3);
    }),
  );
}
