/** The same name has the same colour wherever it is drawn. */
import { category, type Palette } from "./colour";

/** Names in the order of the alphabet take colours one after another, so that a few names never share one. */
export function coloursByName(names: Iterable<string>, palette: Palette): (name: string) => string {
  const sorted = [...new Set(names)].sort();
  const order = [2, 3, 4, 5, 0, 1, 6, 10, 8, 7, 11, 9];
  const known = new Map(sorted.map((name, index) => [name, category(palette, order[index % 12]!)]));
  return (name) => known.get(name) ?? palette.muted;
}
