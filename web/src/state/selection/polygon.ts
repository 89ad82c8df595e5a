/** What lies inside a closed line. */
import type { Cloud, Polygon } from "../../api/layout";

/** The places in the cloud that lie inside; a line that crosses itself counts as most people expect (even–odd). */
export function inside(cloud: Cloud, polygon: Polygon): number[] {
  const found: number[] = [];
  let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let k = 0; k + 1 < polygon.length; k += 2) {
    left = Math.min(left, polygon[k]!);
    right = Math.max(right, polygon[k]!);
    low = Math.min(low, polygon[k + 1]!);
    high = Math.max(high, polygon[k + 1]!);
  }
  for (let i = 0; i < cloud.xs.length; i++) {
    const x = cloud.xs[i]!;
    const y = cloud.ys[i]!;
    if (x >= left && x <= right && y >= low && y <= high && contains(polygon, x, y)) found.push(i);
  }
  return found;
}

export function contains(polygon: Polygon, x: number, y: number): boolean {
  let within = false;
  const count = polygon.length >> 1;
  for (let i = 0, j = count - 1; i < count; j = i++) {
    const yi = polygon[2 * i + 1]!;
    const yj = polygon[2 * j + 1]!;
    if (yi > y === yj > y) continue;
    const xi = polygon[2 * i]!;
    const xj = polygon[2 * j]!;
    if (x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) within = !within;
  }
  return within;
}
