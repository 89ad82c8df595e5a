/** What was rolled out, in the address: `45~2.2.a*12.r=saw 14.3` — from step 45, twice action 2, twelve of the agent's… */
import type { Move } from "../../api/whatif";

export interface Course {
  /** The step of the episode where it begins. */
  readonly step: number;
  readonly moves: readonly Move[];
}

const most = 2000;

function wordOf(move: Move): string {
  switch (move.do) {
    case "agent":
      return "a";
    case "act":
      return "action" in move ? String(move.action) : `c=${move.actions.map(short).join(",")}`;
    case "move":
      return `m=${encodeURIComponent(move.thing)}=${move.by.map(short).join(",")}`;
    case "remove":
      return `r=${encodeURIComponent(move.thing)}`;
  }
}

const short = (value: number): string => String(+value.toFixed(3));

export function courseToText({ step, moves }: Course): string {
  const words: string[] = [];
  for (let i = 0; i < moves.length;) {
    const word = wordOf(moves[i]!);
    let times = 1;
    while (i + times < moves.length && wordOf(moves[i + times]!) === word) times++;
    words.push(times > 1 ? `${word}*${times}` : word);
    i += times;
  }
  return `${step}~${words.join(";")}`;
}

/** Null where the address makes no sense. */
export function courseFromText(text: string | undefined): Course | null {
  const [, from, rest = ""] = /^(\d+)~(.*)$/.exec(text ?? "") ?? [];
  if (from === undefined) return null;
  const moves: Move[] = [];
  for (const part of rest.split(";").filter(Boolean)) {
    const [, word = "", times = "1"] = /^(.*?)(?:\*(\d+))?$/.exec(part) ?? [];
    const move = moveFrom(word);
    const count = Number(times);
    if (!move || !(count >= 1) || moves.length + count > most) return null;
    for (let i = 0; i < count; i++) moves.push(move);
  }
  return { step: Number(from), moves };
}

function moveFrom(word: string): Move | null {
  if (word === "a") return { do: "agent" };
  if (/^\d+$/.test(word)) return { do: "act", action: Number(word) };
  const [kind = "", first = "", second = ""] = word.split("=");
  if (kind === "r" && first) return { do: "remove", thing: plain(first) };
  if (kind === "c") {
    const actions = first.split(",").map(Number);
    return actions.every(Number.isFinite) ? { do: "act", actions } : null;
  }
  const [right, up, ...more] = second.split(",").map(Number);
  if (kind !== "m" || !first || more.length || !Number.isFinite(right) || !Number.isFinite(up)) return null;
  return { do: "move", thing: plain(first), by: [right!, up!] };
}

function plain(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch (problem) {
    if (problem instanceof URIError) return word;
    throw problem;
  }
}

export function sameMove(one: Move, other: Move): boolean {
  return one === other || wordOf(one) === wordOf(other);
}
