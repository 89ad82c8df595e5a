/** One source as the page shows it. Where two stand side by side each view is given the session of its own. */
import { getContext, setContext, untrack } from "svelte";
import { messageOf } from "../api/errors";
import type { LensInfo, StudyInfo } from "../api/model";
import type { Service } from "../api/service";
import { amount, type Key, type Scope } from "./address/address.svelte";
import { Clock } from "./time/clock.svelte";
import { Episode } from "./recording/episode.svelte";
import type { Group } from "./recording/groups";
import type { Jobs } from "./results/jobs.svelte";
import { parseLink, type Link } from "./address/link";
import { Metrics } from "./recording/metrics.svelte";
import type { Names } from "./recording/names.svelte";
import type { Page } from "./page.svelte";
import type { OpenRecording } from "./recording/recording";
import { Results } from "./results/results.svelte";
import type { Runner } from "./results/runner.svelte";
import type { Term } from "./selection/terms";
import { Selection } from "./selection/selection.svelte";
import { fromText } from "./selection/text";
import { movedRows, movedTerms, openSource, twinOf, type Source } from "./source/source";
import type { Theme } from "./theme.svelte";
import type { Toasts } from "./toasts.svelte";
import type { Undo } from "./undo/undo.svelte";
import type { Interval } from "./time/interval";
import { TimeWindow } from "./time/window.svelte";
import type { Workspace, WorkspaceState, WorkspaceStateMaker } from "./workspace";

const speedKey = amount("speed", { otherwise: 1, fits: (speed) => speed > 0 && speed <= 8 });

export class Session {
  readonly address: Scope;
  readonly clock: Clock;
  readonly window: TimeWindow;
  readonly selection: Selection;
  readonly results: Results;
  readonly metrics: Metrics;
  readonly episode = new Episode();

  recording = $state.raw<OpenRecording | null>(null);
  group = $state(0);
  opening = $state("");
  /** Why the source that was asked for cannot be shown. */
  problem = $state("");
  /** Why there is nothing of this source at the moment that is shown. */
  away = $state("");

  private readonly states: ReadonlyMap<WorkspaceStateMaker, WorkspaceState>;
  private turn = 0;
  private shown = "";

  /** What `leader` shows is followed: the same moment, stretch of time and selection, in this one's rows. */
  constructor(
    readonly page: Page,
    readonly leader: Session | null = null,
    readonly source: Source | null = null,
  ) {
    this.address = leader ? page.address.b : page.address.a;
    this.clock = new Clock(leader?.clock);
    this.window = new TimeWindow(this.clock, this.address, leader?.window);
    this.selection = leader
      ? new Selection(undefined, (terms) => this.selectThere(terms))
      : new Selection(() => page.undo.did(this.selection));
    this.results = new Results(page.service, page.jobs, this.address);
    this.metrics = new Metrics(page.service.metrics, () => page.session.reopen());
    const makers = new Set(page.workspaces.all.flatMap((workspace) => workspace.states ?? []));
    this.states = new Map([...makers].map((Maker) => [Maker, new Maker(this)]));
  }

  // What the page shares.
  get service(): Service {
    return this.page.service;
  }
  get study(): StudyInfo | null {
    return this.page.study;
  }
  get lenses(): readonly LensInfo[] {
    return this.page.lenses;
  }
  get jobs(): Jobs {
    return this.page.jobs;
  }
  /** Who a lens runs on these rows: the live subject of that name, else the one that is shown. */
  runner(name = ""): Runner | null {
    const info = this.recording?.info;
    return info ? this.page.runners.of(info, this.study?.live_subjects ?? [], name) : null;
  }
  get undo(): Undo {
    return this.page.undo;
  }
  get theme(): Theme {
    return this.page.theme;
  }
  get names(): Names {
    return this.page.names;
  }
  get toasts(): Toasts {
    return this.page.toasts;
  }
  get workspace(): string {
    return this.page.workspace;
  }

  quietly(work: Promise<unknown>): Promise<void> {
    return this.page.quietly(work);
  }

  get<T>(key: Key<T>): T {
    return this.address.get(key);
  }

  set<T>(key: Key<T>, value: T): void {
    this.address.set(key, value);
  }

  /** What a workspace remembers of this source. */
  of<State extends object>(Maker: WorkspaceStateMaker<State>): State {
    const found = this.states.get(Maker);
    if (!found) throw new Error(`No workspace declares ${Maker.name} among its \`states\`.`);
    return found as State;
  }

  /** What the open workspace remembers of this source. */
  statesOf(workspace: Workspace | undefined): readonly WorkspaceState[] {
    return (workspace?.states ?? []).map((Maker) => this.states.get(Maker)!);
  }

  get openStates(): readonly WorkspaceState[] {
    return this.statesOf(this.page.workspaces.named(this.workspace));
  }

  /** The source that stands beside this one. */
  get other(): Session | null {
    return this.leader ?? this.page.slot.other;
  }

  /** How this one is called while two stand side by side. */
  get letter(): "A" | "B" {
    return this.leader ? "B" : "A";
  }

  get title(): string {
    const { info } = this.recording ?? {};
    const subject = info?.subject?.name ?? "";
    const same = this.other?.recording?.info.name === info?.name;
    return (same && subject) || (info?.name ?? this.source?.recording ?? "");
  }

  async open(name: string, link?: Link): Promise<void> {
    const turn = ++this.turn;
    this.opening = name;
    this.problem = "";
    this.clock.pause();
    try {
      const recording = await openSource(this.service, { recording: name, subject: this.source?.subject ?? "" });
      if (turn === this.turn) this.show(recording, link);
    } catch (problem) {
      if (turn !== this.turn) return;
      this.recording = null;
      this.problem = messageOf(problem);
    } finally {
      if (turn === this.turn) this.opening = "";
    }
  }

  private show(recording: OpenRecording, link?: Link): void {
    const { info } = recording;
    const { page } = this;
    const before = this.shown;
    const same = before === info.name;
    this.shown = info.name;
    this.recording = recording;
    this.results.attach(info.name, info.subject?.name, Boolean(this.source?.subject));
    void this.quietly(this.metrics.load(info.name));
    this.window.rows = info.rows;
    if (this.leader) return this.follow();
    page.workspace = page.workspaces.suitable(page.workspace, info.capabilities)?.name ?? "";
    this.clock.stepsPerSecond = 1 / (info.ordering?.seconds_per_step ?? 1 / 15);
    this.clock.speed = this.get(speedKey);
    const terms = fromText(link?.selection ?? "");
    if (!terms) this.toasts.say("The selection in the address could not be read; it was left out.", "problem");
    if (!(same && link)) this.undo.forget(this.selection);
    this.selection.attach(recording, terms ?? [], same && link !== undefined);
    for (const state of this.states.values()) state.attach?.(recording, { same, linked: link !== undefined, before });
    const { told } = this.window;
    if (info.ordering) this.goToGroup(link?.group ?? 0, link?.step ?? 0);
    else this.clock.focus(0, info.rows, link?.step ?? 0);
    if (link) this.window.restore(told);
  }

  /** The same place in the newest version of the recording, with nothing kept from failed requests. */
  async reopen(): Promise<void> {
    const old = this.recording;
    if (!old) return;
    const recording = await openSource(this.service, {
      recording: old.info.name,
      subject: this.source?.subject ?? "",
    });
    if (this.recording !== old) return;
    const playing = this.clock.playing;
    this.show(recording, this.leader ? undefined : parseLink(this.page.link));
    if (playing) this.clock.play();
  }

  /** Be where the leader is. Called in an effect: it reads what it depends on. */
  follow(): void {
    const { leader, recording } = this;
    const led = leader?.recording;
    if (!leader || !led || !recording) return;
    const { group } = leader;
    const { terms } = leader.selection;
    untrack(() => {
      this.followSelection(terms, led, recording);
      if (!recording.info.ordering) return this.clock.focus(0, recording.info.rows);
      const here = led.groups.at(group);
      const twin = here && (alike(led, recording) ? recording.groups.at(here.index) : twinOf(here, recording.groups));
      this.away = here && !twin ? `“${recording.info.name}” has no episode ${nameOf(here)}.` : "";
      if (twin) this.focus(twin);
    });
  }

  /** What stands here for terms of the leader's selection, and the terms themselves. */
  private sent = new Map<Term, Term>();
  private followed: readonly unknown[] = [];

  private followSelection(terms: readonly Term[], led: OpenRecording, recording: OpenRecording): void {
    if (this.followed[0] === terms && this.followed[1] === recording) return;
    this.followed = [terms, recording];
    const here = alike(led, recording) ? [...terms] : movedTerms(terms, led.groups, recording.groups);
    this.sent = new Map(here.map((term, index) => [term, terms[index]!]));
    this.selection.attach(recording, here);
  }

  private selectThere(terms: readonly Term[]): void {
    const { leader, recording } = this;
    const led = leader?.recording;
    if (!led || !recording) return;
    const moved = (term: Term): Term =>
      alike(led, recording) ? term : movedTerms([term], recording.groups, led.groups)[0]!;
    leader.selection.set(terms.map((term) => this.sent.get(term) ?? moved(term)));
  }

  /** Rows of the leader as rows of this one; none where they are not there. */
  rowsHere(rows: Interval): Interval | null {
    const [led, own] = [this.leader?.recording, this.recording];
    if (!led || !own || alike(led, own)) return rows;
    return movedRows([rows], led.groups, own.groups)[0] ?? null;
  }

  rowsThere(rows: Interval): Interval | null {
    const [led, own] = [this.leader?.recording, this.recording];
    if (!led || !own || alike(led, own)) return rows;
    return movedRows([rows], own.groups, led.groups)[0] ?? null;
  }

  goToGroup(index: number, step = 0): void {
    const group = this.recording?.groups.at(index) ?? this.recording?.groups.at(0);
    if (!group || !this.recording) return;
    if (!this.leader) return this.focus(group, step);
    const led = this.leader.recording;
    const twin = led && (alike(led, this.recording) ? group : twinOf(group, led.groups));
    if (twin) this.leader.goToGroup(twin.index, step);
    else this.toasts.say(`“${led?.info.name}” has no episode ${nameOf(group)} to stand beside it.`, "problem");
  }

  private focus(group: Group, step = 0): void {
    this.group = group.index;
    this.clock.focus(group.start, group.stop, group.start + step);
    if (this.episode.group !== group) this.window.moved();
    if (this.episode.group !== group) void this.episode.load(this.recording!, group);
  }

  /** Go to any row, in whatever group it lies. */
  goToRow(row: number): void {
    const group = this.recording?.groups.of(row);
    if (group && group.index !== this.group) this.goToGroup(group.index, row - group.start);
    else this.clock.seek(row);
  }

  /** The next (or previous) stretch of selected rows, over the borders of episodes. */
  goToSelected(direction: 1 | -1): void {
    const rows = this.selection.rows;
    if (!rows) return;
    const row = this.clock.row;
    if (direction > 0) {
      const next = rows.next(rows.has(row) ? this.runEnd(row) : row + 1);
      if (next < rows.size) this.goToRow(next);
    } else {
      const before = rows.runs(0, row).at(-1);
      if (before) this.goToRow(Math.max(before[0], this.recording?.groups.of(before[1] - 1)?.start ?? 0));
    }
  }

  private runEnd(row: number): number {
    const end = this.selection.rows!.nextGap(row);
    return Math.min(end, this.recording?.groups.of(row)?.stop ?? end);
  }

  setSpeed(speed: number): void {
    this.clock.speed = speed;
    this.set(speedKey, speed);
  }
}

const alike = (one: OpenRecording, other: OpenRecording): boolean => one.info.name === other.info.name;
const nameOf = ({ seed, label }: Group): string => (seed == null ? label : `with seed ${seed}`);

export function useSession(): Session {
  return getContext<Session>("session");
}

/** Every view inside shows this source, one of two that stand side by side. */
export function provideSource(session: Session): void {
  setContext("session", session);
  setContext("beside", session);
}

/** The source that a view shows where it stands twice. */
export function besideSource(): Session | undefined {
  return getContext<Session | undefined>("beside");
}
