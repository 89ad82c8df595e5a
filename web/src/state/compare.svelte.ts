/** Two places side by side: A and B, each a stretch of an episode of a recording. */
import { messageOf } from "../api/errors";
import type { Service } from "../api/service";
import { Episode } from "./episode.svelte";
import type { Group } from "./groups";
import type { Interval } from "./memorytext";
import { OpenRecording } from "./recording";

export interface Slot {
  readonly recording: string;
  /** Index of the episode. */
  readonly group: number;
  /** Steps of the episode, or all of it. */
  readonly steps: Interval | null;
}

export type SlotName = "a" | "b";

/** One of the two: its recording, its episode and what is known of it. */
export class Side {
  recording = $state.raw<OpenRecording | null>(null);
  group = $state.raw<Group | null>(null);
  steps = $state.raw<Interval>([0, 0]);
  problem = $state("");
  readonly episode = new Episode();
  private turn = 0;

  /** Rows of the recording that are compared. */
  rows = $derived.by((): Interval => {
    const start = this.group?.start ?? 0;
    return [start + this.steps[0], start + this.steps[1]];
  });

  async load(slot: Slot | null, service: Service, open: OpenRecording | null): Promise<void> {
    const turn = ++this.turn;
    this.problem = "";
    if (!slot) {
      this.recording = this.group = null;
      return;
    }
    try {
      const known = [open, this.recording].find((each) => each?.info.name === slot.recording);
      const recording = known ?? (await OpenRecording.open(service, slot.recording));
      if (turn === this.turn) this.show(recording, slot);
    } catch (problem) {
      if (turn === this.turn) this.problem = messageOf(problem);
    }
  }

  private show(recording: OpenRecording, slot: Slot): void {
    const group = recording.groups.at(slot.group);
    if (!group) {
      this.problem = `“${slot.recording}” has no episode ${slot.group}; it has ${recording.groups.count}.`;
      return;
    }
    const length = group.stop - group.start;
    const inside = slot.steps && slot.steps[0] < length;
    this.recording = recording;
    this.group = group;
    this.steps = inside ? [slot.steps![0], Math.min(length, slot.steps![1])] : [0, length];
    if (this.episode.group !== group) void this.episode.load(recording, group);
  }
}

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
