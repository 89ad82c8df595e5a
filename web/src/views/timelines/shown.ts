/** Which lines are drawn before anybody chose, and which somebody chose. */
import type { Column } from "../../api/model";

export interface Choice {
  /** Shown although they usually are not, and the other way round. */
  readonly also: ReadonlySet<string>;
  readonly hide: ReadonlySet<string>;
}

type Names = readonly string[] | null;

export const choiceFrom = (also: Names, hide: Names): Choice => ({
  also: new Set(also ?? []),
  hide: new Set(hide ?? []),
});

const rare = /^(distance to |memory jumps)/;
const angles = /^angle to /;

/**
 * What was recorded is shown, and what people made themselves. Beside the memory, where it was is left to the map, and
 * of what is derived all but what says nearly the same again: distances, and angles where there are many kinds of things.
 */
export function isDefault(column: Column, all: readonly Column[], own: ReadonlySet<string>, memory: boolean): boolean {
  if (own.has(column.name)) return true;
  if (!column.derived) return !memory || !column.pose;
  if (!memory || rare.test(column.name) || column.name === "loop") return false;
  return !angles.test(column.name) || all.filter((other) => angles.test(other.name)).length <= 2;
}

export const isShown = (name: string, usual: boolean, { also, hide }: Choice): boolean =>
  usual ? !hide.has(name) : also.has(name);

export function toggled(name: string, usual: boolean, choice: Choice): Choice {
  const key = usual ? "hide" : "also";
  const next = new Set(choice[key]);
  if (!next.delete(name)) next.add(name);
  return { ...choice, [key]: next };
}
