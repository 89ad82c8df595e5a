/** An episode rolled out in another way: the moves from a recorded step on, where they led, and which of it is shown. */
import { isAbort, messageOf } from "../../api/errors";
import type { Frame } from "../../api/data/frames";
import type { Job } from "../../api/model";
import { WhatIfService, sent } from "../../api/whatif";
import type { Move, WhatIfAsk, WhatIfNode, WhatIfReply, WhatIfThing } from "../../api/whatif";
import { text } from "../address/address.svelte";
import type { Clock } from "../time/clock.svelte";
import type { FactorRow } from "../vision/factorrows";
import { History } from "../undo/history";
import type { Jobs } from "../results/jobs.svelte";
import { WhatIfFrames } from "./frames";
import { WhatIfTotals } from "./totals";
import type { Session } from "../session.svelte";
import { courseFromText, courseToText, sameMove, type Course } from "./text";
import type { WorkspaceState } from "../workspace";

/** Where it begins and every move; the service repeats them. */
const courseKey = text("play", { own: true });
/** Who plays it out, where that is not who was recorded. */
const whoKey = text("who", { own: true });

/** Where a rollout begins. */
interface Home {
  readonly recording: string;
  readonly group: number;
  /** First row of the episode. */
  readonly start: number;
  /** How many steps the episode has. */
  readonly length: number;
}

/** Steps that the agent goes on between two looks. */
const chunk = 8;
const furthest = 1000;
/** How long a node is shown before what can be changed in it is asked for. */
const patience_ms = 120;

/** What stands over time under the pictures. */
export const timeTab = text("time");

export class WhatIf implements WorkspaceState {
  /** What was done, as far as it was played. */
  moves = $state.raw<readonly Move[]>([]);
  nodes = $state.raw<readonly WhatIfNode[]>([]);
  /** The node that is shown. */
  at = $state(0);
  reply = $state.raw<Omit<WhatIfReply, "nodes" | "things"> | null>(null);
  /** What can be changed at the node that is shown. */
  things = $state.raw<readonly WhatIfThing[]>([]);
  /** The thing that is chosen, by its id. */
  thing = $state("");
  busy = $state(false);
  going = $state(false);
  problem = $state("");
  /** Counts pictures that came. */
  arrived = $state(0);
  saved = $state("");

  readonly text = $derived.by(() => this.session.get(courseKey));
  readonly open = $derived(this.text !== "");
  readonly subject = $derived.by(() => this.session.get(whoKey));
  readonly node = $derived(this.nodes[this.at] ?? null);
  readonly ended = $derived(this.nodes.at(-1)?.ended ?? "");
  readonly frames: WhatIfFrames;
  readonly totals: WhatIfTotals;

  private readonly api: WhatIfService;
  private home: Home | null = null;
  private written = "";
  private who = "";
  private history = new History<string>("");
  private turn = 0;
  private queue: Promise<void> = Promise.resolve();
  private waiting = 0;
  private looking = 0;

  constructor(private readonly session: Session) {
    this.api = new WhatIfService(session.service.client);
    this.frames = new WhatIfFrames(this.api, () => this.arrived++);
    this.totals = new WhatIfTotals(this.api, () => this.arrived++);
  }

  private get jobs(): Jobs {
    return this.session.jobs;
  }

  private get clock(): Clock {
    return this.session.clock;
  }

  /** Whether a model and a world are live, so that episodes can be rolled out in another way. */
  get can(): boolean {
    const { study, recording, leader } = this.session;
    const live = (study?.live_subjects.length ?? 0) > 0 && (study?.live_worlds.length ?? 0) > 0;
    return live && recording?.sees === true && !leader;
  }

  /** The step of the episode where it begins. */
  get from(): number {
    return this.nodes[0]?.step ?? courseFromText(this.text)?.step ?? 0;
  }

  /** Begin at the step that is shown. */
  begin(): void {
    if (!this.can) return;
    this.session.set(timeTab, "");
    this.clock.pause();
    this.write(courseToText({ step: this.clock.step, moves: [] }), false);
  }

  close(): void {
    this.stop();
    this.session.address.clear(courseKey, whoKey);
  }

  /** Another subject plays, from the same step and with the same moves. */
  choose(subject: string): void {
    this.session.set(whoKey, subject);
  }

  /** Follow what the address says; called whenever it, the recording or the episode changes. */
  follow(home: Home): void {
    const { text, subject } = this;
    const moved = this.home !== null && (this.home.recording !== home.recording || this.home.group !== home.group);
    if (!text || (moved && this.nodes.length && text === this.written)) {
      this.forget();
      if (text) this.close();
      return;
    }
    this.home = home;
    if (text === this.written && subject === this.who && !moved) return;
    const course = courseFromText(text);
    if (moved || subject !== this.who || course?.step !== this.nodes[0]?.step) this.forget();
    [this.home, this.written, this.who] = [home, text, subject];
    if (!course) this.problem = "The address does not say what was rolled out in a way that can be read.";
    else if (course.step >= home.length) this.problem = `The episode has no step ${course.step} to begin at.`;
    else this.do(() => this.load(course));
  }

  /** The clock moved: show what was played at the same step. */
  atStep(step: number): void {
    const here = this.node;
    if (!here || !this.home || Math.min(here.step, this.home.length - 1) === step) return;
    const found = this.nodes.findLastIndex((node) => node.step === step);
    if (found >= 0) this.show(found);
    else if (step < this.from) this.show(0);
    else this.show(this.nodes.length - 1);
  }

  /** Show a node, and have time stand at its step. */
  go(index: number): void {
    this.show(Math.max(0, Math.min(this.nodes.length - 1, index)));
    this.seek();
  }

  private seek(): void {
    const { home, node } = this;
    if (home && node) this.clock.seek(home.start + Math.min(node.step, home.length - 1));
  }

  private show(index: number): void {
    if (index === this.at) return;
    this.at = index;
    this.things = [];
    // Whoever passes by, playing or with a held key, does not want to move things.
    clearTimeout(this.looking);
    this.looking = window.setTimeout(() => this.do(() => this.look()), patience_ms);
  }

  /** Make a move from the node that is shown; what followed it before is dropped. */
  make(move: Move): void {
    if (this.waiting > 4 || this.going) return;
    this.do(() => this.load({ step: this.from, moves: [...this.moves.slice(0, this.at), move] }, true));
  }

  /** Take the last move back, or those after the node that is shown. */
  back(): void {
    this.stop();
    const keep = this.at < this.moves.length ? this.at : this.moves.length - 1;
    if (keep < 0) return;
    this.do(() => this.load({ step: this.from, moves: this.moves.slice(0, keep) }, true));
  }

  reset(): void {
    this.stop();
    if (this.moves.length) this.do(() => this.load({ step: this.from, moves: [] }, true));
  }

  /** Let the agent play from the node that is shown to the end, telling each few steps. */
  goOn(): void {
    if (this.going || this.node?.ended) return;
    this.going = true;
    const moves = this.moves.slice(0, this.at);
    this.do(async () => {
      await this.load({ step: this.from, moves }, false);
      try {
        while (this.going && !this.ended && this.moves.length < furthest)
          await this.load({ step: this.from, moves: this.moves }, false, chunk);
      } finally {
        this.going = false;
      }
      this.write(courseToText({ step: this.from, moves: this.moves }));
    });
  }

  stop(): void {
    this.going = false;
  }

  /** Keep it as a recording; the job that does it. */
  async save(): Promise<Job> {
    const { moves, ...where } = this.ask(this.moves);
    const asked = { kind: "what_if", ...where, moves: moves.map(sent) } as const;
    const job = this.jobs.heard(await this.session.service.start(asked));
    this.saved = job.id;
    return job;
  }

  get saving(): Job | undefined {
    return this.jobs.all.find((job) => job.id === this.saved);
  }

  /** How much of each factor is where at a node. */
  factors(node: WhatIfNode, result: string, cells: number): FactorRow | null {
    void this.arrived;
    return this.frames.factors(node.key, result, cells);
  }

  /** Why they cannot be told there. */
  lost(node: WhatIfNode, result: string): string {
    void this.arrived;
    return this.frames.problem(node.key, result);
  }

  /** The node that stands for each step that was played: the one that is shown, else the last of that step. */
  get steps(): WhatIfNode[] {
    const found = new Map(this.nodes.map((node) => [node.step, node]));
    if (this.node) found.set(this.node.step, this.node);
    return [...found.values()];
  }

  /** Good and bad of each factor at a node, [factor, sign], once it is known. */
  totalsOf(node: WhatIfNode, result: string): ArrayLike<number> | null {
    void this.arrived;
    return this.totals.at(node.key, result);
  }

  frame(node: WhatIfNode, array: string): Frame | null {
    void this.arrived;
    return this.frames.at(node.key, array);
  }

  undo(): void {
    this.put(this.history.undo());
  }

  redo(): void {
    this.put(this.history.redo());
  }

  private put(text: string): void {
    if (text) this.session.set(courseKey, text);
    else this.close();
  }

  private forget(): void {
    this.turn++;
    this.stop();
    clearTimeout(this.looking);
    this.session.undo.forget(this);
    [this.moves, this.nodes, this.things, this.at] = [[], [], [], 0];
    [this.reply, this.home, this.written, this.problem, this.thing, this.saved] = [null, null, "", "", "", ""];
    this.history = new History<string>("");
    this.frames.clear();
    this.totals.clear();
  }

  private write(text: string, keep = true): void {
    if (keep) {
      if (this.history.current !== this.written) this.history = new History<string>(this.written);
      if (text !== this.history.current) {
        this.history.push(text);
        this.session.undo.did(this);
      }
      this.written = text;
    }
    this.session.set(courseKey, text);
  }

  /** One thing after another, so that a held key does not overtake itself. */
  private do(work: () => Promise<void>): void {
    const turn = this.turn;
    this.waiting++;
    this.queue = this.queue.then(async () => {
      this.busy = true;
      try {
        if (turn === this.turn) await work();
      } catch (problem) {
        if (turn === this.turn && !isAbort(problem)) this.problem = messageOf(problem);
      } finally {
        this.waiting--;
        this.busy = this.waiting > 0;
      }
    });
  }

  private ask(moves: readonly Move[]): Pick<WhatIfAsk, "recording" | "row" | "moves" | "subject" | "other"> {
    const { home, who } = this;
    if (!home) throw new Error("Nothing is being rolled out.");
    const row = home.start + (this.nodes[0]?.step ?? courseFromText(this.written)?.step ?? 0);
    return { recording: home.recording, row, moves, ...(who ? { subject: who, other: true } : {}) };
  }

  /** Have these moves played; `made` says that somebody just made them. */
  private async load(course: Course, made = false, goOn = 0): Promise<void> {
    const turn = this.turn;
    const same = sameUntil(this.moves, course.moves);
    const known = Math.min(this.nodes.length, same + 1);
    this.problem = "";
    const reply = await this.api.play({ ...this.ask(course.moves), since: known, go_on: goOn });
    if (turn !== this.turn) return;
    const { nodes, things, ...rest } = reply;
    const agent: Move[] = Array.from({ length: known + nodes.length - 1 - course.moves.length }, () => ({
      do: "agent",
    }));
    this.moves = [...course.moves, ...agent];
    this.nodes = [...this.nodes.slice(0, known), ...nodes];
    [this.reply, this.things] = [rest, things];
    const last = this.nodes.at(-1);
    if (last?.thing) this.thing = last.thing;
    else if (!things.some((thing) => thing.id === this.thing)) this.thing = "";
    this.frames.retry();
    this.totals.retry();
    this.at = this.nodes.length - 1;
    this.seek();
    if (made) this.write(courseToText({ step: this.from, moves: this.moves }));
  }

  /** What can be changed at the node that is shown. */
  private async look(): Promise<void> {
    const [turn, at] = [this.turn, this.at];
    if (!this.reply || this.reply.why_fixed) return;
    const { things } = await this.api.play({ ...this.ask(this.moves.slice(0, at)), since: at + 1 });
    if (turn === this.turn && at === this.at) this.things = things;
  }

  /** Steps beyond the recorded end that are shown. */
  get beyond(): number {
    return this.open ? Math.max(0, (this.node?.step ?? 0) - this.clock.length + 1) : 0;
  }

  /** While an episode is rolled out in another way, keys are moves; `p` begins and ends it. */
  key(pressed: string): boolean {
    if (pressed === "p" && !this.open) {
      this.begin();
      return this.open;
    }
    if (!this.open) return false;
    const actions = this.reply?.discrete ? this.reply.actions.length : 0;
    if (/^[1-9]$/.test(pressed) && Number(pressed) <= actions) this.make({ do: "act", action: Number(pressed) - 1 });
    else if (pressed === "a") this.make({ do: "agent" });
    else if (pressed === "g" && this.going) this.stop();
    else if (pressed === "g") this.goOn();
    else if (pressed === "Backspace") this.back();
    else if (pressed === "ArrowLeft" || pressed === "ArrowRight")
      this.go(this.at + (pressed === "ArrowRight" ? 1 : -1));
    else if (pressed === "Home") this.go(0);
    else if (pressed === "End") this.go(this.nodes.length - 1);
    else if (pressed === "Escape" && this.session.page.help) return false;
    else if (pressed === "Escape" && this.going) this.stop();
    else if (pressed === "p" || pressed === "Escape") this.close();
    else return false;
    return true;
  }
}

function sameUntil(one: readonly Move[], other: readonly Move[]): number {
  let same = 0;
  while (same < Math.min(one.length, other.length) && sameMove(one[same]!, other[same]!)) same++;
  return same;
}
