/** What a heat map of elements over rows shows, and which cells a pixel of it stands for. */
import type { Diverging } from "./diverging";

/** Values of consecutive bins, [bins, elements]; 16-bit floats stay packed. */
export interface HeatTile {
  readonly first: number;
  readonly rowsPerBin: number;
  /** Rows that it holds: the last bin may hold fewer. */
  readonly rows: number;
  readonly bins: number;
  readonly elements: number;
  readonly values: Float32Array | Uint16Array;
}

/** The part of a tile that is drawn: rows from and to. */
export interface HeatPiece {
  readonly tile: HeatTile;
  readonly from: number;
  readonly to: number;
}

export interface HeatPicture {
  readonly pieces: readonly HeatPiece[];
  /** Rows at the left and right edge. */
  readonly from: number;
  readonly to: number;
  /** Elements from top to bottom. */
  readonly order: Uint32Array;
  /** Places of the order at the top and bottom edge. */
  readonly top: number;
  readonly bottom: number;
  /** Values beyond ± this are drawn as strong as it. */
  readonly range: number;
  readonly scale: Diverging;
}

export interface HeatmapPainter {
  readonly kind: "webgl" | "canvas";
  /** Draws at the canvas's own pixels. */
  draw(picture: HeatPicture): void;
  /** Takes back what the GPU holds. */
  dispose(): void;
}

/** Pixels of a piece: those whose middle lies in it. */
export function pixelsOf(piece: HeatPiece, { from, to }: HeatPicture, width: number): [number, number] {
  const x = (row: number): number => ((row - from) / (to - from)) * width;
  const inside = (pixel: number): number => Math.max(0, Math.min(width, pixel));
  return [inside(Math.ceil(x(piece.from) - 0.5)), inside(Math.ceil(x(piece.to) - 0.5))];
}

/** Cells that a pixel shows: the one under its middle, or all that begin in it. */
export function cellsOf(begin: number, end: number, count: number): [number, number] {
  if (end - begin < 1) {
    const cell = Math.max(0, Math.min(count - 1, Math.floor((begin + end) / 2)));
    return [cell, cell + 1];
  }
  const first = Math.max(0, Math.min(count - 1, Math.floor(begin + nearly)));
  return [first, Math.max(first + 1, Math.min(count, Math.floor(end + nearly)))];
}

/** Rounding errors must not move a cell to the pixel beside. */
const nearly = 1e-3;
