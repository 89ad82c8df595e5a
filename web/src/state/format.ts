/** Numbers and names as people read them. */
import type { Column, RecordingInfo } from "../api/model";

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export function count(value: number): string {
  return grouped.format(value);
}

/** Three significant digits, no trailing zeros; whole numbers in full. */
export function number(value: number): string {
  if (Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size >= 1e6 || (size > 0 && size < 1e-3)) return value.toExponential(2).replace("-", "−");
  const digits = size ? Math.max(0, Math.min(5, 2 - Math.floor(Math.log10(size)))) : 0;
  const text = (size >= 1e4 ? grouped.format(Math.round(size)) : String(+size.toFixed(digits))) || "0";
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}

export function percent(value: number): string {
  return Number.isNaN(value) ? "–" : `${Math.round(value * 100)} %`;
}

/** Whether it says when something happened; the word that goes with it is no event of its own. */
export const isEvent = ({ kind, type }: Pick<Column, "kind" | "type">): boolean => kind === "event" && type !== "text";

export function titleOf(column: Pick<Column, "name" | "label">): string {
  return column.label || column.name.replaceAll("_", " ");
}

/** Where rows come from. */
export function originOf({ kind, by, source }: RecordingInfo["origin"]): string {
  return `${kind}${by ? ` by ${by}` : ""}${source ? `, from ${source}` : ""}`;
}

export function duration(seconds: number): string {
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}
