/** Lines of a table: numbers, words, yes or no, or nothing. */
import { number } from "../../state/format";

export type Cell = number | string | boolean | null;

const unknown = (cell: Cell | undefined): boolean =>
  cell === null || cell === undefined || (typeof cell === "number" && Number.isNaN(cell));

/** Places of lines in the order of a column; what is not known comes last either way. */
export function sortedLines(lines: readonly (readonly Cell[])[], column: number | null, down: boolean): number[] {
  const order = Array.from(lines, (_, i) => i);
  if (column === null) return order;
  return order.sort((a, b) => {
    const [one, other] = [lines[a]![column], lines[b]![column]];
    if (unknown(one) || unknown(other)) return Number(unknown(one)) - Number(unknown(other)) || a - b;
    const by =
      typeof one === "string" || typeof other === "string"
        ? String(one).localeCompare(String(other), "en", { numeric: true })
        : Number(one) - Number(other);
    return (down ? -by : by) || a - b;
  });
}

export function cellText(cell: Cell | undefined): string {
  if (cell === null || cell === undefined) return "–";
  if (typeof cell === "number") return number(cell);
  return typeof cell === "boolean" ? (cell ? "yes" : "no") : cell;
}

/** Whether a column holds numbers, so that it is aligned and can have bars. */
export const isNumeric = (lines: readonly (readonly Cell[])[], column: number): boolean =>
  lines.some((line) => typeof line[column] === "number") &&
  lines.every((line) => typeof line[column] === "number" || line[column] === null);
