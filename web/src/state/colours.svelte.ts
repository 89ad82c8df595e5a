/** One registry of colours: every action, object, fact, factor and state has one, the same in every view. */
import type { Column } from "../api/model";
import { readPalette } from "../marks/colour";
import { fillOf, Places, type Look, type Vocabulary } from "../marks/names";
import type { Theme } from "./theme.svelte";

/** Columns made from the things in view, and the thing that each is about. */
const aboutThing = /^(?:(.+) in view|(?:angle|distance) to (.+))$/;

export class Colours {
  private places = $state.raw(new Places());

  constructor(private readonly theme: Theme) {}

  /** Take in the names that the study's recordings know. */
  learn(vocabulary: Vocabulary): void {
    this.places = new Places(vocabulary);
  }

  /** How a name of a kind looks; factors and states are named by their number, from 0. */
  look(kind: string, name: string | number): Look {
    void this.theme.dark;
    return this.places.look(kind, name, readPalette());
  }

  /** The colour of a name of a kind. */
  of(kind: string, name: string | number): string {
    return this.look(kind, name).colour;
  }

  /** The background of an element that stands for a name. */
  fill(kind: string, name: string | number): string {
    return fillOf(this.look(kind, name), readPalette().panel);
  }

  /** The kind that the words of a column are of. */
  kindOfWords(column: Pick<Column, "name" | "kind">): string {
    return this.places.kindOfWords(column);
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

/** What an element that shows a colour carries: whose colour it is. */
export const coloured = (kind: string, name: string | number): Record<`data-colour-${string}`, string> => ({
  "data-colour-kind": kind,
  "data-colour-name": String(name),
});
