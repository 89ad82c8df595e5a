/** Subjects that are made blind to factors: which factors are chosen, what was made, and how it is put to the proof. */
import { untrack } from "svelte";
import { EditedService, type Edited } from "../api/edited";
import { messageOf } from "../api/errors";
import type { Job } from "../api/model";
import { ResultService, type ResultLine } from "../api/results";
import { key, text } from "./address.svelte";
import { indicesFrom } from "./factors";
import type { Jobs } from "./jobs.svelte";
import type { Arm, Proof, Share } from "./proof";
import { isActive, resultOf, type Results } from "./results.svelte";
import type { Session } from "./session.svelte";
import { Vision } from "./vision.svelte";
import { Wanted } from "./wanted";

/** Factors by their numbers; none said: the one that is pinned. */
const chosenKey = key<string | null>("blind", {
  otherwise: null,
  own: true,
  read: (told) => (/^[\d,]*$/.test(told) ? told : undefined),
  write: (value) => value ?? "none",
});
const editedKey = text("edited", { own: true });
/** The cell of the table of a proof whose levels are listed. */
export const cellKey = text("cell", { own: true });

/** Between two looks at a proof that is being played. */
const pause_ms = 500;
/** Between two looks for a proof that has just begun. */
const list_ms = 1500;

export class Blinding {
  /** Newest first. */
  edited = $state.raw<readonly Edited[]>([]);
  loaded = $state(false);
  problem = $state("");
  /** The proof of the open subject, and whether it is still being played. */
  proof = $state.raw<{ id: string; value: Proof; provisional: boolean } | null>(null);
  proofProblem = $state("");

  /** Factors that the next one will be blind to; a pinned one is meant until somebody says otherwise. */
  readonly chosen = $derived.by((): readonly number[] => {
    const asked = this.session.get(chosenKey);
    if (asked === null) return this.vision.pinned === null ? [] : [this.vision.pinned];
    return indicesFrom(asked, this.vision.count);
  });
  /** The edited subject that is looked at: the one asked for, else the newest of the factors that are shown. */
  readonly open = $derived.by((): Edited | undefined => {
    const asked = this.edited.find((each) => each.name === this.session.get(editedKey));
    return asked ?? this.edited.find((each) => each.result === this.vision.shown?.line.id) ?? this.edited[0];
  });
  readonly lines = $derived.by(() => this.results.of("proof").filter((line) => proves(line, this.open)));
  readonly line = $derived.by(() => this.results.shown("proof", (line) => proves(line, this.open)));

  private readonly api: EditedService;
  private readonly found: ResultService;
  private readonly wanted = new Wanted((wanted) => this.bring(wanted), pause_ms);
  private asked = 0;

  constructor(private readonly session: Session) {
    this.api = new EditedService(session.service.client);
    this.found = new ResultService(session.service.client);
  }

  private get jobs(): Jobs {
    return this.session.jobs;
  }

  private get results(): Results {
    return this.session.results;
  }

  private get vision(): Vision {
    return this.session.of(Vision);
  }

  /** Called by every view that shows what is kept. */
  async load(): Promise<void> {
    try {
      this.edited = newestFirst(await this.api.list());
      this.problem = "";
    } catch (failed) {
      this.problem = messageOf(failed);
    } finally {
      this.loaded = true;
    }
  }

  toggle(factor: number): void {
    const next = new Set(this.chosen);
    if (!next.delete(factor)) next.add(factor);
    this.session.set(chosenKey, [...next].sort((a, b) => a - b).join(","));
  }

  /** Leave what was chosen here. */
  leave(): void {
    this.session.address.clear(chosenKey, cellKey);
  }

  look(name: string): void {
    this.session.set(editedKey, name);
  }

  async blind(recording: string, name: string): Promise<void> {
    const result = this.vision.shown?.line.id ?? "";
    const made = await this.api.blind({ recording, result, factors: [...this.chosen], ...(name ? { name } : {}) });
    await this.load();
    this.look(made.name);
  }

  async rename(name: string, wanted: string): Promise<void> {
    const renamed = await this.api.rename(name, wanted);
    await this.load();
    if (this.session.get(editedKey) === name) this.look(renamed.name);
  }

  async drop(name: string): Promise<void> {
    this.edited = newestFirst(await this.api.drop(name));
    if (this.session.get(editedKey) === name) this.look("");
  }

  /** Colours stand for factors that are shown; those of other results have none here. */
  shows(edit: Pick<Edited, "result">): boolean {
    return edit.result === this.vision.shown?.line.id;
  }

  weights(name: string): string {
    return this.api.weights(name);
  }

  async prove(recording: string, asked: { levels: number; controls: number; invisible: string }): Promise<void> {
    const { open } = this;
    if (!open) return;
    const job = await this.api.prove({ recording, edited: open.name, ...asked });
    await this.results.began("proof", job);
  }

  /** Let an edited subject play the levels of a recording. */
  async record(name: string, like: string): Promise<void> {
    this.jobs.begun(await this.api.record(name, like));
  }

  /** The last job that makes or made such a recording, whoever began it. */
  recordingOf(fits: (made: Recorded) => boolean): Job | undefined {
    return this.jobs.all.findLast((job) => job.kind === "record" && job.result && fits(job.result as Recorded));
  }

  /** Let who ended levels in some way play those again; with the same chances they end so again. */
  async recordLevels(levels: Levels, like: string): Promise<void> {
    this.jobs.begun(await this.api.recordSeeds(levels.subject, like, levels.seeds, levels.recording));
  }

  /** What a cell of the proof stands for, where its levels can be played again. */
  levelsOf(arm: Arm, share: Share): Levels | null {
    const { open, proof } = this;
    const subject = arm.kind === "blind" ? open?.name : arm.kind === "original" ? open?.history[0]?.of : "";
    // While it is played there come more of them.
    if (!subject || !proof || proof.provisional || !share.seeds?.length || share.cause === proof.value.causes[0])
      return null;
    const cause = (share.cause || "what was not told").slice(0, 30);
    const recording = plainName(`ended by ${cause} - ${arm.kind} ${proof.id.slice(0, 4)} - ${subject}`);
    return { subject, cause: share.cause, seeds: share.seeds, of: share.count, recording };
  }

  /** The proof that is being played, whoever began it. */
  get job(): Job | undefined {
    return this.results.jobOf("proof") ?? this.jobs.running.find((job) => job.kind === "prove");
  }

  /** Call in an effect: reads what it depends on, and brings the proof again while it grows. */
  follow(): void {
    const { job, line } = this;
    const coming = isActive(job) ? resultOf(job) : "";
    const known = this.lines.some((other) => other.id === coming);
    if (coming && job?.state === "running" && job.done > 0) this.askFor(coming);
    const id = coming && known ? coming : (line?.id ?? "");
    untrack(() => {
      if (!id || this.proof?.id !== id) this.proof = null;
      this.wanted.set(id ? `${id} ${id === coming ? job!.done : line?.created_at}` : "");
    });
  }

  /** A proof that is being played is listed once there is something to see of it; no need to ask at each level. */
  private askFor(id: string): void {
    if (this.results.all.some((line) => line.id === id) || Date.now() - this.asked < list_ms) return;
    this.asked = Date.now();
    void this.results.refresh();
  }

  private async bring(wanted: string): Promise<void> {
    const id = wanted.split(" ")[0]!;
    try {
      const { value, provisional } = await this.found.get(id);
      if (this.wanted.has(id)) this.proof = { id, value: value as Proof, provisional: provisional ?? false };
      this.proofProblem = "";
    } catch (failed) {
      if (this.wanted.now === wanted) this.proofProblem = messageOf(failed);
    }
  }
}

/** Some levels that a subject ended in one way, and what a recording of them is called. */
export interface Levels {
  readonly subject: string;
  readonly cause: string;
  readonly seeds: readonly number[];
  /** How many there are in all. */
  readonly of: number;
  readonly recording: string;
}

/** What a job says of the recording it makes. */
interface Recorded {
  readonly recording: string;
  readonly subject: string;
}

/** Made of what a name may hold. */
const plainName = (wanted: string): string =>
  wanted
    .replaceAll(/[^A-Za-z0-9 ._+-]+/g, "-")
    .slice(0, 80)
    .trim();

const newestFirst = (edited: readonly Edited[]): Edited[] => edited.toReversed();

/** Whether a proof is about an edited subject: about these weights, not others that had its name. */
export function proves(
  line: Pick<ResultLine, "arguments">,
  edited: Pick<Edited, "name" | "weights"> | undefined,
): boolean {
  if (!edited || line.arguments.edited !== edited.name) return false;
  const arms = (line.arguments.arms ?? []) as { kind: string; weights?: string }[];
  return arms.some((arm) => arm.kind === "blind" && arm.weights === edited.weights);
}
