/** One registry of colours: every action, object, fact, factor and state has one, the same in every view. */
import type { Column } from "../../api/model";
import { readPalette } from "../../marks/colour/colour";
import { fillOf, lookAt, type Look } from "../../marks/colour/names";
import { isReal, isSim } from "../../state/recording/domains";
import type { Names } from "../../state/recording/names.svelte";
import { useSession } from "../../state/session.svelte";
import type { Theme } from "../../state/theme.svelte";

/** Columns made from the things in view, and the thing that each is about. */
const aboutThing = /^(?:(.+) in view|(?:angle|distance) to (.+))$/;

export class Colours {
  constructor(
    private readonly names: Names,
    private readonly theme: Theme,
  ) {}

  /** How a name of a kind looks; factors and states are named by their number, from 0. */
  look(kind: string, name: string | number): Look {
    void this.theme.dark;
    const palette = readPalette();
    // Simulated, real and true have the same three colours everywhere.
    if (kind === "domain" && typeof name === "string" && (isSim(name) || isReal(name)))
      return { colour: isSim(name) ? palette.sim : palette.real, texture: 0 };
    return lookAt(kind, this.names.placeOf(kind, name), palette);
  }

  /** The colour of a name of a kind. */
  of(kind: string, name: string | number): string {
    return this.look(kind, name).colour;
  }

  /** The background of an element that stands for a name. */
  fill(kind: string, name: string | number): string {
    return fillOf(this.look(kind, name), readPalette().panel);
  }

  /** What an element that stands for a name needs in its style: `--c`, its colour, and `--fill`, with its texture. */
  style(kind: string, name: string | number): string {
    return `--c: ${this.of(kind, name)}; --fill: ${this.fill(kind, name)}`;
  }

  /** The same for a column over time. */
  styleOfColumn(column: Pick<Column, "name" | "kind" | "derived">): string {
    const colour = this.ofColumn(column);
    return `--c: ${colour}; --fill: ${colour}`;
  }

  /** How a word of a column looks. */
  ofWord(column: Pick<Column, "name" | "kind">, word: string): Look {
    return this.look(this.names.kindOfWords(column), word);
  }

  /** A column over time: what it expected and got look the same everywhere, what is about a thing looks like it. */
  ofColumn(column: Pick<Column, "name" | "kind" | "derived">): string {
    void this.theme.dark;
    if (column.kind === "value") return readPalette().accent;
    if (column.kind === "reward") return readPalette().truth;
    const [, seen, near] = (column.derived.startsWith("objects") && aboutThing.exec(column.name)) || [];
    const thing = seen ?? near;
    return thing ? this.of("object", thing) : this.of("fact", column.name);
  }
}

export function useColours(): Colours {
  const { names, theme } = useSession();
  return new Colours(names, theme);
}

/** What an element that shows a colour carries: whose colour it is. */
export const coloured = (kind: string, name: string | number): Record<`data-colour-${string}`, string> => ({
  "data-colour-kind": kind,
  "data-colour-name": String(name),
});
