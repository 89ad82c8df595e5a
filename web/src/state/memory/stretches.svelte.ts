/** Two stretches above each other: of the two sources, or of one recording. */
import { messageOf } from "../../api/errors";
import type { Service } from "../../api/service";
import { choice, key, text } from "../address/address.svelte";
import { Episode } from "../recording/episode.svelte";
import type { Group } from "../recording/groups";
import type { Interval } from "../time/interval";
import { OpenRecording } from "../recording/recording";
import type { Session } from "../session.svelte";
import { twinOf } from "../source/source";

export interface Stretch {
  readonly recording: string;
  /** Index of the episode. */
  readonly group: number;
  /** Steps of the episode, or all of it. */
  readonly steps: Interval | null;
}

export type StretchName = "first" | "second";
/** How they are called in the page. */
export const numberOf: Readonly<Record<StretchName, number>> = { first: 1, second: 2 };

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

  async load(stretch: Stretch | null, service: Service, open: readonly (OpenRecording | null)[]): Promise<void> {
    const turn = ++this.turn;
    this.problem = "";
    if (!stretch) {
      this.recording = this.group = null;
      return;
    }
    try {
      const known = [...open, this.recording].find((each) => each?.info.name === stretch.recording);
      const recording = known ?? (await OpenRecording.open(service, stretch.recording));
      if (turn === this.turn) this.show(recording, stretch);
    } catch (problem) {
      if (turn === this.turn) this.problem = messageOf(problem);
    }
  }

  private show(recording: OpenRecording, stretch: Stretch): void {
    const group = recording.groups.at(stretch.group);
    if (!group) {
      this.problem = `“${stretch.recording}” has no episode ${stretch.group}; it has ${recording.groups.count}.`;
      return;
    }
    const length = group.stop - group.start;
    const inside = stretch.steps && stretch.steps[0] < length;
    this.recording = recording;
    this.group = group;
    this.steps = inside ? [stretch.steps![0], Math.min(length, stretch.steps![1])] : [0, length];
    if (this.episode.group !== group) void this.episode.load(recording, group);
  }
}

const stretch = (name: StretchName) =>
  key<Stretch | null>(name, {
    otherwise: null,
    read: (told) => fromText(told) ?? undefined,
    write: (chosen) => (chosen ? toText(chosen) : ""),
  });
const stretches = { first: stretch("first"), second: stretch("second") };
const alignKey = choice("align", ["step", "start"]);
/** What is done in the large room of the workspace. */
export const middleTab = text("middle");

export class Stretches {
  constructor(private readonly session: Session) {}

  /** Those that somebody chose; of other recordings than the two that are open none counts. */
  chosen = $derived.by((): Record<StretchName, Stretch | null> => {
    const { recording, other } = this.session;
    const open = [recording?.info.name, other?.recording?.info.name];
    const own = (name: StretchName): Stretch | null => {
      const found = this.session.get(stretches[name]);
      return found && open.includes(found.recording) ? found : null;
    };
    return { first: own("first"), second: own("second") };
  });
  /** The episode under the cursor, where nothing else was chosen. */
  first = $derived.by((): Stretch | null => {
    const { recording, group } = this.session;
    return this.chosen.first ?? (recording && { recording: recording.info.name, group, steps: null });
  });
  /** The same episode of the second source; without one the next episode. */
  second = $derived.by((): Stretch | null => {
    const { recording, group, page, other } = this.session;
    if (this.chosen.second || !recording) return this.chosen.second;
    const here = recording.groups.at(group);
    if (page.slot.source) {
      const beside = other?.recording;
      const twin = here && beside?.memory && twinOf(here, beside.groups);
      return twin ? { recording: beside.info.name, group: twin.index, steps: null } : null;
    }
    const next = recording.groups.at(group + 1) ?? recording.groups.at(group - 1);
    return next ? { recording: recording.info.name, group: next.index, steps: null } : null;
  });
  /** Put side by side by step, or each from its begin. */
  align = $derived.by(() => this.session.get(alignKey));

  setAlign(align: "step" | "start"): void {
    this.session.set(alignKey, align);
  }

  put(name: StretchName, chosen: Stretch | null): void {
    this.session.set(stretches[name], chosen);
  }

  /** Both are told from then on: what was the episode under the cursor is the other one now. */
  swap(): void {
    const { first, second } = this;
    this.put("first", second);
    this.put("second", first);
  }

  /** Put another recording into the slot and look at where the two part. */
  beside(recording: string): void {
    this.put("first", null);
    this.put("second", null);
    this.session.page.slot.choose({ recording, subject: "" });
    this.session.set(middleTab, "stretches");
  }
}

/** The name comes last, since it may hold anything. */
function toText({ recording, group, steps }: Stretch): string {
  return `${group};${steps ? steps.join("-") : ""};${recording}`;
}

function fromText(text: string): Stretch | null {
  const [group, steps = "", ...rest] = text.split(";");
  const recording = rest.join(";");
  if (!recording || !/^\d+$/.test(group ?? "")) return null;
  const [from, to] = steps.split("-").map(Number);
  const whole = from === undefined || to === undefined || !(to > from);
  return { recording, group: Number(group), steps: whole ? null : [from, to] };
}
