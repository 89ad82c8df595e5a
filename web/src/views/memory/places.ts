/** Where things lie in the memory timeline. */
import type { Grid } from "../../api/data/tiles";
import { halves } from "../../marks/heatmap/half";
import type { HeatTile } from "../../marks/heatmap/heatmap";
import type { OpenRecording } from "../../state/recording/recording";
import type { TimeWindow } from "../../state/time/window.svelte";

/** Longer episodes share their tiles with the whole recording. */
const longest = 65536;

/** The rows that tiles divide: those of an episode, so that no mean reaches over its border. */
export function gridOf(recording: OpenRecording, { start, stop }: Pick<TimeWindow, "start" | "stop">): Grid {
  const { rows } = recording.info;
  if (stop - start > longest || (start === 0 && stop === rows)) return { start: 0, stop: rows, whole: true };
  return { start, stop, whole: false };
}

/** The place of the order at a height, within what there is. */
export function lineAt(
  y: number,
  height: number,
  { top, bottom, shown }: { top: number; bottom: number; shown: readonly number[] },
): number {
  const line = Math.floor(top + (y / Math.max(1, height)) * (bottom - top));
  return Math.max(0, Math.min(shown.length - 1, line));
}

const known = new WeakMap<HeatTile, number>();

/** The largest value of a tile, whatever the sign. */
export function largestOf(tile: HeatTile): number {
  let most = known.get(tile);
  if (most !== undefined) return most;
  most = 0;
  const table = tile.values instanceof Uint16Array ? halves() : null;
  for (let i = 0; i < tile.values.length; i++) {
    const size = Math.abs(table ? table[tile.values[i]!]! : tile.values[i]!);
    if (size > most && size < Infinity) most = size;
  }
  known.set(tile, most);
  return most;
}
