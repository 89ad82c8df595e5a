/** What was recorded, beside what was rolled out. */
import type { ColumnData } from "../../api/data/columns";
import type { Column } from "../../api/model";
import type { Move } from "../../api/whatif";

interface Recorded {
  readonly columns: ReadonlyMap<string, ColumnData>;
}

/** A number of the episode at a step; undefined where it was over by then. */
export function recordedAt({ columns }: Recorded, name: string, step: number): number | undefined {
  const data = columns.get(name);
  return data?.type === "number" ? data.values[step] : undefined;
}

/** The column of the value that both have. */
export function valueName(columns: readonly Column[], values: Readonly<Record<string, unknown>>): string {
  return columns.find((column) => column.kind === "value" && column.name in values)?.name ?? "value";
}

/** How it went, in words. */
export function outcomeWords(outcome: string, steps: number, total: number): string {
  const how = outcome || "not over";
  const earned = Number.isNaN(total) ? "" : `, return ${+total.toFixed(2)}`;
  return `${how} after ${steps} ${steps === 1 ? "step" : "steps"}${earned}`;
}

/** What was done, in words: the last of it where it is much. */
export function movesWords(moves: readonly Move[], actions: readonly string[], most = 5): string {
  const words: { word: string; times: number }[] = [];
  for (const move of moves) {
    const word = moveWords(move, actions);
    const last = words.at(-1);
    if (last?.word === word) last.times++;
    else words.push({ word, times: 1 });
  }
  const told = words.slice(-most).map(({ word, times }) => (times > 1 ? `${word} × ${times}` : word));
  return [...(words.length > most ? ["…"] : []), ...told].join(", ");
}

function moveWords(move: Move, actions: readonly string[]): string {
  switch (move.do) {
    case "agent":
      return "its own move";
    case "act":
      return "action" in move ? (actions[move.action] ?? `action ${move.action}`) : move.actions.join(" ");
    case "remove":
      return `without ${move.thing}`;
    case "move":
      return `${move.thing} moved`;
  }
}
