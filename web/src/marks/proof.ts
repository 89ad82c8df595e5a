/** Rows of dots with their intervals, a column a cause, with the interval of the first row behind all others. */
import type { Palette } from "./colour";
import type { Pen, Size } from "./pen";

/** Places from 0 to 1 across a column. */
export interface Span {
  readonly low: number;
  readonly at: number;
  readonly high: number;
}

export interface ProofRow {
  readonly name: string;
  readonly kind: "original" | "blind" | "control" | "invisible";
  readonly cells: readonly ((Span & { readonly text: string }) | null)[];
}

export interface ProofGrid {
  readonly columns: readonly string[];
  readonly rows: readonly ProofRow[];
  /** What each column compares with. */
  readonly bands: readonly (Span | null)[];
}

const names = 170;
const head = 30;
const gap = 14;
const font = "12px system-ui, sans-serif";

export function drawProof(pen: Pen, size: Size, grid: ProofGrid, palette: Palette): void {
  const each = (size.width - names) / Math.max(1, grid.columns.length);
  const high = (size.height - head) / Math.max(1, grid.rows.length);
  pen.save();
  pen.font = font;
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  for (const [column, cause] of grid.columns.entries()) {
    const x = names + column * each;
    pen.fillStyle = palette.muted;
    pen.fillText(cause, x, head / 2);
    const band = grid.bands[column];
    pen.fillStyle = palette.soft;
    if (band)
      pen.fillRect(
        x + band.low * (each - gap),
        head,
        Math.max(1, (band.high - band.low) * (each - gap)),
        size.height - head - 6,
      );
  }
  for (const [place, row] of grid.rows.entries()) {
    pen.translate(0, head + place * high);
    drawRow(pen, { row, each, high, size }, palette);
    pen.translate(0, -head - place * high);
  }
  pen.restore();
}

function drawRow(
  pen: Pen,
  { row, each, high, size }: { row: ProofRow; each: number; high: number; size: Size },
  palette: Palette,
): void {
  const colour = { original: palette.ink, blind: palette.selected, control: palette.muted, invisible: palette.ink }[
    row.kind
  ];
  const middle = high * 0.36;
  pen.fillStyle = palette.line;
  pen.fillRect(0, 0, size.width, 1);
  pen.fillStyle = palette.ink;
  pen.fillText(row.name.length > 26 ? `${row.name.slice(0, 25)}…` : row.name, 4, high / 2);
  for (const [column, cell] of row.cells.entries()) {
    if (!cell) continue;
    const x = (t: number): number => names + column * each + t * (each - gap);
    pen.fillStyle = colour;
    pen.fillRect(x(cell.low), middle - 1, Math.max(1, x(cell.high) - x(cell.low)), 2);
    pen.beginPath();
    pen.arc(x(cell.at), middle, row.kind === "blind" ? 5 : 4, 0, 2 * Math.PI);
    pen.fill();
    pen.fillStyle = palette.ink;
    pen.fillText(cell.text, x(0), high * 0.76);
  }
}
