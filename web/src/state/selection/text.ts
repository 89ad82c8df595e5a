/**
 * Selections as short text for the address of the page.
 *
 * A term is `operator[!]kind,name,arguments`; terms are joined by `;`, a group stands in parentheses.
 * Intervals are written as gap-length pairs in base 36: `r,name,a-2s.4-1` holds 100 rows from row 10 on and one more.
 */
import type { Operator, Source, Span, Term } from "./terms";

const letters: Record<Operator, string> = { union: "u", intersection: "i", difference: "d" };
const operatorOf: Record<string, Operator> = { u: "union", i: "intersection", d: "difference" };

export function toText(terms: readonly Term[]): string {
  return terms.map(termText).join(";");
}

/** The terms that `toText` wrote; null where the text is not one of ours. */
export function fromText(text: string): Term[] | null {
  if (!text) return [];
  try {
    return splitOutside(text, ";").map(readTerm);
  } catch (problem) {
    if (problem instanceof Malformed || problem instanceof URIError) return null;
    throw problem;
  }
}

class Malformed extends Error {}

const quote = (text: string): string => encodeURIComponent(text).replace(/[()]/g, (c) => (c === "(" ? "%28" : "%29"));

function termText(term: Term): string {
  const head = letters[term.operator] + (term.negated ? "!" : "");
  return head + [...sourceText(term.source, term.name)].join(",");
}

function sourceText(source: Source, name: string): string[] {
  switch (source.kind) {
    case "rows":
      return ["r", quote(name), runsText(source.runs)];
    case "range":
      return ["v", quote(name), quote(source.column), bound(source.low), bound(source.high)];
    case "word":
      return ["w", quote(name), quote(source.column), ...source.words.map(quote)];
    case "box":
      return ["b", quote(name), ...spanText(source.x), ...spanText(source.y), ...(source.within ?? []).map(base36)];
    case "lasso":
      return ["l", quote(name), quote(source.layout), source.line.map((v) => String(+v.toPrecision(5))).join("_")];
    case "group":
      return ["g", quote(name), `(${toText(source.terms)})`];
  }
}

const base36 = (n: number): string => n.toString(36);
const bound = (n: number | null): string => (n === null ? "" : String(+n.toPrecision(7)));
const spanText = (span: Span): string[] => [quote(span.column), bound(span.low), bound(span.high)];

function runsText(runs: readonly (readonly [number, number])[]): string {
  let at = 0;
  const pairs: string[] = [];
  for (const [start, stop] of runs) {
    pairs.push(`${base36(start - at)}-${base36(stop - start)}`);
    at = stop;
  }
  return pairs.join(".");
}

function readTerm(text: string): Term {
  const operator = operatorOf[text[0] ?? ""];
  if (!operator) throw new Malformed();
  const negated = text[1] === "!";
  const [kind, name, ...rest] = splitOutside(text.slice(negated ? 2 : 1), ",");
  if (kind === undefined || name === undefined) throw new Malformed();
  return { operator, negated, name: decodeURIComponent(name), source: readSource(kind, rest) };
}

function readSource(kind: string, rest: string[]): Source {
  const [a = "", b = "", c = "", d = "", e = "", f = "", g, h] = rest;
  if (kind === "r") return { kind: "rows", runs: readRuns(a) };
  if (kind === "v") return { kind: "range", column: decodeURIComponent(a), low: readBound(b), high: readBound(c) };
  if (kind === "w")
    return { kind: "word", column: decodeURIComponent(a), words: rest.slice(1).map(decodeURIComponent) };
  if (kind === "b") {
    const within = g !== undefined && h !== undefined ? ([count(g), count(h)] as const) : null;
    return { kind: "box", x: readSpan(a, b, c), y: readSpan(d, e, f), within };
  }
  if (kind === "l") return { kind: "lasso", layout: decodeURIComponent(a), line: readLine(b) };
  if (kind === "g" && a.startsWith("(") && a.endsWith(")")) {
    const terms = fromText(a.slice(1, -1));
    if (terms) return { kind: "group", terms };
  }
  throw new Malformed();
}

function readRuns(text: string): [number, number][] {
  let at = 0;
  return (text ? text.split(".") : []).map((pair) => {
    const [gap = "", length = ""] = pair.split("-");
    const start = at + count(gap);
    at = start + count(length);
    return [start, at];
  });
}

function readLine(text: string): number[] {
  const line = text.split("_").map(Number);
  if (line.length < 6 || line.length % 2 || !line.every(Number.isFinite)) throw new Malformed();
  return line;
}

function readSpan(column: string, low: string, high: string): Span {
  const [from, to] = [readBound(low), readBound(high)];
  if (from === null || to === null) throw new Malformed();
  return { column: decodeURIComponent(column), low: from, high: to };
}

function readBound(text: string): number | null {
  if (text === "") return null;
  const value = Number(text);
  if (!Number.isFinite(value)) throw new Malformed();
  return value;
}

function count(text: string): number {
  const value = parseInt(text, 36);
  if (!Number.isSafeInteger(value) || value < 0) throw new Malformed();
  return value;
}

/** Split at a separator that is not inside parentheses. */
function splitOutside(text: string, separator: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "(") depth++;
    if (text[i] === ")") depth--;
    if (depth === 0 && text[i] === separator) {
      parts.push(text.slice(from, i));
      from = i + 1;
    }
  }
  if (depth !== 0) throw new Malformed();
  return [...parts, text.slice(from)];
}
