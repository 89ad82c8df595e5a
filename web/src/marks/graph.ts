/** A chart of states: discs sized by how much of the time they take, arrows as wide as they are often taken. */
import type { Pen, Size } from "./pen/pen";

export interface Node {
  /** Part of all, 0 to 1: the area of the disc. */
  readonly share: number;
  /** Where it belongs, in any unit; discs near each other are alike. */
  readonly place: readonly [number, number] | null;
}

export interface Edge {
  readonly from: number;
  readonly to: number;
  readonly weight: number;
}

export interface Disc {
  readonly x: number;
  readonly y: number;
  readonly r: number;
}

const gap = 14;
const rim = 6;

/** Discs at their places, pushed apart until none overlaps and none leaves the frame; the same every time. */
export function layOut(nodes: readonly Node[], size: Size): Disc[] {
  const room = Math.max(1, Math.min(size.width, size.height));
  let largest = Math.max(9, Math.min(44, room / 5));
  for (let attempt = 0; attempt < 12; attempt++, largest *= 0.85) {
    const discs = separate(begin(nodes, size, largest), size);
    if (!overlap(discs)) return discs;
  }
  return separate(begin(nodes, size, 4), size);
}

function begin(nodes: readonly Node[], size: Size, largest: number): Disc[] {
  const most = Math.max(1e-9, ...nodes.map((node) => node.share));
  const known = nodes.every((node) => node.place && node.place.every(Number.isFinite));
  const spots = known ? stretched(nodes.map((node) => node.place!)) : ring(nodes.length);
  return nodes.map((node, i) => ({
    r: Math.max(Math.min(8, largest), largest * Math.sqrt(node.share / most)),
    x: rim + largest + spots[i]![0] * Math.max(1, size.width - 2 * (rim + largest)),
    y: rim + largest + spots[i]![1] * Math.max(1, size.height - 2 * (rim + largest)),
  }));
}

/** Places in 0..1 both ways, up as seen. */
function stretched(places: readonly (readonly [number, number])[]): [number, number][] {
  const span = (axis: 0 | 1): ((v: number) => number) => {
    const values = places.map((place) => place[axis]);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return (v) => (high > low ? (v - low) / (high - low) : 0.5);
  };
  const [x, y] = [span(0), span(1)];
  return places.map((place) => [x(place[0]), 1 - y(place[1])]);
}

function ring(count: number): [number, number][] {
  return Array.from({ length: count }, (_, i) => {
    const angle = (2 * Math.PI * i) / Math.max(1, count) - Math.PI / 2;
    return [0.5 + 0.5 * Math.cos(angle), 0.5 + 0.5 * Math.sin(angle)];
  });
}

function separate(start: readonly Disc[], size: Size): Disc[] {
  const discs = start.map((disc) => ({ ...disc }));
  for (let round = 0; round < 300; round++) {
    let moved = false;
    for (let i = 0; i < discs.length; i++)
      for (let j = i + 1; j < discs.length; j++) moved = push(discs[i]!, discs[j]!, i + j) || moved;
    for (const disc of discs) {
      disc.x = Math.max(rim + disc.r, Math.min(size.width - rim - disc.r, disc.x));
      disc.y = Math.max(rim + disc.r, Math.min(size.height - rim - disc.r, disc.y));
    }
    if (!moved) break;
  }
  return discs;
}

function push(a: { x: number; y: number; r: number }, b: { x: number; y: number; r: number }, turn: number): boolean {
  const need = a.r + b.r + gap;
  const distance = Math.hypot(b.x - a.x, b.y - a.y);
  if (distance >= need) return false;
  // Two at one place part in a direction that depends only on who they are.
  const angle = distance > 1e-6 ? Math.atan2(b.y - a.y, b.x - a.x) : turn * 2.4;
  const step = (need - distance) / 2 + 0.01;
  a.x -= Math.cos(angle) * step;
  a.y -= Math.sin(angle) * step;
  b.x += Math.cos(angle) * step;
  b.y += Math.sin(angle) * step;
  return true;
}

export function overlap(discs: readonly Disc[]): boolean {
  return discs.some((a, i) => discs.slice(i + 1).some((b) => Math.hypot(a.x - b.x, a.y - b.y) < a.r + b.r + 2));
}

/** The edges worth drawing: the strongest of each node, and whatever is not far behind the strongest of all. */
export function strongest(edges: readonly Edge[], each = 2, share = 0.12): Edge[] {
  const most = Math.max(0, ...edges.map((edge) => edge.weight));
  const sorted = edges.filter((edge) => edge.from !== edge.to).toSorted((a, b) => b.weight - a.weight);
  const out = new Map<number, number>();
  return sorted.filter((edge) => {
    const before = out.get(edge.from) ?? 0;
    out.set(edge.from, before + 1);
    return before < each || edge.weight >= share * most;
  });
}

export interface EdgeLook {
  readonly colour: (edge: Edge) => string;
  readonly opacity: (edge: Edge) => number;
}

/** Arrows bend to their right, so that the way back lies beside the way there. */
export function drawEdges(pen: Pen, discs: readonly Disc[], edges: readonly Edge[], look: EdgeLook): void {
  const most = Math.max(1e-9, ...edges.map((edge) => edge.weight));
  pen.lineJoin = "round";
  for (const edge of edges) {
    const [a, b] = [discs[edge.from], discs[edge.to]];
    if (!a || !b) continue;
    const width = 0.8 + 5 * (edge.weight / most);
    const head = 4 + 1.4 * width;
    const points = bend(a, b, head);
    pen.strokeStyle = pen.fillStyle = look.colour(edge);
    pen.globalAlpha = look.opacity(edge);
    pen.lineWidth = width;
    pen.beginPath();
    points.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
    pen.stroke();
    arrowHead(pen, points.at(-1)!, towards(points.at(-2)!, points.at(-1)!), head);
  }
  pen.globalAlpha = 1;
}

type Point = [number, number];

function bend(a: Disc, b: Disc, head: number): Point[] {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const distance = Math.max(1e-6, Math.hypot(dx, dy));
  const side = 0.18 * distance;
  const [mx, my] = [(a.x + b.x) / 2 - (dy / distance) * side, (a.y + b.y) / 2 + (dx / distance) * side];
  const steps = Math.max(24, Math.ceil(distance / 4));
  const all = Array.from({ length: steps + 1 }, (_, i): Point => {
    const t = i / steps;
    const along = (p: number, q: number, s: number): number => (1 - t) ** 2 * p + 2 * t * (1 - t) * q + t * t * s;
    return [along(a.x, mx, b.x), along(a.y, my, b.y)];
  });
  const outside = all.filter(
    ([x, y]) => Math.hypot(x - a.x, y - a.y) >= a.r + 1 && Math.hypot(x - b.x, y - b.y) >= b.r + head,
  );
  const middle = steps >> 1;
  return outside.length >= 2 ? outside : [all[middle - 1]!, all[middle + 1]!];
}

const towards = (from: Point, to: Point): number => Math.atan2(to[1] - from[1], to[0] - from[0]);

function arrowHead(pen: Pen, [x, y]: Point, angle: number, length: number): void {
  const corner = (turn: number, far: number): Point => [
    x + far * Math.cos(angle + turn),
    y + far * Math.sin(angle + turn),
  ];
  const corners: Point[] = [corner(0, length), corner(Math.PI / 2, length * 0.45), corner(-Math.PI / 2, length * 0.45)];
  pen.beginPath();
  corners.forEach(([cx, cy], i) => (i ? pen.lineTo(cx, cy) : pen.moveTo(cx, cy)));
  pen.closePath();
  pen.fill();
}

export function drawDiscs(pen: Pen, discs: readonly Disc[], colour: (index: number) => string, edge: string): void {
  discs.forEach((disc, index) => {
    pen.fillStyle = colour(index);
    pen.strokeStyle = edge;
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.arc(disc.x, disc.y, disc.r, 0, 2 * Math.PI);
    pen.fill();
    pen.stroke();
  });
}
