/** Subjects with factors ablated: which factors are chosen, what was made, and its ablation test. */
import { untrack } from "svelte";
import { EditedService, type Edited } from "../../api/edited";
import { messageOf } from "../../api/errors";
import type { Job } from "../../api/model";
import { ResultService, type ResultLine } from "../../api/results";
import { key, text } from "../address/address.svelte";
import { indicesFrom } from "../vision/factors";
import type { Jobs } from "../results/jobs.svelte";
import type { Arm, AblationTest, Share } from "./ablationtest";
import { isActive, resultOf, type Results } from "../results/results.svelte";
import type { Session } from "../session.svelte";
import { Vision } from "../vision/vision.svelte";
import { Refresher } from "../results/refresher";

/** Factors by their numbers; none said: the one that is pinned. */
const chosenKey = key<string | null>("ablate", {
  otherwise: null,
  own: true,
  read: (told) => (/^[\d,]*$/.test(told) ? told : undefined),
  write: (value) => value ?? "none",
});
const editedKey = text("edited", { own: true });
/** The cell of the table of an ablation test whose levels are listed. */
export const cellKey = text("cell", { own: true });

/** Between two looks at an ablation test that is being played. */
const pause_ms = 500;
/** Between two looks for an ablation test that has just begun. */
const list_ms = 1500;

export class Ablation {
  /** Newest first. */
  edited = $state.raw<readonly Edited[]>([]);
  loaded = $state(false);
  problem = $state("");
  /** The ablation test of the open subject, and whether it is still being played. */
  ablationTest = $state.raw<{ id: string; value: AblationTest; provisional: boolean } | null>(null);
  testProblem = $state("");

  /** Factors that are ablated from the next one; a pinned one is meant until somebody says otherwise. */
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
  readonly lines = $derived.by(() => this.results.of("ablation_test").filter((line) => isTestOf(line, this.open)));
  readonly line = $derived.by(() => this.results.shown("ablation_test", (line) => isTestOf(line, this.open)));

  private readonly api: EditedService;
  private readonly found: ResultService;
  private readonly wanted = new Refresher((wanted) => this.bring(wanted), pause_ms);
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

  async ablate(recording: string, name: string): Promise<void> {
    const result = this.vision.shown?.line.id ?? "";
    const made = await this.api.ablate({ recording, result, factors: [...this.chosen], ...(name ? { name } : {}) });
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

  async runAblationTest(
    recording: string,
    asked: { levels: number; controls: number; invisible: string },
  ): Promise<void> {
    const { open } = this;
    if (!open) return;
    const test = { kind: "ablation_test", recording, edited: open.name, ...asked } as const;
    await this.results.attempt(test.kind, async (other) =>
      this.results.began(test.kind, await this.session.service.start({ ...test, ...other })),
    );
  }

  /** Let an edited subject play the levels of a recording. */
  async record(name: string, like: string): Promise<void> {
    this.jobs.heard(await this.session.service.start({ kind: "record", subject: name, like, same_seeds: true }));
  }

  /** The last job that makes or made such a recording, whoever began it. */
  recordingOf(fits: (made: NonNullable<Job["result"]>) => boolean): Job | undefined {
    return this.jobs.all.findLast((job) => job.kind === "record" && job.result && fits(job.result));
  }

  /** Let who ended levels in some way play those again; with the same chances they end so again. */
  async recordLevels(levels: Levels, like: string): Promise<void> {
    const { subject, recording, seeds } = levels;
    this.jobs.heard(await this.session.service.start({ kind: "record", subject, like, seeds: [...seeds], recording }));
  }

  /** What a cell of the ablation test stands for, where its levels can be played again. */
  levelsOf(arm: Arm, share: Share): Levels | null {
    const { open, ablationTest } = this;
    const subject = arm.kind === "ablated" ? open?.name : arm.kind === "original" ? open?.history[0]?.of : "";
    // While it is played there come more of them.
    if (
      !subject ||
      !ablationTest ||
      ablationTest.provisional ||
      !share.seeds.length ||
      share.cause === ablationTest.value.causes[0]
    )
      return null;
    const cause = (share.cause || "an unknown cause").slice(0, 30);
    const recording = plainName(`ended by ${cause} - ${arm.kind} ${ablationTest.id.slice(0, 4)} - ${subject}`);
    return { subject, cause: share.cause, seeds: share.seeds, of: share.count, recording };
  }

  /** The ablation test that is being played, whoever began it. */
  get job(): Job | undefined {
    return this.results.jobOf("ablation_test") ?? this.jobs.running.find((job) => job.kind === "ablation_test");
  }

  /** Call in an effect: reads what it depends on, and brings the ablation test again while it grows. */
  follow(): void {
    const { job, line } = this;
    const coming = isActive(job) ? resultOf(job) : "";
    const known = this.lines.some((other) => other.id === coming);
    if (coming && job?.state === "running" && job.done > 0) this.askFor(coming);
    const id = coming && known ? coming : (line?.id ?? "");
    untrack(() => {
      if (!id || this.ablationTest?.id !== id) this.ablationTest = null;
      this.wanted.set(id ? `${id} ${id === coming ? job!.done : line?.created_at}` : "");
    });
  }

  /** An ablation test that is being played is listed once there is something to see of it; no need to ask at each level. */
  private askFor(id: string): void {
    if (this.results.all.some((line) => line.id === id) || Date.now() - this.asked < list_ms) return;
    this.asked = Date.now();
    void this.results.refresh();
  }

  private async bring(wanted: string): Promise<void> {
    const id = wanted.split(" ")[0]!;
    try {
      const { value, provisional } = await this.found.get(id);
      if (this.wanted.has(id))
        this.ablationTest = { id, value: value as AblationTest, provisional: provisional ?? false };
      this.testProblem = "";
    } catch (failed) {
      if (this.wanted.now === wanted) this.testProblem = messageOf(failed);
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

/** Made of what a name may hold. */
const plainName = (wanted: string): string =>
  wanted
    .replaceAll(/[^A-Za-z0-9 ._+-]+/g, "-")
    .slice(0, 80)
    .trim();

const newestFirst = (edited: readonly Edited[]): Edited[] => edited.toReversed();

/** Whether an ablation test is about an edited subject: about this one, not another that had its name. */
export function isTestOf(
  line: Pick<ResultLine, "arguments">,
  edited: Pick<Edited, "name" | "identity"> | undefined,
): boolean {
  if (!edited || line.arguments.edited !== edited.name) return false;
  const arms = (line.arguments.arms ?? []) as { kind: string; identity?: string }[];
  return arms.some((arm) => arm.kind === "ablated" && arm.identity === edited.identity);
}
