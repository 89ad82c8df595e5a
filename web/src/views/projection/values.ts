/** What points are coloured by: a column of the recording, or the states that the strategy chart found. */
import type { ResultLine } from "../../api/results";
import type { Values } from "../../marks/cloudcolour";
import type { OpenRecording } from "../../state/recording";
import type { Results } from "../../state/results.svelte";

export async function valuesOf(
  recording: OpenRecording,
  name: string,
  results: Results,
  chart: ResultLine | undefined,
): Promise<Values> {
  if (name === "strategy state" && chart) return statesOf(results, chart);
  const column = recording.column(name);
  if (!column) return { type: "none" };
  const data = await recording.columns.whole(name);
  if (data.type === "text") return { type: "words", codes: data.codes, words: data.words };
  if (data.type === "bool") return { type: "words", codes: data.values, words: ["no", "yes"] };
  if (data.type === "objects") return { type: "none" };
  if (column.categories?.length) return { type: "words", codes: data.values, words: column.categories };
  return { type: "numbers", values: data.values };
}

async function statesOf(results: Results, chart: ResultLine): Promise<Values> {
  const [whole, states] = await Promise.all([results.whole(chart.id), results.array(chart.id, "state")]);
  const told = whole.value as { states?: { name?: string }[] };
  return { type: "words", codes: states.values, words: (told.states ?? []).map((s, i) => `${i + 1} ${s.name ?? ""}`) };
}
