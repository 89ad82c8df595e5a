/** A heat map of numbers that are here already, for the part of the frame that asks a store for tiles. */
import type { HeatSource } from "../../api/data/tiles";
import type { HeatTile } from "../../marks/heatmap/heatmap";

export function sourceOf(tile: HeatTile): HeatSource {
  return {
    cover: (_grid, from, to) => [{ tile, from: Math.max(from, tile.first), to: Math.min(to, tile.first + tile.rows) }],
    complete: () => true,
    onArrival: () => () => {},
  };
}
