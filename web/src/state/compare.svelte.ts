/** Two places side by side: A and B, each a stretch of an episode of a recording. */
import type { Interval } from "./memorytext";

export interface Slot {
  readonly recording: string;
  /** Index of the episode. */
  readonly group: number;
  /** Steps of the episode, or all of it. */
  readonly steps: Interval | null;
}

export type SlotName = "a" | "b";

export class Compare {
  a = $state.raw<Slot | null>(null);
  b = $state.raw<Slot | null>(null);
  /** Put side by side by step, or each from its begin. */
  align = $state<"step" | "start">("step");

  put(name: SlotName, slot: Slot | null): void {
    this[name] = slot;
  }

  swap(): void {
    [this.a, this.b] = [this.b, this.a];
  }

  get settings(): Record<string, string> {
    const out: Record<string, string> = {};
    if (this.a) out.a = toText(this.a);
    if (this.b) out.b = toText(this.b);
    if (this.align === "start") out.align = "start";
    return out;
  }

  restore(settings: Readonly<Record<string, string>>): void {
    this.a = fromText(settings.a ?? "");
    this.b = fromText(settings.b ?? "");
    this.align = settings.align === "start" ? "start" : "step";
  }
}

export const compareKeys = ["a", "b", "align"];

/** The name comes last, since it may hold anything. */
function toText({ recording, group, steps }: Slot): string {
  return `${group};${steps ? steps.join("-") : ""};${recording}`;
}

function fromText(text: string): Slot | null {
  const [group, steps = "", ...rest] = text.split(";");
  const recording = rest.join(";");
  if (!recording || !/^\d+$/.test(group ?? "")) return null;
  const [from, to] = steps.split("-").map(Number);
  const whole = from === undefined || to === undefined || !(to > from);
  return { recording, group: Number(group), steps: whole ? null : [from, to] };
}
