/** A closed line drawn by hand. */
import type { Polygon } from "../../api/layout";
import type { Camera } from "./cloud";
import { toScreen } from "./cloud";
import type { Pen, Size } from "../pen/pen";

/** The same line with fewer corners: none is farther from it than the tolerance (Douglas and Peucker). */
export function simplified(line: Polygon, tolerance: number): Polygon {
  const count = line.length >> 1;
  if (count < 4) return line;
  const kept = new Uint8Array(count);
  kept[0] = kept[count - 1] = 1;
  const spans: [number, number][] = [[0, count - 1]];
  for (let span = spans.pop(); span; span = spans.pop()) {
    const [from, to] = span;
    let [far, at] = [tolerance, -1];
    for (let i = from + 1; i < to; i++) {
      const d = distance(line, i, from, to);
      if (d > far) [far, at] = [d, i];
    }
    if (at < 0) continue;
    kept[at] = 1;
    spans.push([from, at], [at, to]);
  }
  return line.filter((_, k) => kept[k >> 1]);
}

/** How far a corner lies from the straight line between two others. */
function distance(line: Polygon, i: number, from: number, to: number): number {
  const [x, y, x0, y0] = [line[2 * i]!, line[2 * i + 1]!, line[2 * from]!, line[2 * from + 1]!];
  const [dx, dy] = [line[2 * to]! - x0, line[2 * to + 1]! - y0];
  const t = Math.max(0, Math.min(1, ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x - x0 - t * dx, y - y0 - t * dy);
}

/** Rows, in any order, as half-open runs. */
export function runsOf(rows: Iterable<number>): [number, number][] {
  const runs: [number, number][] = [];
  for (const row of Float64Array.from(rows).sort()) {
    const last = runs.at(-1);
    if (last && row <= last[1]) last[1] = Math.max(last[1], row + 1);
    else runs.push([row, row + 1]);
  }
  return runs;
}

/** A lasso for those who have no mouse: a circle around a place. */
export function circle(x: number, y: number, radius: number, corners = 24): Polygon {
  return Array.from({ length: corners }, (_, i) => (2 * Math.PI * i) / corners).flatMap((angle) => [
    x + radius * Math.cos(angle),
    y + radius * Math.sin(angle),
  ]);
}

export function drawLasso(pen: Pen, size: Size, camera: Camera, polygon: Polygon, colour: string): void {
  if (polygon.length < 4) return;
  pen.beginPath();
  for (let k = 0; k + 1 < polygon.length; k += 2) {
    const [x, y] = toScreen(camera, size, polygon[k]!, polygon[k + 1]!);
    if (k) pen.lineTo(x, y);
    else pen.moveTo(x, y);
  }
  pen.closePath();
  pen.fillStyle = pen.strokeStyle = colour;
  pen.globalAlpha = 0.1;
  pen.fill();
  pen.globalAlpha = 1;
  pen.lineWidth = 1.2;
  pen.stroke();
}
