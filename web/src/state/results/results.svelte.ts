/** What lenses found in the open recording, and the lenses that are looking right now. */
import { SvelteMap } from "svelte/reactivity";
import { ApiError, messageOf } from "../../api/errors";
import type { Job, JobOf } from "../../api/model";
import { ResultService, type Result, type ResultLine } from "../../api/results";
import type { ArraySlice, Range, Service } from "../../api/service";
import { family, type Scope } from "../address/address.svelte";
import type { Jobs } from "./jobs.svelte";

/** Which result of a kind is shown, where somebody chose. */
const chosenKey = family("result-", { own: true });

/** Results that are held whole at a time; more are asked for again. */
const maxValues = 12;

/** Why a job would not begin, and how to go on all the same where another subject is all that is the matter. */
export interface Refusal {
  readonly message: string;
  readonly anyway?: () => Promise<void>;
}

export class Results {
  /** Newest first. */
  all = $state.raw<readonly ResultLine[]>([]);
  loaded = $state(false);
  problem = $state("");

  /** Why a lens or a job of a kind would not even begin, in the service's words. */
  readonly refused = new SvelteMap<string, Refusal>();

  private readonly api: ResultService;
  private readonly started = new SvelteMap<string, string>();
  private readonly values = new Map<string, Promise<Result>>();
  private recording = $state("");
  /** Who played what is recorded. */
  private subject = $state("");
  /** Another subject looks at the rows: only what it saw counts. */
  private strict = $state(false);
  private wanted = false;
  private refreshing = false;
  private turn = 0;

  constructor(
    private readonly service: Service,
    private readonly jobs: Jobs,
    private readonly address: Scope,
  ) {
    this.api = new ResultService(service.client);
  }

  /** Another recording, or another version of the same. */
  attach(recording: string, subject = "", strict = false): void {
    if (recording !== this.recording) {
      this.all = [];
      this.loaded = false;
      this.started.clear();
      this.refused.clear();
      this.values.clear();
    }
    this.recording = recording;
    this.subject = subject;
    this.strict = strict;
    if (this.wanted) void this.load();
  }

  /** Called by every view that shows results: where there is none, nobody asks. */
  want(): void {
    if (this.wanted) return;
    this.wanted = true;
    void this.load();
  }

  /** Read the list again, at most once at a time. */
  async refresh(): Promise<void> {
    if (this.refreshing) return;
    this.refreshing = true;
    await this.load();
    this.refreshing = false;
  }

  private async load(): Promise<void> {
    const turn = ++this.turn;
    try {
      const lines = await this.api.list(this.recording);
      if (turn !== this.turn) return;
      this.all = lines.toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1));
      this.problem = "";
    } catch (problem) {
      if (turn === this.turn) this.problem = messageOf(problem);
    } finally {
      if (turn === this.turn) this.loaded = true;
    }
  }

  of(kind: string): ResultLine[] {
    return this.own(({ kind: other }) => other === kind);
  }

  /** Results of a type, whichever lens made them. */
  ofType(type: string): ResultLine[] {
    return this.own(({ type: other }) => other === type);
  }

  private own(fits: (line: ResultLine) => boolean): ResultLine[] {
    return this.all.filter((line) => fits(line) && (!this.strict || line.arguments.subject === this.subject));
  }

  /** The result that was chosen for a kind, else the newest that fits; what others saw comes after who played. */
  shown(kind: string, fits: (line: ResultLine) => boolean = () => true): ResultLine | undefined {
    const lines = this.of(kind).filter(fits);
    const chosen = this.address.get(chosenKey(kind));
    return lines.find((line) => line.id === chosen) ?? preferred(lines, this.subject);
  }

  choose(kind: string, id: string): void {
    this.address.set(chosenKey(kind), preferred(this.of(kind), this.subject)?.id === id ? "" : id);
  }

  whole(id: string): Promise<Result> {
    const known = this.values.get(id);
    if (known) return known;
    const coming = this.api.get(id);
    this.values.set(id, coming);
    coming.catch(() => this.values.delete(id));
    if (this.values.size > maxValues) this.values.delete(this.values.keys().next().value!);
    return coming;
  }

  /** As it is now: a state on the way is another one a moment later. */
  anew(id: string): Promise<Result> {
    this.values.delete(id);
    return this.whole(id);
  }

  /** What was found in other recordings, newest first. */
  async elsewhere(kind: string): Promise<ResultLine[]> {
    const lines = await this.api.everywhere(kind);
    const others = lines.filter((line) => line.recording !== this.recording && !line.provisional);
    return others.toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1));
  }

  array(id: string, name: string, part?: Range): Promise<ArraySlice> {
    return this.api.array(id, name, part);
  }

  /** The same in few bytes, exact to 1/65534 of the largest number. */
  small(id: string, name: string): Promise<ArraySlice> {
    return this.api.small(id, name);
  }

  /** The job that last looked through a lens for this page; one that somebody else started counts while it runs. */
  jobOf(lens: string): Job | undefined {
    const own = this.started.get(lens);
    return (
      this.jobs.all.find((job) => job.id === own) ??
      this.jobs.running.find((job) => job.kind === "lens" && job.title === `${lens} of ${this.recording}`)
    );
  }

  async look(
    lens: string,
    parameters: NonNullable<JobOf<"lens">["parameters"]>,
    more: Pick<JobOf<"lens">, "rows" | "subject" | "other"> = {},
  ): Promise<void> {
    const recording = this.recording;
    const subject = this.strict ? { subject: this.subject, other: true } : {};
    const asked = { kind: "lens", lens, recording, parameters, ...subject, ...more } as const;
    await this.attempt(lens, async (other) => this.began(lens, await this.service.start({ ...asked, ...other })));
  }

  /** Begin a job; where it is refused for another subject or world alone, somebody may say to go on all the same. */
  async attempt(
    kind: string,
    begin: (more: { other?: true }) => Promise<void>,
    more: { other?: true } = {},
  ): Promise<void> {
    this.refused.delete(kind);
    try {
      await begin(more);
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      const anyway = problem.kind === "NotAsRecorded" && (() => this.attempt(kind, begin, { other: true }));
      this.refused.set(kind, { message: problem.message, ...(anyway && { anyway }) });
    }
  }

  /** A job that this page started will make a result of a kind. */
  async began(kind: string, job: Job): Promise<void> {
    this.started.set(kind, job.id);
    await this.heard(this.jobs.heard(job));
  }

  /** A job that is done may have made a result: show that one. */
  async heard(job: Job): Promise<void> {
    const id = resultOf(job);
    if (job.state !== "done" || !id) return;
    this.values.delete(id);
    await this.load();
    const line = this.all.find((other) => other.id === id);
    if (line && this.started.get(line.kind) === job.id) this.choose(line.kind, id);
  }
}

/** Of results, newest first, the first of the subject that played, else the first. */
export function preferred<Line extends Pick<ResultLine, "arguments">>(
  lines: readonly Line[],
  played: string,
): Line | undefined {
  const own = ({ arguments: { subject } }: Line): boolean => typeof subject !== "string" || subject === played;
  return lines.find(own) ?? lines[0];
}

/** The result that a job made, or is making. */
export const resultOf = (job: Job | undefined): string => job?.result?.result ?? "";

export const isActive = (job: Job | undefined): boolean => job?.state === "running" || job?.state === "queued";
