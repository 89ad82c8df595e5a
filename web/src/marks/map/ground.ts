/** The ground that rows lie on: a picture at its true place and scale, and named areas. */
import type { Palette } from "../colour/colour";
import { drawWalls, type Bounds, type Projection } from "./map";
import type { Pen } from "../pen/pen";

export interface Ground {
  readonly walls: readonly (readonly number[])[];
  readonly polygons: readonly { readonly name: string; readonly points: readonly (readonly number[])[] }[];
  readonly image: {
    readonly width_px: number;
    readonly height_px: number;
    /** Where the lower left corner lies. */
    readonly origin: readonly number[];
    /** Units per pixel. */
    readonly scale: number;
  } | null;
}

/** Room for the whole picture and all areas, beside what lies on them. */
export function groundBounds({ image, polygons, walls }: Ground, rows: Bounds | null): Bounds | null {
  const xs: number[] = rows ? [rows.left, rows.right] : [];
  const ys: number[] = rows ? [rows.bottom, rows.top] : [];
  if (image) {
    xs.push(image.origin[0]!, image.origin[0]! + image.width_px * image.scale);
    ys.push(image.origin[1]!, image.origin[1]! + image.height_px * image.scale);
  }
  for (const { points } of polygons) for (const [x, y] of points) (xs.push(x!), ys.push(y!));
  for (const [x1, y1, x2, y2] of walls) (xs.push(x1!, x2!), ys.push(y1!, y2!));
  if (!xs.length) return null;
  return { left: Math.min(...xs), right: Math.max(...xs), bottom: Math.min(...ys), top: Math.max(...ys) };
}

/** Where the picture lies on screen: from the left, from the top, width and height. */
export function imageBox({ image }: Ground, to: Projection): [number, number, number, number] | null {
  if (!image) return null;
  const [x, y] = [image.origin[0]!, image.origin[1]!];
  const [left, top] = [to.x(x), to.y(y + image.height_px * image.scale)];
  return [left, top, to.x(x + image.width_px * image.scale) - left, to.y(y) - top];
}

export function drawGround(pen: Pen, to: Projection, { polygons, walls }: Ground, palette: Palette): void {
  drawWalls(pen, to, walls, palette.ink);
  pen.strokeStyle = pen.fillStyle = palette.muted;
  pen.lineWidth = 1;
  pen.font = "11px sans-serif";
  pen.textAlign = "center";
  for (const { name, points } of polygons) {
    if (points.length < 3) continue;
    pen.beginPath();
    points.forEach(([x, y], i) => (i ? pen.lineTo(to.x(x!), to.y(y!)) : pen.moveTo(to.x(x!), to.y(y!))));
    pen.closePath();
    pen.stroke();
    const middle = (axis: 0 | 1): number => points.reduce((sum, point) => sum + point[axis]!, 0) / points.length;
    const [x, y] = [to.x(middle(0)), to.y(middle(1))];
    // A name that has no room would lie over its neighbours.
    const across = points.map(([px]) => to.x(px!));
    if (Math.max(...across) - Math.min(...across) < 5 * name.length) continue;
    // A picture underneath may be light or dark.
    pen.fillStyle = palette.panel;
    pen.globalAlpha = 0.72;
    pen.fillRect(x - 3.1 * name.length - 2, y - 10, 6.2 * name.length + 4, 13);
    pen.globalAlpha = 1;
    pen.fillStyle = palette.muted;
    pen.fillText(name, x, y);
  }
}

/** From one place to another, with a head, as the pen is set. */
export function drawArrow(pen: Pen, [x1, y1]: readonly number[], [x2, y2]: readonly number[]): void {
  const angle = Math.atan2(y2! - y1!, x2! - x1!);
  const head = Math.min(9, Math.hypot(x2! - x1!, y2! - y1!) * 0.6);
  pen.beginPath();
  pen.moveTo(x1!, y1!);
  pen.lineTo(x2!, y2!);
  for (const side of [-0.45, 0.45]) {
    pen.moveTo(x2!, y2!);
    pen.lineTo(x2! - head * Math.cos(angle + side), y2! - head * Math.sin(angle + side));
  }
  pen.stroke();
}
