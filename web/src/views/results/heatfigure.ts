/** Heat as a figure for a paper: the picture, the heat over it, its title and its scale. */
import { readPalette } from "../../marks/colour/colour";
import { readDiverging } from "../../marks/heatmap/diverging";
import { turboStops } from "../../marks/heat";
import { number } from "../../state/format";

/** Width and height are at least so many pixels; small pictures are drawn larger, pixel by pixel. */
const least = 480;

export function figureOf(
  base: HTMLCanvasElement | null,
  heat: HTMLCanvasElement | null,
  said: { title: string; reach: number; signed: boolean; unit: string; positive?: "orange" | "blue" },
): HTMLCanvasElement {
  const [width, height] = [heat?.width || 1, heat?.height || 1];
  const scale = Math.max(1, Math.ceil(least / Math.max(width, height)));
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width * scale, height * scale + 70];
  const pen = canvas.getContext("2d")!;
  const palette = readPalette();
  pen.fillStyle = palette.panel;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.imageSmoothingEnabled = false;
  for (const layer of [base, heat]) if (layer) pen.drawImage(layer, 0, 26, width * scale, height * scale);
  pen.fillStyle = palette.ink;
  pen.font = "14px sans-serif";
  pen.fillText(said.title, 4, 18);
  const y = height * scale + 34;
  const bar = pen.createLinearGradient(70, 0, canvas.width - 70, 0);
  stopsOf(said.signed, said.positive).forEach((colour, i, all) => bar.addColorStop(i / (all.length - 1), colour));
  pen.fillStyle = bar;
  pen.fillRect(70, y, canvas.width - 140, 12);
  pen.fillStyle = palette.ink;
  pen.font = "12px sans-serif";
  pen.fillText(said.signed ? `−${number(said.reach)}` : "0", 4, y + 11);
  pen.textAlign = "right";
  pen.fillText(number(said.reach), canvas.width - 4, y + 11);
  pen.textAlign = "center";
  pen.fillText(said.unit, canvas.width / 2, y + 28);
  return canvas;
}

function stopsOf(signed: boolean, above?: "orange" | "blue"): string[] {
  if (!signed) return turboStops();
  const { negative, zero, positive } = readDiverging(above);
  return [negative, zero, positive].map(([r, g, b]) => `rgb(${r} ${g} ${b})`);
}
