/** What is compared as one picture: the heat maps above each other, named. */
import { readPalette } from "../../marks/colour/colour";
import type { HeatPicture } from "../../marks/heatmap/heatmap";
import { heatmapPainter } from "../../marks/heatmap/painter";
import type { Size } from "../../marks/pen/pen";

const head = 24;
const left = 52;

export function pictureOf(
  parts: readonly { title: string; picture: HeatPicture | undefined }[],
  size: Size,
  told: string,
): HTMLCanvasElement | null {
  const here = parts.filter((part) => part.picture);
  if (!here.length || !size.width) return null;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [(size.width + left) * 2, (head + here.length * (size.height + 6)) * 2];
  const pen = canvas.getContext("2d")!;
  const palette = readPalette();
  pen.scale(2, 2);
  pen.fillStyle = palette.panel;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.fillStyle = palette.ink;
  pen.font = "12px system-ui, sans-serif";
  pen.textBaseline = "middle";
  pen.fillText(told, left, head / 2);
  here.forEach(({ title, picture }, i) => {
    const heat = document.createElement("canvas");
    [heat.width, heat.height] = [size.width * 2, size.height * 2];
    heatmapPainter(heat, "canvas")?.draw(picture!);
    const top = head + i * (size.height + 6);
    pen.fillText(title, 8, top + size.height / 2);
    pen.drawImage(heat, left, top, size.width, size.height);
  });
  return canvas;
}
