/** How names look: each has a place among the names of its kind, and so a colour, the same wherever it is drawn. */
import { colourCount, type Palette } from "./colour";
import type { Pen } from "./pen";

/** What tells names apart that share a colour: plain, wide stripes, narrow stripes. */
export type Texture = 0 | 1 | 2;
const textureCount = 3;

export interface Look {
  readonly colour: string;
  readonly texture: Texture;
}

/** Names by kind, each list in an order that stays. */
export type Vocabulary = Readonly<Record<string, readonly string[]>>;

const answers: Vocabulary = { answer: ["no", "yes"] };

/** Kinds that stand beside each other begin with different colours, so that fewer of their names look alike. */
const begins: Readonly<Record<string, number>> = { object: 4, fact: 1 };

export class Places {
  private readonly known: ReadonlyMap<string, ReadonlyMap<string, number>>;

  constructor(vocabulary: Vocabulary = {}) {
    this.known = new Map(
      Object.entries({ ...vocabulary, ...answers }).map(([kind, names]) => [
        kind,
        new Map(names.map((name, place) => [name, place])),
      ]),
    );
  }

  /** What is numbered has its number; a name that no recording knows a place that follows from it, never a plain one. */
  of(kind: string, name: string | number): number {
    if (typeof name === "number") return Math.max(0, name);
    return this.known.get(kind)?.get(name) ?? colourCount + (hashed(name) % (colourCount * (textureCount - 1)));
  }

  look(kind: string, name: string | number, palette: Palette): Look {
    const place = this.of(kind, name);
    return {
      colour: palette.names[(place + (begins[kind] ?? 0)) % colourCount]!,
      texture: (Math.floor(place / colourCount) % textureCount) as Texture,
    };
  }

  /** The kind that the words of a column are of; a column that names things has their colours. */
  kindOfWords(column: { readonly name: string; readonly kind: string }): string {
    if (column.kind === "action") return "action";
    const own = `words of ${column.name}`;
    const [words, things] = [this.known.get(own), this.known.get("object")];
    return words?.size && things && [...words.keys()].every((word) => things.has(word)) ? "object" : own;
  }
}

/** The same number for the same word, everywhere. */
function hashed(word: string): number {
  let hash = 0x811c9dc5;
  for (const letter of word) hash = Math.imul(hash ^ letter.codePointAt(0)!, 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}

/** Pixels from one stripe to the next. */
const periods: Readonly<Record<Texture, number>> = { 0: 0, 1: 6, 2: 3 };

/** A look as the background of an element. */
export function fillOf({ colour, texture }: Look, ground: string): string {
  if (!texture) return colour;
  const period = periods[texture];
  const wide = period - (texture === 1 ? 2 : 1);
  return `repeating-linear-gradient(90deg, ${colour} 0 ${wide}px, ${ground} ${wide}px ${period}px)`;
}

/** Stripes in the colour of the ground over what was drawn, from top to bottom at each place across. */
export function drawTexture(
  pen: Pen,
  width: number,
  { texture, ground }: { texture: Texture; ground: string },
  band: (x: number) => readonly [top: number, bottom: number],
): void {
  if (!texture) return;
  pen.fillStyle = ground;
  const wide = texture === 1 ? 2 : 1;
  for (let x = periods[texture] - wide; x < width; x += periods[texture]) {
    const [top, bottom] = band(x);
    if (bottom > top) pen.fillRect(x, top, wide, bottom - top);
  }
}
