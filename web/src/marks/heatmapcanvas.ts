/** The heat map without a GPU: the same cells, averaged and coloured one pixel after the other. */
import { packedIndex, packedScale, type Diverging } from "./diverging";
import { halves } from "./half";
import { cellsOf, pixelsOf, type HeatmapPainter, type HeatPicture, type HeatTile } from "./heatmap";

export class CanvasHeatmap implements HeatmapPainter {
  readonly kind = "canvas";
  private image: ImageData | null = null;
  private colours: Uint32Array = new Uint32Array(0);
  private scale: Diverging | null = null;

  constructor(private readonly pen: CanvasRenderingContext2D) {}

  draw(picture: HeatPicture): void {
    const { width, height } = this.pen.canvas;
    if (!width || !height) return;
    if (this.image?.width !== width || this.image.height !== height)
      this.image = this.pen.createImageData(width, height);
    if (this.scale !== picture.scale) {
      this.scale = picture.scale;
      this.colours = packedScale(picture.scale);
    }
    const pixels = new Uint32Array(this.image.data.buffer);
    pixels.fill(this.colours.at(-1)!);
    for (const tile of picture.tiles) paintTile(pixels, { width, height }, tile, picture, this.colours);
    this.pen.putImageData(this.image, 0, 0);
  }

  dispose(): void {
    this.image = null;
  }
}

function paintTile(
  pixels: Uint32Array,
  size: { width: number; height: number },
  tile: HeatTile,
  picture: HeatPicture,
  colours: Uint32Array,
): void {
  const [left, right] = pixelsOf(tile, picture, size.width);
  if (left >= right) return;
  const columns = Array.from({ length: right - left }, (_, i) => {
    const row = (pixel: number): number => picture.from + (pixel / size.width) * (picture.to - picture.from);
    const bin = (pixel: number): number => (row(pixel) - tile.first) / tile.rowsPerBin;
    return cellsOf(bin(left + i), bin(left + i + 1), tile.bins);
  });
  const { order, top, bottom, range } = picture;
  const line = (pixel: number): number => top + (pixel / size.height) * (bottom - top);
  for (let y = 0; y < size.height; y++) {
    const lines = cellsOf(line(y), line(y + 1), order.length);
    for (let x = left; x < right; x++)
      pixels[y * size.width + x] = colours[packedIndex(mean(tile, order, columns[x - left]!, lines), range)]!;
  }
}

function mean(
  { values, elements }: HeatTile,
  order: Uint32Array,
  [firstBin, lastBin]: readonly [number, number],
  [firstLine, lastLine]: readonly [number, number],
): number {
  const table = values instanceof Uint16Array ? halves() : null;
  let sum = 0;
  let count = 0;
  for (let line = firstLine; line < lastLine; line++) {
    const element = order[line]!;
    for (let bin = firstBin; bin < lastBin; bin++) {
      const raw = values[bin * elements + element]!;
      const value = table ? table[raw]! : raw;
      if (value !== value) continue;
      sum += value;
      count++;
    }
  }
  return count ? sum / count : NaN;
}
