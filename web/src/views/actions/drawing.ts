/** Action probabilities over time: of one source, and what a second one gives more or less. */
import { readPalette } from "../../marks/colour/colour";
import type { Look } from "../../marks/colour/names";
import type { Pen, Size } from "../../marks/pen/pen";
import { drawStacked } from "../../marks/time/stacked";
import { cut } from "../../marks/time/timeline";
import type { Session } from "../../state/session.svelte";

/** Between A, B and their difference. */
export const gap = 4;

type Shown = Pick<Session, "episode" | "window">;

/** Which steps of the episode the window shows. */
function stepsOf({ episode, window }: Shown): { first: number; last: number } {
  const { shares, group } = episode;
  if (!shares || !group) return { first: 0, last: 0 };
  const last = Math.min(shares.values.length / shares.kinds, Math.ceil(window.to) - group.start);
  return { first: Math.max(0, Math.floor(window.from) - group.start), last };
}

/** How an action looks, by its name. */
type Looks = (name: string) => Look;

export function paintShares(pen: Pen, size: Size, shown: Shown, look: Looks): void {
  const { episode, window } = shown;
  const { shares, group } = episode;
  const { first, last } = stepsOf(shown);
  if (!shares || !group || last <= first) return;
  const scale = size.width / (window.to - window.from);
  const part = cut(shares.values, first * shares.kinds, last * shares.kinds).values;
  pen.save();
  pen.translate((group.start + first - window.from) * scale, 0);
  const room = { width: (last - first) * scale, height: size.height };
  drawStacked(pen, room, part, shares.names.map(look), readPalette().panel);
  pen.restore();
}

/** B − A, action by action: what B likes better stands above the middle, what it likes less below. */
export function differenceOf(
  a: { readonly names: readonly string[]; readonly values: ArrayLike<number>; readonly kinds: number },
  b: { readonly names: readonly string[]; readonly values: ArrayLike<number>; readonly kinds: number },
  step: number,
): number[] {
  return a.names.map((name, kind) => {
    const there = b.names.indexOf(name);
    const more = there < 0 ? NaN : (b.values[step * b.kinds + there] ?? NaN);
    return more - (a.values[step * a.kinds + kind] ?? NaN);
  });
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
