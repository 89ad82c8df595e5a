/** A heat map is drawn by WebGL2 or, where there is none, by a plain canvas: the same picture. */
import type { HeatmapPainter } from "./heatmap";
import { CanvasHeatmap } from "./canvas";
import { GlHeatmap } from "./webgl";

/** Which one to use; without a wish the quicker one. */
export type Wish = "" | "webgl" | "canvas";

/** GPUs that are none: the processor does their work, which the plain canvas does in half the time. */
const pretended = /swiftshader|llvmpipe|softpipe|software|basic render/i;
const settings: WebGLContextAttributes = { alpha: false, antialias: false, depth: false };

/** A painter for a canvas that nobody drew on; null where it is used otherwise already. */
export function heatmapPainter(canvas: HTMLCanvasElement, wish: Wish = ""): HeatmapPainter | null {
  if (wish === "webgl" || (wish === "" && hasGpu())) {
    const gl = canvas.getContext("webgl2", settings);
    if (gl) return new GlHeatmap(gl);
  }
  const pen = canvas.getContext("2d", { alpha: false });
  return pen && new CanvasHeatmap(pen);
}

let asked: boolean | null = null;

function hasGpu(): boolean {
  if (asked !== null) return asked;
  const gl = document.createElement("canvas").getContext("webgl2", settings);
  const known = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = gl && known ? String(gl.getParameter(known.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return (asked = gl !== null && !pretended.test(name));
}
