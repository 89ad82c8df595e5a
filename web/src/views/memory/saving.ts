/** The memory timeline as a picture with its names and legend, and as a table of what is drawn. */
import { readPalette } from "../../marks/colour/colour";
import { divergingAt } from "../../marks/heatmap/diverging";
import { valueAt } from "../../marks/heatmap/half";
import { cellsOf, type HeatPicture } from "../../marks/heatmap/heatmap";
import { heatmapPainter } from "../../marks/heatmap/painter";
import { drawEdge, type Edge } from "../../marks/time/lines";
import { number } from "../../state/format";

const gutter = 118;
const legend = 70;
const axis = 22;

/** Drawn anew without the GPU, with everything that is needed to read it. */
export function pictureOf(
  picture: HeatPicture,
  edge: Edge,
  size: { width: number; height: number },
  start: number,
): HTMLCanvasElement {
  const heat = document.createElement("canvas");
  [heat.width, heat.height] = [Math.max(1, size.width * 2), Math.max(1, size.height * 2)];
  heatmapPainter(heat, "canvas")?.draw(picture);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [(gutter + size.width + legend) * 2, (size.height + axis) * 2];
  const pen = canvas.getContext("2d")!;
  const palette = readPalette();
  pen.scale(2, 2);
  pen.fillStyle = palette.panel;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  drawEdge(pen, { width: gutter, height: size.height }, edge, palette);
  pen.drawImage(heat, gutter, 0, size.width, size.height);
  pen.font = "11px ui-monospace, Menlo, monospace";
  pen.fillStyle = palette.muted;
  pen.textBaseline = "middle";
  for (const [share, align] of [
    [0, "left"],
    [1, "right"],
  ] as const) {
    pen.textAlign = align;
    const step = Math.round(picture.from + share * (picture.to - picture.from) - start) - share;
    pen.fillText(number(step), gutter + share * size.width, size.height + axis / 2);
  }
  paintLegend(pen, picture, gutter + size.width + 12, palette.muted);
  return canvas;
}

function paintLegend(pen: CanvasRenderingContext2D, { scale, range }: HeatPicture, x: number, ink: string): void {
  const height = 100;
  for (let y = 0; y < height; y++) {
    pen.fillStyle = `rgb(${divergingAt(scale, 1 - (2 * y) / (height - 1), 1).join(",")})`;
    pen.fillRect(x, y, 11, 1);
  }
  pen.fillStyle = ink;
  pen.textAlign = "left";
  [`+${number(range)}`, "0", `−${number(range)}`].forEach((text, i) =>
    pen.fillText(text, x + 16, 6 + (i * (height - 12)) / 2),
  );
}

const maxCells = 2e6;

/** One line per element that is drawn, one column per bin; the head says the first step of each. */
export function tableOf(
  picture: HeatPicture,
  label: (element: number) => string,
  { start, one }: { readonly start: number; readonly one: string },
): (string | number)[][] {
  const all = [...new Set(picture.pieces.map(({ tile }) => tile))];
  const finest = Math.min(...all.map((tile) => tile.rowsPerBin));
  const tiles = all.filter((tile) => tile.rowsPerBin === finest).toSorted((a, b) => a.first - b.first);
  const cells = tiles.flatMap((tile) => {
    const [first, last] = [picture.from - tile.first, picture.to - tile.first].map((row) => row / tile.rowsPerBin);
    if (last! <= 0 || first! >= tile.bins) return [];
    const [from] = cellsOf(first!, first! + 1, tile.bins);
    const to = Math.min(tile.bins, Math.ceil(last!));
    return Array.from({ length: to - from }, (_, i) => ({ tile, bin: from + i }));
  });
  const elements = [...picture.order.slice(Math.floor(picture.top), Math.ceil(picture.bottom))];
  const fitting = elements.slice(0, Math.max(1, Math.floor(maxCells / Math.max(1, cells.length))));
  const head = cells.map(({ tile, bin }) => tile.first + bin * tile.rowsPerBin - start);
  return [
    [finest > 1 ? `mean of ${finest} ${one}s from` : one, ...head],
    ...fitting.map((element) => [
      label(element),
      ...cells.map(({ tile, bin }) => valueAt(tile.values, bin * tile.elements + element)),
    ]),
  ];
}
