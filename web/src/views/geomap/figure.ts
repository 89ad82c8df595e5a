/** Maps of errors beside each other, with their medians and one scale, as one picture. */
import type { Legend } from "../../marks/cloud/colour";
import { readPalette } from "../../marks/colour/colour";
import { number } from "../../state/format";

export function figureOf(
  maps: readonly { layers: readonly HTMLCanvasElement[]; words: string }[],
  legend: Legend,
  title: string,
): HTMLCanvasElement {
  const [width, height] = [maps[0]?.layers[0]?.width ?? 1, maps[0]?.layers[0]?.height ?? 1];
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.max(1, maps.length) * width, height + 70];
  const pen = canvas.getContext("2d")!;
  const palette = readPalette();
  pen.fillStyle = palette.panel;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.font = "14px sans-serif";
  maps.forEach(({ layers, words }, i) => {
    pen.fillStyle = palette.ink;
    pen.fillText(words, i * width + 8, 20, width - 16);
    for (const layer of layers) pen.drawImage(layer, i * width, 30);
  });
  if (legend.type !== "ramp") return canvas;
  const y = height + 40;
  const ramp = pen.createLinearGradient(90, 0, canvas.width - 90, 0);
  legend.stops.forEach((colour, i) => ramp.addColorStop(i / (legend.stops.length - 1), colour));
  pen.fillStyle = ramp;
  pen.fillRect(90, y, canvas.width - 180, 10);
  pen.fillStyle = palette.ink;
  pen.fillText(number(legend.low), 8, y + 10);
  pen.textAlign = "right";
  pen.fillText(number(legend.high), canvas.width - 8, y + 10);
  pen.textAlign = "center";
  pen.fillText(title, canvas.width / 2, y + 26);
  return canvas;
}
