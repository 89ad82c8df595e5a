/** What points are coloured by: a column of the recording. */
import type { Column } from "../../../api/model";
import type { Values } from "../../../marks/cloud/colour";
import type { Names } from "../../../state/recording/names.svelte";
import type { OpenRecording } from "../../../state/recording/recording";

/** A column for every row, as colours take it. */
export async function columnValues(
  recording: OpenRecording,
  column: Column | undefined,
  names: Names,
): Promise<Values> {
  if (!column) return { type: "none" };
  const kind = names.kindOfWords(column);
  const data = await recording.columns.whole(column.name);
  if (data.type === "text") return { type: "words", codes: data.codes, words: data.words, kind };
  if (data.type === "bool") return { type: "words", codes: data.values, words: ["no", "yes"], kind: "answer" };
  if (data.type === "objects") return { type: "none" };
  if (column.categories?.length) return { type: "words", codes: data.values, words: column.categories, kind };
  return { type: "numbers", values: data.values };
}
