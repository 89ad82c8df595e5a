/** The names that the study's recordings know: each has a place among those of its kind, the same for every view. */
import type { Column } from "../../api/model";

/** Names by kind, each list in an order that stays. */
export type Vocabulary = Readonly<Record<string, readonly string[]>>;

const answers: Vocabulary = { answer: ["no", "yes"] };

/** Names that no recording knows come after this many that it may know. */
const unknownFrom = 8;
const unknownCount = 16;

export class Names {
  private known = $state.raw(mapped({}));

  learn(vocabulary: Vocabulary): void {
    this.known = mapped(vocabulary);
  }

  /** What is numbered has its number; a name that no recording knows a place that follows from it, not a first one. */
  placeOf(kind: string, name: string | number): number {
    if (typeof name === "number") return Math.max(0, name);
    return this.known.get(kind)?.get(name) ?? unknownFrom + (hashed(name) % unknownCount);
  }

  /** The kind that the words of a column are of; a column that names things says so of those. */
  kindOfWords(column: Pick<Column, "name" | "kind">): string {
    if (column.kind === "action") return "action";
    const own = `words of ${column.name}`;
    const [words, things] = [this.known.get(own), this.known.get("object")];
    return words?.size && things && [...words.keys()].every((word) => things.has(word)) ? "object" : own;
  }
}

type Known = ReadonlyMap<string, ReadonlyMap<string, number>>;

function mapped(vocabulary: Vocabulary): Known {
  const all = Object.entries({ ...vocabulary, ...answers });
  return new Map(all.map(([kind, names]) => [kind, new Map(names.map((name, place) => [name, place]))]));
}

/** The same number for the same word, everywhere. */
function hashed(word: string): number {
  let hash = 0x811c9dc5;
  for (const letter of word) hash = Math.imul(hash ^ letter.codePointAt(0)!, 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}
