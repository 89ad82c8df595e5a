/** Rows of dots with their intervals, a column a cause, with the interval of the first row behind all others. */
import type { Palette } from "./colour/colour";
import type { Pen, Size } from "./pen/pen";

/** Places from 0 to 1 across a column. */
export interface Span {
  readonly low: number;
  readonly at: number;
  readonly high: number;
}

export interface TestCell extends Span {
  readonly text: string;
  /** How many times as often, and whether the two are told apart. */
  readonly times: string;
  readonly apart: boolean;
  /** Whether the scale begins at none, so that lengths can be compared. */
  readonly stem: boolean;
}

export interface TestRow {
  readonly name: string;
  readonly kind: "original" | "ablated" | "control" | "invisible";
  readonly cells: readonly (TestCell | null)[];
}

export interface TestGrid {
  readonly title: string;
  readonly columns: readonly string[];
  /** Ends of each column's scale. */
  readonly ends: readonly (readonly [string, string])[];
  readonly rows: readonly TestRow[];
  /** What each column compares with. */
  readonly bands: readonly (Span | null)[];
}

const names = 190;
const head = 58;
const foot = 22;
const gap = 22;
const pad = 14;
const font = "12px system-ui, sans-serif";
const bold = "bold 12px system-ui, sans-serif";

export function sizeOfTest(grid: TestGrid): Size {
  return { width: names + pad + 130 * grid.columns.length, height: head + foot + 46 * grid.rows.length };
}

export function drawTest(pen: Pen, size: Size, grid: TestGrid, palette: Palette): void {
  const each = (size.width - names - pad) / Math.max(1, grid.columns.length);
  const high = (size.height - head - foot) / Math.max(1, grid.rows.length);
  pen.save();
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  pen.font = bold;
  pen.fillStyle = palette.ink;
  pen.fillText(grid.title, pad, 18);
  pen.font = font;
  for (const [column, cause] of grid.columns.entries()) {
    const x = names + column * each;
    const [low, end] = grid.ends[column] ?? ["", ""];
    const band = grid.bands[column];
    pen.fillStyle = palette.line;
    if (band)
      pen.fillRect(
        x + band.low * (each - gap),
        head,
        Math.max(2, (band.high - band.low) * (each - gap)),
        size.height - head - foot,
      );
    pen.fillStyle = palette.muted;
    pen.fillText(cause, x, head - 12);
    pen.fillText(low, x, size.height - foot / 2);
    pen.textAlign = "right";
    pen.fillText(end, x + each - gap, size.height - foot / 2);
    pen.textAlign = "left";
  }
  for (const [place, row] of grid.rows.entries()) {
    pen.save();
    pen.translate(0, head + place * high);
    drawRow(pen, { row, each, high, width: size.width }, palette);
    pen.restore();
  }
  pen.restore();
}

function drawRow(
  pen: Pen,
  { row, each, high, width }: { row: TestRow; each: number; high: number; width: number },
  palette: Palette,
): void {
  const colours = { original: palette.ink, ablated: palette.selected, control: palette.muted, invisible: palette.ink };
  pen.fillStyle = palette.line;
  pen.fillRect(pad, 0, width - 2 * pad, 1);
  pen.fillStyle = palette.ink;
  pen.font = row.kind === "ablated" ? bold : font;
  pen.fillText(row.name.length > 27 ? `${row.name.slice(0, 26)}…` : row.name, pad, high / 2);
  for (const [column, cell] of row.cells.entries()) {
    if (!cell) continue;
    pen.save();
    pen.translate(names + column * each, 0);
    drawCell(
      pen,
      { cell, wide: each - gap, high, hollow: row.kind === "control" || row.kind === "invisible" },
      colours[row.kind],
      palette,
    );
    pen.restore();
  }
}

function drawCell(
  pen: Pen,
  { cell, wide, high, hollow }: { cell: TestCell; wide: number; high: number; hollow: boolean },
  colour: string,
  palette: Palette,
): void {
  const [y, x] = [high * 0.34, (t: number): number => t * wide];
  pen.fillStyle = colour;
  pen.globalAlpha = 0.4;
  if (cell.stem) pen.fillRect(0, y - 4, x(cell.at), 8);
  pen.globalAlpha = 1;
  pen.fillRect(x(cell.low), y - 1, Math.max(1, x(cell.high) - x(cell.low)), 2);
  pen.beginPath();
  pen.arc(x(cell.at), y, 4.5, 0, 2 * Math.PI);
  pen.fillStyle = hollow ? palette.panel : colour;
  pen.fill();
  pen.strokeStyle = colour;
  pen.lineWidth = 2;
  pen.stroke();
  pen.font = cell.apart ? bold : font;
  pen.fillStyle = cell.apart ? palette.ink : palette.muted;
  pen.fillText(cell.text, 0, high * 0.76);
  pen.fillStyle = cell.apart ? palette.selected : palette.muted;
  pen.fillText(cell.times, 52, high * 0.76);
}
