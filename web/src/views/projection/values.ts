/** What points are coloured by: a column of the recording, or the states that the strategy chart found. */
import type { ArraySpec } from "../../api/model";
import type { ResultLine } from "../../api/results";
import type { ArraySlice } from "../../api/service";
import type { Values } from "../../marks/cloud/colour";
import type { Names } from "../../state/recording/names.svelte";
import type { OpenRecording } from "../../state/recording/recording";
import type { Results } from "../../state/results/results.svelte";
import { columnValues } from "../frame/cloud/values";

/** The names of what is no column. */
export const chartHue = "strategy state";
export const elementHue = "chosen element";
/** A memory larger than this is not fetched whole to colour by one of its elements. */
const maxBytes = 48e6;

export interface Others {
  readonly results: Results;
  readonly names: Names;
  readonly chart: ResultLine | undefined;
  /** The element that is chosen in the memory. */
  readonly element: number | undefined;
  readonly memory: ArraySpec | null;
}

export const canFetch = (recording: OpenRecording, spec: ArraySpec | null): boolean =>
  spec !== null && recording.info.rows * sizeOf(spec) * 4 <= maxBytes;

export async function valuesOf(recording: OpenRecording, name: string, others: Others): Promise<Values> {
  const { results, names, chart, element, memory } = others;
  if (name === chartHue && chart) return statesOf(results, chart);
  if (name === elementHue && memory && element !== undefined) return elementOf(recording, memory, element);
  return columnValues(recording, recording.column(name), names);
}

async function statesOf(results: Results, chart: ResultLine): Promise<Values> {
  const [whole, states] = await Promise.all([results.whole(chart.id), results.array(chart.id, "state")]);
  const told = whole.value as { states?: { name?: string }[] };
  const words = (told.states ?? []).map((s, i) => `${i + 1} ${s.name ?? ""}`);
  return { type: "words", codes: states.values, words, kind: "state", numbered: true };
}

const sizeOf = (spec: ArraySpec): number => spec.shape.reduce((product, n) => product * n, 1);

const memories = new WeakMap<OpenRecording, { name: string; whole: Promise<ArraySlice> }>();

async function elementOf(recording: OpenRecording, spec: ArraySpec, element: number): Promise<Values> {
  let known = memories.get(recording);
  if (known?.name !== spec.name) {
    const range = { start: 0, stop: recording.info.rows };
    known = { name: spec.name, whole: recording.service.array(spec.name, range) };
    memories.set(recording, known);
  }
  const { values } = await known.whole;
  const size = sizeOf(spec);
  return {
    type: "numbers",
    values: Float32Array.from({ length: recording.info.rows }, (_, row) => values[row * size + element]!),
  };
}
