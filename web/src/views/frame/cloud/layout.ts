/** A layout of rows in a plane, as the page draws it. */
import type { ArraySlice } from "../../../api/service";
import { cloudFrom, type Cloud } from "../../../api/layout";
import type { Camera } from "../../../marks/cloud/cloud";
import type { Group } from "../../../state/recording/groups";

export interface Layout {
  readonly id: string;
  readonly cloud: Cloud;
  /** The recording's row of each point, ascending. */
  readonly rows: ArrayLike<number>;
  /** Whether it is still moving. */
  readonly provisional: boolean;
}

export function layoutFrom(id: string, places: ArraySlice, rows: ArraySlice, provisional: boolean): Layout {
  return { id, cloud: cloudFrom(places.values as Float32Array), rows: rows.values, provisional };
}

/** The first point whose row is at least this one. */
export function firstFrom(rows: ArrayLike<number>, row: number): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rows[middle]! < row) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The points of an episode: from one place in the layout to another. */
export function pointsOf({ rows }: Layout, group: Group): [number, number] {
  return [firstFrom(rows, group.start), firstFrom(rows, group.stop)];
}

/** The point of a row, or of the nearest row of its episode that is in the layout; -1 where there is none. */
export function pointNear(layout: Layout, row: number, group: Group | undefined): { point: number; exact: boolean } {
  const at = firstFrom(layout.rows, row);
  if (layout.rows[at] === row) return { point: at, exact: true };
  const [from, to] = group ? pointsOf(layout, group) : [0, layout.rows.length];
  const near = [at - 1, at].filter((i) => i >= from && i < to);
  if (!near.length) return { point: -1, exact: false };
  const far = (i: number): number => Math.abs(layout.rows[i]! - row);
  return { point: near.reduce((a, b) => (far(b) < far(a) ? b : a)), exact: false };
}

/** Points in an order that favours no episode, chosen ones last, so that they lie on top. */
export function drawOrder(count: number, chosen: ((point: number) => boolean) | null): Int32Array {
  const order = new Int32Array(count);
  let stride = Math.max(1, Math.floor(count * 0.618)) | 1;
  while (common(stride, count) > 1) stride += 2;
  const last: number[] = [];
  let filled = 0;
  for (let k = 0; k < count; k++) {
    const point = (k * stride) % count;
    if (chosen?.(point)) last.push(point);
    else order[filled++] = point;
  }
  order.set(last, filled);
  return order;
}

function common(a: number, b: number): number {
  return b ? common(b, a % b) : a;
}

/** The camera in the address: where it looks, and how much nearer than the whole. */
export function cameraText(camera: Camera, whole: Camera): string {
  return [camera.x, camera.y, camera.scale / whole.scale].map((v) => +v.toPrecision(4)).join(";");
}

export function cameraFrom(text: string, whole: Camera): Camera {
  const [x, y, zoom] = text.split(";").map(Number);
  if (x === undefined || y === undefined || !zoom || ![x, y, zoom].every(Number.isFinite)) return whole;
  return { x, y, scale: whole.scale * zoom };
}
