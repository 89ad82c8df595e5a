/** The strategy chart as the lens tells it. */
import { percent } from "../../state/format";
import type { ResultRows } from "../../state/results/rows";

export interface StateFact {
  readonly fact: string;
  /** How often it holds in this state, and how often at all. */
  readonly share: number;
  readonly base: number;
  readonly lift: number;
}

export interface State {
  readonly state: number;
  /** Part of the time. */
  readonly share: number;
  readonly rows: number;
  readonly name: string;
  readonly facts: readonly StateFact[];
  readonly place: readonly [number, number];
  /** How long a visit lasts. */
  readonly mean_steps: number;
  /** What it does there, the most frequent first. */
  readonly actions: readonly { readonly action: string; readonly share: number }[];
}

export interface Transition {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

export interface Strategy {
  readonly array: string;
  readonly states: readonly State[];
  readonly transitions: readonly Transition[];
}

export const nameOf = (state: State): string => {
  // One that no fact names is called by its number, counted as it is drawn.
  const named = state.name && !/^state \d+$/.test(state.name);
  return (named ? state.name : `state ${state.state + 1}`).replaceAll("_", " ");
};

/** `health low: 81 % here, 12 % at all` */
export const factLine = (fact: StateFact): string =>
  `${fact.fact.replaceAll("_", " ")}: ${percent(fact.share)} here, ${percent(fact.base)} at all`;

/** Where it goes from a state: the part of all ways out, most first. */
export function waysOut(strategy: Strategy, state: number): { to: number; share: number }[] {
  const out = strategy.transitions.filter((way) => way.from === state && way.to !== state);
  const all = out.reduce((sum, way) => sum + way.count, 0) || 1;
  return out.map((way) => ({ to: way.to, share: way.count / all })).sort((a, b) => b.share - a.share);
}

/** The rows of a state as runs. */
export function runsOf(states: ArrayLike<number>, wanted: number, rows: ResultRows): [number, number][] {
  const runs: [number, number][] = [];
  for (let i = 0; i < states.length; i++) {
    if (states[i] !== wanted) continue;
    const [row, last] = [rows.rowOf(i), runs.at(-1)];
    if (last?.[1] === row) last[1]++;
    else runs.push([row, row + 1]);
  }
  return runs;
}
