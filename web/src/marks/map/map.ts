/** A map seen from above: walls, a way, an agent with what it can see, things. Y points up. */
import type { Pen, Size } from "../pen/pen";
import type { Palette } from "../colour/colour";
import { drawDisc, type Look } from "../colour/names";

export interface Bounds {
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
  readonly top: number;
}

/** World to pixels and back, same scale on both axes. */
export class Projection {
  private readonly scale: number;
  private readonly dx: number;
  private readonly dy: number;

  constructor(bounds: Bounds, size: Size, margin = 10) {
    const width = Math.max(1e-9, bounds.right - bounds.left);
    const height = Math.max(1e-9, bounds.top - bounds.bottom);
    this.scale = Math.max(1e-12, Math.min((size.width - 2 * margin) / width, (size.height - 2 * margin) / height));
    this.dx = size.width / 2 - ((bounds.left + bounds.right) / 2) * this.scale;
    this.dy = margin + bounds.top * this.scale;
  }

  x(x: number): number {
    return this.dx + x * this.scale;
  }

  y(y: number): number {
    return this.dy - y * this.scale;
  }

  backX(px: number): number {
    return (px - this.dx) / this.scale;
  }

  backY(py: number): number {
    return (this.dy - py) / this.scale;
  }
}

export function boundsOf(walls: readonly (readonly number[])[], xs: ArrayLike<number>, ys: ArrayLike<number>): Bounds {
  let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
  const see = (x: number, y: number): void => {
    if (Number.isNaN(x) || Number.isNaN(y)) return;
    [left, right] = [Math.min(left, x), Math.max(right, x)];
    [bottom, top] = [Math.min(bottom, y), Math.max(top, y)];
  };
  for (const [x1, y1, x2, y2] of walls) (see(x1!, y1!), see(x2!, y2!));
  for (let i = 0; i < xs.length; i++) see(xs[i]!, ys[i]!);
  if (left > right) return { left: -1, right: 1, bottom: -1, top: 1 };
  const air = Math.max(right - left, top - bottom, 1e-6) * 0.01;
  return { left: left - air, right: right + air, bottom: bottom - air, top: top + air };
}

export function drawWalls(pen: Pen, to: Projection, walls: readonly (readonly number[])[], colour: string): void {
  pen.strokeStyle = colour;
  pen.lineWidth = 1.6;
  pen.beginPath();
  for (const [x1, y1, x2, y2] of walls) {
    pen.moveTo(to.x(x1!), to.y(y1!));
    pen.lineTo(to.x(x2!), to.y(y2!));
  }
  pen.stroke();
}

export interface Way {
  readonly xs: ArrayLike<number>;
  readonly ys: ArrayLike<number>;
}

/** The steps [from, to] of a way; an unknown position breaks it, as does a jump (a teleport). */
export function drawWay(
  pen: Pen,
  to: Projection,
  way: Way,
  style: { from: number; to: number; colour: string; width: number },
): void {
  pen.strokeStyle = style.colour;
  pen.lineWidth = style.width;
  pen.lineJoin = "round";
  pen.beginPath();
  let open = false;
  for (let i = style.from; i <= Math.min(style.to, way.xs.length - 1); i++) {
    const [x, y] = [to.x(way.xs[i]!), to.y(way.ys[i]!)];
    if (Number.isNaN(x) || Number.isNaN(y)) open = false;
    else {
      if (open) pen.lineTo(x, y);
      else pen.moveTo(x, y);
      open = true;
    }
  }
  pen.stroke();
}

export interface Agent {
  readonly x: number;
  readonly y: number;
  /** Counter-clockwise from east. */
  readonly angle_deg: number | null;
  readonly view_deg: number;
}

export function drawAgent(pen: Pen, to: Projection, agent: Agent, palette: Palette, reach_px: number): void {
  const [x, y] = [to.x(agent.x), to.y(agent.y)];
  if (Number.isNaN(x) || Number.isNaN(y)) return;
  pen.save();
  pen.translate(x, y);
  pen.rotate(-((agent.angle_deg ?? 90) * Math.PI) / 180);
  if (agent.angle_deg !== null) drawField(pen, agent.view_deg, palette.accent, reach_px);
  pen.fillStyle = palette.ink;
  pen.strokeStyle = palette.panel;
  pen.lineWidth = 1.2;
  pen.beginPath();
  if (agent.angle_deg === null) pen.arc(0, 0, 5, 0, 2 * Math.PI);
  else {
    pen.moveTo(9, 0);
    pen.lineTo(-6, -6);
    pen.lineTo(-6, 6);
    pen.closePath();
  }
  pen.fill();
  pen.stroke();
  pen.restore();
}

function drawField(pen: Pen, view_deg: number, colour: string, reach_px: number): void {
  const half = (view_deg * Math.PI) / 360;
  pen.fillStyle = colour;
  pen.globalAlpha = 0.16;
  pen.beginPath();
  pen.moveTo(0, 0);
  pen.arc(0, 0, reach_px, -half, half);
  pen.closePath();
  pen.fill();
  pen.globalAlpha = 1;
}

export interface Spot {
  readonly x: number;
  readonly y: number;
  readonly look: Look;
  readonly faint?: boolean;
}

export function drawSpots(pen: Pen, to: Projection, spots: readonly Spot[], radius: number, ground: string): void {
  for (const spot of spots) {
    if (Number.isNaN(spot.x) || Number.isNaN(spot.y)) continue;
    pen.globalAlpha = spot.faint ? 0.35 : 1;
    drawDisc(pen, to.x(spot.x), to.y(spot.y), spot.faint ? radius * 0.7 : radius, spot.look, ground);
  }
  pen.globalAlpha = 1;
}

export interface Density {
  readonly columns: number;
  readonly counts: Uint32Array;
  readonly most: number;
}

const cell_px = 4;

/** How many rows lie in each small square of the picture; only those in `runs` where given. */
export function countRows(
  to: Projection,
  size: Size,
  way: Way,
  runs: readonly (readonly [number, number])[] | null,
): Density {
  const columns = Math.ceil(size.width / cell_px);
  const lines = Math.ceil(size.height / cell_px);
  const counts = new Uint32Array(columns * lines);
  let most = 0;
  for (const [start, stop] of runs ?? [[0, way.xs.length]]) {
    for (let row = start!; row < stop!; row++) {
      const px = Math.floor(to.x(way.xs[row]!) / cell_px);
      const py = Math.floor(to.y(way.ys[row]!) / cell_px);
      if (px >= 0 && px < columns && py >= 0 && py < lines) most = Math.max(most, ++counts[py * columns + px]!);
    }
  }
  return { columns, counts, most };
}

export function drawDensity(pen: Pen, { columns, counts, most }: Density, colour: string): void {
  pen.fillStyle = colour;
  counts.forEach((n, i) => {
    if (!n) return;
    pen.globalAlpha = 0.08 + 0.5 * Math.sqrt(n / most);
    pen.fillRect((i % columns) * cell_px, Math.floor(i / columns) * cell_px, cell_px, cell_px);
  });
  pen.globalAlpha = 1;
}
