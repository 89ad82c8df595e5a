/** How many things point in each direction: bars around a circle, anticlockwise from the right as headings are. */
import type { Palette } from "./colour/colour";
import type { Pen, Size } from "./pen/pen";

export interface Ring {
  readonly counts: Uint32Array;
  readonly colour: string;
  readonly filled: boolean;
}

export function directionCounts(
  headings_deg: ArrayLike<number>,
  sectors: number,
  within: ((row: number) => boolean) | null,
): Uint32Array {
  const counts = new Uint32Array(sectors);
  for (let row = 0; row < headings_deg.length; row++) {
    const heading = headings_deg[row]!;
    if (!Number.isFinite(heading) || !(within?.(row) ?? true)) continue;
    const turned = (((heading % 360) + 360) % 360) / 360;
    counts[Math.min(sectors - 1, Math.floor(turned * sectors))]!++;
  }
  return counts;
}

export interface Circle {
  readonly x: number;
  readonly y: number;
  readonly inner: number;
  readonly outer: number;
}

export function circleIn({ width, height }: Size): Circle {
  // Room for "180°" at the sides, and for "90°" above.
  const outer = Math.max(20, Math.min(width / 2 - 40, height / 2 - 18));
  return { x: width / 2, y: height / 2, inner: outer * 0.22, outer };
}

/** The direction of a point of the screen, in degrees from 0 to 360. */
export const directionAt = ({ x, y }: Circle, px: number, py: number): number =>
  ((Math.atan2(y - py, px - x) * 180) / Math.PI + 360) % 360;

const radians = (degrees: number): number => (-degrees * Math.PI) / 180;

/** Radii grow with the root, so that the area of a bar is its count. */
function radiusOf({ inner, outer }: Circle, count: number, most: number): number {
  return Math.sqrt(inner ** 2 + (outer ** 2 - inner ** 2) * (count / Math.max(1, most)));
}

export function drawRings(pen: Pen, circle: Circle, rings: readonly Ring[], palette: Palette): void {
  const most = Math.max(1, ...rings.flatMap(({ counts }) => [...counts]));
  drawGrid(pen, circle, most, palette);
  for (const { counts, colour, filled } of rings) {
    const step = 360 / counts.length;
    counts.forEach((count, sector) => {
      if (!count) return;
      const [from, to] = [radians((sector + 1) * step - 0.6), radians(sector * step + 0.6)];
      const radius = radiusOf(circle, count, most);
      pen.beginPath();
      if (!filled) {
        pen.moveTo(circle.x + radius * Math.cos(from), circle.y + radius * Math.sin(from));
        pen.arc(circle.x, circle.y, radius, from, to);
        pen.strokeStyle = colour;
        pen.lineWidth = 2;
        pen.stroke();
        return;
      }
      const at = (r: number, angle: number): [number, number] => [
        circle.x + r * Math.cos(angle),
        circle.y + r * Math.sin(angle),
      ];
      pen.moveTo(...at(circle.inner, from));
      pen.lineTo(...at(radius, from));
      pen.arc(circle.x, circle.y, radius, from, to);
      pen.lineTo(...at(circle.inner, to));
      pen.closePath();
      pen.fillStyle = colour;
      pen.fill();
    });
  }
}

function drawGrid(pen: Pen, circle: Circle, most: number, palette: Palette): void {
  pen.strokeStyle = palette.line;
  pen.lineWidth = 1;
  for (const share of [0, 0.5, 1]) {
    pen.beginPath();
    pen.arc(circle.x, circle.y, radiusOf(circle, share * most, most), 0, 2 * Math.PI);
    pen.stroke();
  }
  pen.fillStyle = palette.muted;
  pen.font = "11px ui-monospace, Menlo, monospace";
  pen.textAlign = "center";
  for (const heading of [0, 90, 180, 270]) {
    const angle = radians(heading);
    const away = circle.outer + 11;
    pen.fillText(`${heading}°`, circle.x + away * Math.cos(angle) * 1.06, circle.y + away * Math.sin(angle) + 4);
  }
  pen.fillText(String(most), circle.x + circle.outer * 0.71 + 10, circle.y - circle.outer * 0.71 - 4);
}

/** A stretch of directions that is being drawn or is selected. */
export function drawArc(pen: Pen, circle: Circle, from: number, to: number, colour: string): void {
  pen.beginPath();
  pen.moveTo(circle.x, circle.y);
  pen.arc(circle.x, circle.y, circle.outer + 3, radians(to), radians(from));
  pen.closePath();
  pen.globalAlpha = 0.16;
  pen.fillStyle = colour;
  pen.fill();
  pen.globalAlpha = 1;
  pen.strokeStyle = colour;
  pen.lineWidth = 1.5;
  pen.stroke();
}
