/** Action probabilities over time: of one source, and what a second one gives more or less. */
import { readPalette } from "../../marks/colour/colour";
import type { Look } from "../../marks/colour/names";
import { valueAt } from "../../marks/heatmap/half";
import type { Pen, Size } from "../../marks/pen/pen";
import { drawStacked } from "../../marks/time/stacked";
import { cut } from "../../marks/time/timeline";
import type { Piece } from "../../api/data/tiles";
import type { Session } from "../../state/session.svelte";
import type { Shares } from "../../state/recording/episode.svelte";

/** Between A, B and their difference. */
export const gap = 4;

/** Shares of rows that follow each other, or of bins of rows: their means. */
export interface Stretch {
  readonly first: number;
  readonly rowsPerBin: number;
  readonly shares: Shares;
}

type Window = Pick<Session["window"], "from" | "to">;

/** The rows of one episode. */
export const episodeOf = ({ shares, group }: Session["episode"]): Stretch[] =>
  shares && group ? [{ first: group.start, rowsPerBin: 1, shares }] : [];

/** Tiles of all rows; of a coarse one that stands in for others, the part that it stands for. */
export function stretchesOf(pieces: readonly Piece[], names: readonly string[]): Stretch[] {
  const kinds = names.length;
  return pieces.map(({ tile, from, to }) => {
    const { first, rowsPerBin, bins } = tile;
    const begin = Math.max(0, Math.floor((from - first) / rowsPerBin));
    const end = Math.min(bins, Math.ceil((to - first) / rowsPerBin));
    const values = Float32Array.from({ length: Math.max(0, end - begin) * kinds }, (_, i) =>
      valueAt(tile.values, begin * kinds + i),
    );
    return { first: first + begin * rowsPerBin, rowsPerBin, shares: { kinds, names, values } };
  });
}

/** The shares of one row, or the means of the bin that holds it; null where they are not here. */
export function sharesAt(stretches: readonly Stretch[], row: number): readonly number[] | null {
  for (const { first, rowsPerBin, shares } of stretches) {
    const at = Math.floor((row - first) / rowsPerBin);
    if (at < 0 || at * shares.kinds >= shares.values.length) continue;
    return Array.from({ length: shares.kinds }, (_, kind) => shares.values[at * shares.kinds + kind]!);
  }
  return null;
}

/** The smallest and largest sum of any step. */
export function sumsOf({ kinds, values }: Shares): { least: number; most: number } {
  let [least, most] = [Infinity, -Infinity];
  for (let at = 0; at < values.length; at += kinds) {
    let sum = 0;
    for (let kind = 0; kind < kinds; kind++) sum += values[at + kind]!;
    if (sum < least) least = sum;
    if (sum > most) most = sum;
  }
  return { least, most };
}

/** How an action looks, by its name. */
type Looks = (name: string) => Look;

export function paintShares(
  pen: Pen,
  size: Size,
  { stretches, window }: { stretches: readonly Stretch[]; window: Window },
  look: Looks,
): void {
  const scale = size.width / (window.to - window.from);
  for (const { first, rowsPerBin, shares } of stretches) {
    const { kinds, names } = shares;
    const begin = Math.max(0, Math.floor((window.from - first) / rowsPerBin));
    const end = Math.min(shares.values.length / kinds, Math.ceil((window.to - first) / rowsPerBin));
    if (end <= begin) continue;
    const part = cut(shares.values, begin * kinds, end * kinds).values;
    pen.save();
    pen.translate((first + begin * rowsPerBin - window.from) * scale, 0);
    const room = { width: (end - begin) * rowsPerBin * scale, height: size.height };
    drawStacked(pen, room, part, names.map(look), readPalette().panel);
    pen.restore();
  }
}

/** B − A, action by action: what B likes better stands above the middle, what it likes less below. */
export function differenceOf(a: Shares, b: Shares, step: number): number[] {
  return a.names.map((name, kind) => {
    const there = b.names.indexOf(name);
    const more = there < 0 ? NaN : (b.values[step * b.kinds + there] ?? NaN);
    return more - (a.values[step * a.kinds + kind] ?? NaN);
  });
}

type Shown = Pick<Session, "episode" | "window">;

/** Which steps of the episode the window shows. */
function stepsOf({ episode, window }: Shown): { first: number; last: number } {
  const { shares, group } = episode;
  if (!shares || !group) return { first: 0, last: 0 };
  const last = Math.min(shares.values.length / shares.kinds, Math.ceil(window.to) - group.start);
  return { first: Math.max(0, Math.floor(window.from) - group.start), last };
}

export function paintDifference(pen: Pen, size: Size, a: Shown, b: Shown, look: Looks): void {
  const [one, other] = [a.episode.shares, b.episode.shares];
  const group = a.episode.group;
  if (!one || !other || !group) return;
  const colours = one.names.map((name) => look(name).colour);
  const [mine, theirs] = [stepsOf(a), stepsOf(b)];
  const scale = size.width / (a.window.to - a.window.from);
  const middle = size.height / 2;
  for (let step = mine.first; step < Math.min(mine.last, theirs.last); step++) {
    let [above, below] = [middle, middle];
    const x = (group.start + step - a.window.from) * scale;
    differenceOf(one, other, step).forEach((more, kind) => {
      if (!more) return;
      // Shares add up to one, so what stands above is never more than one.
      const height = Math.abs(more) * middle;
      pen.fillStyle = colours[kind]!;
      pen.fillRect(x, more > 0 ? above - height : below, Math.max(scale, 0.7), height);
      if (more > 0) above -= height;
      else below += height;
    });
  }
  pen.fillStyle = readPalette().muted;
  pen.fillRect(0, middle - 0.5, size.width, 1);
}
