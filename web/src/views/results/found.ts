/** What a generic view is given, whichever lens made it. */
import type { Snippet } from "svelte";
import type { Result } from "../../api/results";
import type { Given } from "../../state/results/lenses";

/** A quantity: what it is called, and its unit. */
export interface Axis {
  readonly name: string;
  readonly unit: string;
}

export interface FoundProps {
  /** The head of the view: the name of the lens, and the question that it answers. */
  readonly title: string;
  readonly note: string;
  /** Begin of names of files. */
  readonly file: string;
  /** What is saved. */
  readonly result: Result;
  readonly controls: Snippet;
}

/** A lens that looks at one row at a time, as somebody points at it. */
export interface LiveProps extends Omit<FoundProps, "result"> {
  readonly lens: string;
  readonly parameters: Given;
}

export const titleOfAxis = ({ name, unit }: Axis): string => (unit ? `${name} (${unit})` : name);

export const axesOf = (value: unknown): Axis[] => (Array.isArray(value) ? (value as Axis[]) : []);
