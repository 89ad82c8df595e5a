/** A part of the picture, and what a lens over maps is asked so that it looks at the map that is shown. */
import type { LensInfo } from "../../api/model";
import type { ResultLine } from "../../api/results";
import { rowsOf } from "../results/rows";
import type { Given } from "../results/lenses";

/** Shares of the picture's width and height, from its upper left corner. */
export interface Region {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}
export const sides = ["left", "top", "right", "bottom"] as const;

/** As it stands in the address. */
export const writeRegion = (region: Region): string => sides.map((side) => +region[side].toFixed(4)).join(",");

/** Null where the text is no region that holds anything. */
export function readRegion(text: string): Region | null {
  const [left, top, right, bottom, ...more] = text.split(",").map(Number);
  const given = [left, top, right, bottom];
  if (more.length || given.some((side) => !(side! >= 0 && side! <= 1)) || !(left! < right!) || !(top! < bottom!))
    return null;
  return { left: left!, top: top!, right: right!, bottom: bottom! };
}

/** Between two corners, on whole pixels of a picture, and at least one of them. */
export function regionBetween(
  [x0, y0]: readonly [number, number],
  [x1, y1]: readonly [number, number],
  { width, height }: { readonly width: number; readonly height: number },
): Region {
  const along = (a: number, b: number, count: number): [number, number] => {
    const low = Math.max(0, Math.min(count - 1, Math.floor(Math.min(a, b) * count)));
    return [low / count, Math.max(low + 1, Math.min(count, Math.ceil(Math.max(a, b) * count))) / count];
  };
  const [[left, right], [top, bottom]] = [along(x0, x1, width), along(y0, y1, height)];
  return { left, top, right, bottom };
}

/** One of the maps that are shown side by side. */
export interface ShownMap {
  readonly key: string;
  readonly label: string;
  /** What lenses over maps are told of it; null where they do not know its method. */
  readonly asked: Given | null;
  /** A live subject by name; whoever recorded where empty. */
  readonly subject: string;
}

/** A method, and what it is asked, as lenses over maps take it: `frame` counts back from the newest, “” is all. */
export function askedOf(
  lens: Pick<LensInfo, "parameters"> | undefined,
  { method, parameters, frame }: { method: string; parameters: Given; frame: string },
): Given | null {
  const known = lens?.parameters?.find(({ name }) => name === "method")?.choices ?? [];
  if (!known.includes(method)) return null;
  const back = frame === "" ? -1 : frame === "t" ? 0 : Number(frame.replace(/^t−/, ""));
  const { target, layer } = parameters;
  return {
    method,
    frame: back,
    ...(typeof target === "string" && { target }),
    ...(typeof layer === "string" && { layer }),
  };
}

/** The largest of the second column of values [row, column] over the rows from `start` up to `stop`. */
export function strongestOf(
  rows: ArrayLike<number>,
  values: ArrayLike<number>,
  columns: number,
  start: number,
  stop: number,
): number {
  let most = 0;
  for (let i = 0; i < rows.length; i++)
    if (rows[i]! >= start && rows[i]! < stop) most = Math.max(most, values[i * columns + 1]!);
  return most;
}

/** The newest result that was asked just this of all rows from `start` up to `stop`, by the subject that is meant. */
export function answerTo(
  lines: readonly ResultLine[],
  asked: Given,
  { start, stop, subject }: { start: number; stop: number; subject: string },
): ResultLine | undefined {
  return lines.find((line) => {
    const given = (line.arguments.parameters ?? {}) as Given;
    const same = Object.entries(asked).every(([name, value]) => given[name] === value);
    const whose = !subject || line.arguments.subject === subject;
    return same && whose && rowsOf(line).ranges.some(([from, to]) => from <= start && to >= stop);
  });
}
