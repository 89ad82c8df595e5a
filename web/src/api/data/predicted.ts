/** Columns of predictions stand beside those of the recording under names of their own: selections can go by them. */
const prefix = "predictions/";

export const predictedName = (prediction: string, column: string): string => `${prefix}${prediction}/${column}`;

/** Which prediction a name is of, and which of its columns; null for a column of the recording. */
export function readPredictedName(name: string): { prediction: string; column: string } | null {
  if (!name.startsWith(prefix)) return null;
  const cut = name.indexOf("/", prefix.length);
  return cut < 0 ? null : { prediction: name.slice(prefix.length, cut), column: name.slice(cut + 1) };
}

/** Names by the prediction that they are of; those of the recording under the empty one. */
export function byPrediction(names: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const name of names) {
    const prediction = readPredictedName(name)?.prediction ?? "";
    found.set(prediction, [...(found.get(prediction) ?? []), name]);
  }
  return found;
}
