/** What the lens “visualise” visualised, read so that it can be drawn. */
import type { LensInfo } from "../../../api/model";
import type { ResultLine } from "../../../api/results";
import type { ReceptiveField } from "../../../marks/receptivefield";
import type { Example } from "../../../state/vision/factors";
import { number, percent } from "../../../state/format";

/** One picture: what it was visualised for, and how far it got beside what was seen. */
export interface VisualisedPicture {
  readonly kind: "factor" | "channel" | "row";
  readonly unit: number;
  readonly reached: number;
  readonly baseline: number;
  readonly strongest: Example;
  /** 0 is the baseline response, 1 that of the strongest observation. */
  readonly times: number;
  /** No observation comes near. */
  readonly beyond: boolean;
}

export interface Visualisation {
  readonly layer: string;
  readonly objective: "cell" | "layer" | "caricature";
  readonly input: string;
  readonly grid: readonly [number, number];
  /** Pixels along a side that a cell sees. */
  readonly reach: number;
  readonly receptive_field: ReceptiveField;
  /** How many rows it was compared with. */
  readonly rows: number;
  readonly pictures: readonly VisualisedPicture[];
}

const asked = (line: ResultLine): Record<string, unknown> =>
  (line.arguments.parameters ?? {}) as Record<string, unknown>;

/** Whether a result shows all factors of another one. */
export const visualisesFactors =
  (factors: string | undefined) =>
  (line: ResultLine): boolean =>
    Boolean(factors) &&
    asked(line).factors === factors &&
    asked(line).unit === -1 &&
    asked(line).objective !== "caricature";

/** Whether a result shows one channel of a layer. */
export const visualisesChannel =
  (channel: number, layer: string) =>
  (line: ResultLine): boolean =>
    !asked(line).factors &&
    asked(line).unit === channel &&
    asked(line).layer === layer &&
    asked(line).objective !== "caricature";

/** A caricature is of a row, not of a factor or a channel: it has a card of its own. */
export function withoutCaricature(lens: LensInfo | undefined): LensInfo | undefined {
  const parameters = lens?.parameters?.map((parameter) =>
    parameter.name === "objective"
      ? { ...parameter, choices: (parameter.choices ?? []).filter((choice) => choice !== "caricature") }
      : parameter,
  );
  return lens && { ...lens, parameters: parameters ?? [] };
}

/** Whether a result is the caricature of a row at a layer. */
export const caricatures =
  (row: number, layer: string) =>
  (line: ResultLine): boolean =>
    asked(line).objective === "caricature" && asked(line).row === row && asked(line).layer === layer;

/** Where a picture is looked at: where the middle cell looks, or all of it. */
export function partOf(visualised: Pick<Visualisation, "objective" | "grid" | "reach" | "receptive_field">): {
  at: { y: number; x: number };
  receptive_field: ReceptiveField;
  reach: number;
} | null {
  if (visualised.objective !== "cell") return null;
  const [height, width] = visualised.grid;
  return {
    at: { y: Math.floor(height / 2), x: Math.floor(width / 2) },
    receptive_field: visualised.receptive_field,
    reach: visualised.reach,
  };
}

/** How far it got, in short and in a sentence. */
export function timesOf({ times, beyond, kind }: VisualisedPicture): { short: string; long: string } {
  const short = `${times.toFixed(1)}×`;
  const than = kind === "row" ? "what it exaggerates" : "the strongest observation";
  const long =
    times < 0.995
      ? `It gets ${number(times)} of the way from the baseline response to ${than}.`
      : `Its response is ${number(times)} times that to ${than}, counted from the baseline one.`;
  return { short, long: beyond ? `${long} No observation comes near.` : long };
}

/** How far it got, in few words. */
export function briefOf({ value, picture }: { value: Visualisation; picture: VisualisedPicture }): string {
  const { times, beyond, kind } = picture;
  const than = kind === "row" ? "what it exaggerates" : `the strongest of ${value.rows} seen`;
  const far = times < 0.995 ? `${percent(Math.max(0, times))} of the way to ${than}` : `${number(times)} × ${than}`;
  return beyond ? `${far}: none comes near` : far;
}

/** Everything there is to say about a picture. */
export function wordsOf({ value, picture }: { value: Visualisation; picture: VisualisedPicture }): string {
  const { reached, strongest, baseline } = picture;
  const numbers = `${number(reached)} visualised, ${number(strongest.amount)} the strongest of ${value.rows} seen, ${number(baseline)} the baseline`;
  return `${timesOf(picture).long} (${numbers}.)`;
}
