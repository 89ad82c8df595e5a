/** What marks draw with: the part of a canvas context that can also be written as SVG. */
export type Pen = Pick<
  CanvasRenderingContext2D,
  | "beginPath"
  | "closePath"
  | "moveTo"
  | "lineTo"
  | "arc"
  | "fill"
  | "stroke"
  | "fillRect"
  | "strokeRect"
  | "fillText"
  | "save"
  | "restore"
  | "translate"
  | "rotate"
  | "fillStyle"
  | "strokeStyle"
  | "lineWidth"
  | "lineJoin"
  | "setLineDash"
  | "globalAlpha"
  | "font"
  | "textAlign"
  | "textBaseline"
>;

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** A cleared canvas of the size it has on screen, sharp on dense displays; null while it has none. */
export function fit(
  canvas: HTMLCanvasElement,
): { pen: CanvasRenderingContext2D; width: number; height: number } | null {
  const { clientWidth: width, clientHeight: height } = canvas;
  const pen = canvas.getContext("2d");
  if (!pen || width === 0 || height === 0) return null;
  const dense = Math.min(3, devicePixelRatio || 1);
  const [w, h] = [Math.round(width * dense), Math.round(height * dense)];
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  pen.setTransform(dense, 0, 0, dense, 0, 0);
  pen.clearRect(0, 0, width, height);
  return { pen, width, height };
}
