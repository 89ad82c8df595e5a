/** Saving what a view shows: pixels, vectors and numbers. */
import { readPalette } from "../../marks/colour/colour";
import type { Pen, Size } from "../../marks/pen/pen";
import { toSvg } from "../../marks/pen/svgpen";

export interface Exports {
  /** Begin of the file's name. */
  readonly name: string;
  /** A vector drawing: gives SVG, and PNG at twice its size. */
  readonly drawing?: { size: () => Size; paint: (pen: Pen, size: Size) => void };
  /** A picture at its own pixels. */
  readonly picture?: () => HTMLCanvasElement | null;
  /** Header and lines of what is drawn. */
  readonly table?: () => (string | number)[][];
}

export async function savePng(exports: Exports): Promise<void> {
  const canvas = exports.drawing ? rasterise(exports.drawing) : exports.picture?.();
  const blob = await new Promise<Blob | null>((resolve) => (canvas ? canvas.toBlob(resolve) : resolve(null)));
  if (blob) saveFile(`${exports.name}.png`, blob);
}

export function saveSvg(exports: Exports): void {
  if (!exports.drawing) return;
  const size = exports.drawing.size();
  const text = toSvg(size, readPalette().panel, (pen) => exports.drawing!.paint(pen, size));
  saveFile(`${exports.name}.svg`, new Blob([text], { type: "image/svg+xml" }));
}

export function saveCsv(exports: Exports): void {
  if (exports.table) saveFile(`${exports.name}.csv`, new Blob([toCsv(exports.table())], { type: "text/csv" }));
}

export function toCsv(lines: readonly (readonly (string | number)[])[]): string {
  return lines.map((line) => line.map(cell).join(",")).join("\r\n") + "\r\n";
}

/** Quoted where needed; text that a spreadsheet would run as a formula is kept as text. */
function cell(value: string | number): string {
  if (typeof value === "number") return Number.isNaN(value) ? "" : String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function rasterise(drawing: NonNullable<Exports["drawing"]>): HTMLCanvasElement {
  const size = drawing.size();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [size.width * 2, size.height * 2];
  const pen = canvas.getContext("2d")!;
  pen.scale(2, 2);
  pen.fillStyle = readPalette().panel;
  pen.fillRect(0, 0, size.width, size.height);
  drawing.paint(pen, size);
  return canvas;
}

/** Hand a file to the browser, under a name without what folders and systems cannot have. */
export function saveFile(name: string, blob: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name.replace(/[^\w .+-]+/g, "-");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
