/** Which columns become timelines, in which order, and how each is drawn. */
import { numbersOf, type ColumnData } from "../../api/data/columns";
import type { Column, ColumnKind } from "../../api/model";
import { readPalette } from "../../marks/colour/colour";
import type { Look } from "../../marks/colour/names";
import type { Pen, Size } from "../../marks/pen/pen";
import { cut, drawLine, drawStrip, drawWords, extentOf, type Extent } from "../../marks/time/timeline";
import type { Shares } from "../../state/recording/episode.svelte";
import { isEvent, number, titleOf } from "../../state/format";
import type { Colours } from "../frame/colours";

export interface Track {
  readonly column: Column;
  readonly title: string;
  readonly form: "line" | "strip" | "words";
  readonly height: number;
  readonly extent: Extent;
  readonly values: ArrayLike<number>;
  readonly words: readonly string[];
  readonly colour: string;
  /** How each of its words looks. */
  readonly looks: readonly Look[];
  /** An element of an array rather than a column. */
  readonly element?: boolean;
  /** The same of the second source. */
  readonly beside?: Beside | undefined;
}

/** Values of the second source, and the stretch of its rows that stands under what is shown. */
export interface Beside {
  readonly values: ArrayLike<number>;
  readonly first: number;
  readonly seen: { readonly from: number; readonly to: number };
}

/** A track with the second source in it, on one scale for both. */
export function withBeside(track: Track, values: ArrayLike<number>, where: Omit<Beside, "values">): Track {
  const other = extentOf(values);
  const known = values.length > 0 && track.form === "line";
  const extent = known
    ? { low: Math.min(track.extent.low, other.low), high: Math.max(track.extent.high, other.high) }
    : track.extent;
  return { ...track, extent, beside: { values, ...where } };
}

const order: ColumnKind[] = ["value", "reward", "decision", "action", "event", "fact", "category", "text"];
/** Beside the memory: what the world says before what the subject decides. */
const factsFirst: ColumnKind[] = ["fact", "event", "decision", "value", "reward", "action", "category", "text"];

/** The tracks of some columns; what is derived has its place already while it is made. */
export function tracksOf(
  columns: readonly Column[],
  data: ReadonlyMap<string, ColumnData>,
  colours: TrackColours,
): Track[] {
  return columns
    .filter((column) => data.has(column.name) || column.derived)
    .map((column) => trackOf(column, data.get(column.name) ?? waiting, colours));
}

type TrackColours = Pick<Colours, "ofWord" | "ofColumn">;

const waiting: ColumnData = { type: "number", values: new Float32Array(0) };

/** By kind, recorded before derived; where it was comes last, for the map shows it better. */
function placeOf(column: Column, memory: boolean): number {
  const kinds = memory ? factsFirst : order;
  if (column.pose) return kinds.length;
  // Beside the memory strips come before lines: they are thin, and say when something was there.
  if (memory && column.type === "bool") return column.derived ? -3 : column.kind === "event" ? -2 : -1;
  return kinds.indexOf(column.kind) + (column.derived ? 0.5 : 0);
}

/** Elements of a short vector, drawn like columns; only time can be selected on them, for they are no columns. */
export function vectorTracks({ kinds, names, values }: Shares, colours: TrackColours): Track[] {
  return names.map((name, k) => {
    const column: Column = {
      name,
      type: "float",
      kind: "fact",
      unit: "",
      pose: "",
      label: name,
      description: "",
      categories: [],
      derived: "",
      warning: "",
      domain: "",
      pair: "",
      named_by: "",
    };
    const own = Float32Array.from({ length: values.length / kinds }, (_, step) => values[step * kinds + k]!);
    return { ...trackOf(column, { type: "number", values: own }, colours), element: true };
  });
}

/** Columns that can be drawn over time, first to last. */
export function inOrder(columns: readonly Column[], memory = false): Column[] {
  const drawn = columns.filter((column) => order.includes(column.kind) && column.type !== "objects");
  return drawn.sort((a, b) => placeOf(a, memory) - placeOf(b, memory));
}

export function trackOf(column: Column, data: ColumnData, colours: TrackColours): Track {
  const values = numbersOf(data);
  const words = data.type === "text" ? data.words : column.categories;
  const form = column.type === "bool" || isEvent(column) ? "strip" : words.length ? "words" : "line";
  const extent = form === "line" ? extentOf(values) : { low: 0, high: 1 };
  const looks = form === "words" ? words.map((word) => colours.ofWord(column, word)) : [];
  const height = form === "line" ? 28 : 19;
  return {
    column,
    title: titleOf(column),
    form,
    height,
    extent,
    values,
    words,
    looks,
    colour: colours.ofColumn(column),
  };
}

/** A word that the column does not name. */
const unknown: Look = { colour: "#a8adb5", texture: 0 };

export function drawTrack(pen: Pen, size: Size, track: Track, second = false): void {
  const colour = second && track.form === "line" ? readPalette().ink : track.colour;
  if (track.form === "strip") drawStrip(pen, size, (i) => track.values[i]! > 0, track.values.length, colour);
  else if (track.form === "words") drawWords(pen, size, track.values, (code) => track.looks[code] ?? unknown);
  else
    drawLine(pen, size, track.values, track.extent, colour, {
      area: track.extent.low >= 0 && track.column.kind === "fact" && !track.beside && !second,
      dashed: second,
    });
}

/** The part of a track that a stretch of time shows; `first` is the row of its first value. */
export function drawPart(
  pen: Pen,
  size: Size,
  { track, first }: { track: Track; first: number },
  shown: { from: number; to: number },
): void {
  const { beside } = track;
  if (!beside) return drawSource(pen, size, { track, first }, shown);
  // Lines lie over each other, the second one dashed; strips stand above each other.
  const half = track.form === "line" ? size : { ...size, height: size.height / 2 };
  drawSource(pen, half, { track, first }, shown);
  const other = { ...track, values: beside.values, beside: undefined };
  pen.save();
  if (track.form !== "line") pen.translate(0, size.height / 2);
  drawSource(pen, half, { track: other, first: beside.first }, beside.seen, true);
  pen.restore();
}

function drawSource(
  pen: Pen,
  size: Size,
  { track, first }: { track: Track; first: number },
  shown: { readonly from: number; readonly to: number },
  second = false,
): void {
  const part = cut(track.values, shown.from - first, shown.to - first);
  if (!part.values.length) return;
  const scale = size.width / (shown.to - shown.from);
  pen.save();
  pen.translate((first + part.first - shown.from) * scale, 0);
  const width = part.values.length * scale;
  drawTrack(pen, { width, height: size.height }, { ...track, values: part.values }, second);
  pen.restore();
}

export function reading(track: Track, step: number): string {
  const value = track.values[step];
  if (value === undefined || Number.isNaN(value)) return "–";
  if (track.form === "words") return track.words[value] ?? "–";
  if (track.form === "strip") return value > 0 ? "yes" : "no";
  return `${number(value)}${track.column.unit ? ` ${track.column.unit}` : ""}`;
}

/** From what to what a line is drawn, with its unit. */
export function rangeOf(track: Track): string {
  if (track.form !== "line") return "";
  const { low, high } = track.extent;
  return `${number(low)} to ${number(high)}${track.column.unit ? ` ${track.column.unit}` : ""}`;
}
