/** Lines of cells: orange above zero, blue below, the paler the weaker. */
import type { Palette } from "../../marks/colour/colour";
import type { Pen } from "../../marks/pen/pen";
import type { Strengths } from "./influence";

export interface HeatRoom {
  readonly left: number;
  readonly width: number;
  readonly rowHeight: number;
}

export function drawHeat(
  pen: Pen,
  { cells }: Strengths,
  elements: readonly number[],
  lags: number,
  full: number,
  room: HeatRoom,
  palette: Palette,
): void {
  const wide = room.width / Math.max(1, lags);
  elements.forEach((element, line) => {
    for (let k = 0; k < lags; k++) {
      const value = cells[element * lags + k]!;
      // The root makes weak ones visible beside strong ones.
      const share = Math.sqrt(Math.min(1, Math.abs(value) / full));
      if (share < 0.03) continue;
      pen.fillStyle = value > 0 ? palette.positive : palette.negative;
      pen.globalAlpha = share;
      pen.fillRect(room.left + k * wide, line * room.rowHeight + 1, wide + 0.4, room.rowHeight - 2);
    }
  });
  pen.globalAlpha = 1;
}

export function drawTotals(
  pen: Pen,
  totals: ArrayLike<number>,
  elements: readonly number[],
  room: HeatRoom,
  colour: string,
): void {
  const most = Math.max(1e-12, ...Array.from(totals));
  pen.fillStyle = colour;
  elements.forEach((element, line) => {
    const width = (totals[element]! / most) * room.width;
    if (width > 0.3) pen.fillRect(room.left, line * room.rowHeight + 4, width, room.rowHeight - 8);
  });
}
