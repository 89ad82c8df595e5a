/** What stands along a time axis: steps of the episode, or rows where all episodes are shown. */
import { scaleLinear } from "d3-scale";
import { count } from "../../../state/format";
import type { TimeWindow } from "../../../state/time/window.svelte";

export type Seen = Pick<TimeWindow, "from" | "to" | "start" | "scope">;

export interface Tick {
  readonly text: string;
  readonly x: number;
}

/** Whole steps along the axis; each stands below the middle of its step. */
export function ticksOf(seen: Seen, width: number, margin = 0): Tick[] {
  const scale = scaleLinear([seen.from - seen.start, seen.to - seen.start], [0, width]);
  const whole = scale.ticks(Math.max(2, Math.floor(width / 90))).filter(Number.isInteger);
  const all = whole.map((tick) => ({ text: count(tick), x: scale(tick + 0.5) }));
  return all.filter(({ x }) => x >= 0 && x <= width - margin);
}

/** What the axis counts: over several episodes a number is no step of any of them. */
export const unitOf = ({ scope }: Pick<Seen, "scope">, many: string | undefined): string =>
  scope === "recording" ? "rows" : (many ?? "steps");
