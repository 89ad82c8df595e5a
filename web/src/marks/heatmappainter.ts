/** A heat map is drawn by WebGL2 or, where there is none, by a plain canvas: the same picture. */
import type { HeatmapPainter } from "./heatmap";
import { CanvasHeatmap } from "./heatmapcanvas";
import { GlHeatmap } from "./heatmapgl";

/** The quickest painter that this browser has; null where the canvas is used otherwise already. */
export function heatmapPainter(canvas: HTMLCanvasElement, plain = false): HeatmapPainter | null {
  if (!plain) {
    const gl = canvas.getContext("webgl2", { alpha: false, antialias: false, depth: false });
    if (gl) return new GlHeatmap(gl);
  }
  const pen = canvas.getContext("2d", { alpha: false });
  return pen && new CanvasHeatmap(pen);
}
