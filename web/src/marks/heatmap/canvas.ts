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

// One tight loop: this runs for every pixel of every frame. Column by column, so that the values of a step stay in the
// processor's cache.
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
  const sums = new Float32Array(elements);
  const counts = new Uint16Array(elements);
  for (let x = left, at = 0; x < right; x++, at += 2) {
    const [first, last] = [bins[at]!, bins[at + 1]!];
    if (at === 0 || first !== bins[at - 2] || last !== bins[at - 1]) sumBins(sums, counts, values, table, first, last);
    for (let y = 0, pixel = x; y < height; y++, pixel += width) {
      const end = lines[2 * y + 1]!;
      let line = lines[2 * y]!;
      let element = order[line]!;
      let sum = sums[element]!;
      let count = counts[element]!;
      while (++line < end) {
        element = order[line]!;
        sum += sums[element]!;
        count += counts[element]!;
      }
      const step = (sum / count) * scale; // without any value it is not a number, which no comparison holds for
      if (step >= -packedSteps && step <= packedSteps) pixels[pixel] = colours[(step + packedSteps + 0.5) | 0]!;
      else pixels[pixel] = count === 0 ? unknown : colours[step > 0 ? 2 * packedSteps : 0]!;
    }
  }
}

/** Sums over bins and how many values they have, element by element; unknown values do not count. */
function sumBins(
  sums: Float32Array,
  counts: Uint16Array,
  values: Float32Array | Uint16Array,
  table: Float32Array | null,
  first: number,
  last: number,
): void {
  const elements = sums.length;
  sums.fill(0);
  counts.fill(0);
  for (let bin = first; bin < last; bin++) {
    const from = bin * elements;
    for (let e = 0; e < elements; e++) {
      const value = table === null ? values[from + e]! : table[values[from + e]!]!;
      if (value !== value) continue;
      sums[e]! += value;
      counts[e]! += 1;
    }
  }
}
