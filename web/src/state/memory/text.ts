/** Orders and choices of elements as text for the address. */
import type { OrderAsk, OrderBy } from "../../api/model";

/** Every order by its name. */
const orders: Readonly<Record<OrderBy, OrderBy>> = {
  model: "model",
  activation: "activation",
  change: "change",
  stable: "stable",
  similar: "similar",
  tsne: "tsne",
  correlation: "correlation",
  cluster: "cluster",
};

/** `3,5-9` for 3, 5, 6, 7, 8, 9. */
export function elementsToText(elements: readonly number[]): string {
  const sorted = [...new Set(elements)].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let i = 0; i < sorted.length; i++) {
    const first = sorted[i]!;
    while (i + 1 < sorted.length && sorted[i + 1] === sorted[i]! + 1) i++;
    const last = sorted[i]!;
    parts.push(last === first ? String(first) : last === first + 1 ? `${first},${last}` : `${first}-${last}`);
  }
  return parts.join(",");
}

export function elementsFromText(text: string, size: number): number[] {
  const found = new Set<number>();
  for (const part of text.split(",")) {
    const [first, last = first] = part.split("-").map((word) => (/^\d+$/.test(word.trim()) ? Number(word) : NaN));
    for (let e = first!; e <= last! && e < size; e++) found.add(e);
  }
  return [...found].sort((a, b) => a - b);
}

export function orderToText(ask: OrderAsk): string {
  const rows = [ask.start, ask.stop, ...(ask.from === undefined ? [] : [ask.from, ask.to])];
  return `${ask.by},${rows.join("-")}`;
}

/** Null where the text makes no sense. */
export function orderFromText(
  text: string,
  rest: { recording: string; array: string; column?: string | undefined },
): OrderAsk | null {
  const [by, rows = ""] = text.split(",");
  const known = Object.values(orders).find((name) => name === by);
  const [start, stop, from, to] = rows.split("-").map(Number);
  if (!known || start === undefined || stop === undefined || !(stop >= start)) return null;
  const interval = from !== undefined && to !== undefined ? { from, to } : {};
  const { recording, array, column } = rest;
  return { by: known, recording, array, start, stop, ...interval, ...(column ? { column } : {}) };
}
