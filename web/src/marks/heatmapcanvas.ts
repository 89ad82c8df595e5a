/** The heat map without a GPU: the same cells, averaged and coloured one pixel after the other. */
import { packedScale, packedSteps, type Diverging } from "./diverging";
import { halves } from "./half";
import { cellsOf, pixelsOf, type HeatmapPainter, type HeatPicture, type HeatPiece } from "./heatmap";

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
    const lines = picture.order.length ? spans(picture.top, picture.bottom, height, picture.order.length) : null;
    if (lines)
      for (const piece of picture.pieces)
        paintPiece({ pixels, width, height, colours: this.colours }, piece, picture, lines);
    this.pen.putImageData(this.image, 0, 0);
  }

  dispose(): void {
    this.image = null;
  }
}

interface Surface {
  readonly pixels: Uint32Array;
  readonly width: number;
  readonly height: number;
  readonly colours: Uint32Array;
}

/** First and last cell of each pixel along an axis, one after the other. */
function spans(from: number, to: number, pixels: number, count: number): Int32Array {
  const out = new Int32Array(2 * pixels);
  const each = (to - from) / pixels;
  for (let pixel = 0; pixel < pixels; pixel++)
    out.set(cellsOf(from + pixel * each, from + (pixel + 1) * each, count), 2 * pixel);
  return out;
}

// One tight loop: this runs for every pixel of every frame.
function paintPiece(surface: Surface, piece: HeatPiece, picture: HeatPicture, lines: Int32Array): void {
  const { pixels, width, height, colours } = surface;
  const { tile } = piece;
  const { values, elements } = tile;
  const { order } = picture;
  const [left, right] = pixelsOf(piece, picture, width);
  const bin = (pixel: number): number =>
    (picture.from + (pixel / width) * (picture.to - picture.from) - tile.first) / tile.rowsPerBin;
  const bins = spans(bin(left), bin(right), right - left, tile.bins);
  const table = values instanceof Uint16Array ? halves() : null;
  const scale = packedSteps / picture.range;
  const unknown = colours[2 * packedSteps + 1]!;
  for (let y = 0; y < height; y++) {
    const firstLine = lines[2 * y]!;
    const lastLine = lines[2 * y + 1]!;
    for (let x = left, at = 0; x < right; x++, at += 2) {
      let sum = 0;
      let count = 0;
      for (let line = firstLine; line < lastLine; line++) {
        const element = order[line]!;
        for (let b = bins[at]!; b < bins[at + 1]!; b++) {
          const raw = values[b * elements + element]!;
          const value = table === null ? raw : table[raw]!;
          if (value === value) {
            sum += value;
            count++;
          }
        }
      }
      if (count === 0) {
        pixels[y * width + x] = unknown;
        continue;
      }
      let step = (sum / count) * scale;
      if (step > packedSteps) step = packedSteps;
      else if (step < -packedSteps) step = -packedSteps;
      pixels[y * width + x] = colours[(step + packedSteps + 0.5) | 0]!;
    }
  }
}
