/** Everything the page knows, in one place that views read and never talk past. */
import { getContext, setContext } from "svelte";
import { SvelteMap } from "svelte/reactivity";
import { ApiError, messageOf, Unreachable } from "../api/errors";
import { Live } from "../api/live";
import type { Job, LensInfo, StudyInfo } from "../api/model";
import { Service } from "../api/service";
import { Blinding } from "./blinding.svelte";
import { Clock } from "./clock.svelte";
import { Compare, compareKeys } from "./compare.svelte";
import { Edits } from "./edits.svelte";
import { Episode } from "./episode.svelte";
import { Jobs } from "./jobs.svelte";
import { formatLink, parseLink, type Link } from "./link";
import { Memory, memoryKeys } from "./memory.svelte";
import { Metrics } from "./metrics.svelte";
import { Names } from "./names.svelte";
import { Playout } from "./playout.svelte";
import { OpenRecording } from "./recording";
import { Results } from "./results.svelte";
import { Selection } from "./selection.svelte";
import { fromText, toText } from "./selectiontext";
import { Theme } from "./theme.svelte";
import { Toasts } from "./toasts.svelte";
import { Undo } from "./undo.svelte";
import { Vision } from "./vision.svelte";
import { TimeWindow, windowKeys } from "./window.svelte";
import type { Workspaces } from "./workspace";

/** A study whose names have never been listed opens without them: it takes on its colours a moment later. */
const patience_ms = 1000;

/** What other parts of the session write into the address themselves. */
const ownKeys = new Set([...windowKeys, ...memoryKeys, ...compareKeys]);

export class Session {
  readonly service = new Service();
  readonly clock = new Clock();
  readonly window = new TimeWindow(this.clock);
  readonly undo = new Undo();
  readonly selection: Selection = new Selection(() => this.undo.did(this.selection));
  readonly compare = new Compare();
  readonly memory: Memory = new Memory(this.service, () => this.undo.did(this.memory));
  readonly episode = new Episode();
  readonly metrics = new Metrics(this.service.metrics, () => this.reopen());
  readonly theme = new Theme();
  readonly names = new Names();
  readonly toasts = new Toasts();
  readonly jobs = new Jobs(this.service);
  readonly settings = new SvelteMap<string, string>();
  readonly results = new Results(this.service, this.jobs, this.settings);
  readonly vision: Vision = new Vision(this.service, this.results, this.settings, () => this.undo.did(this.vision));
  readonly blinding = new Blinding(this.service, this.jobs, this.results, this.vision, this.settings);
  readonly playout: Playout = new Playout(this.service, this.jobs, this.clock, this.settings, {
    did: () => this.undo.did(this.playout),
    forgot: () => this.undo.forget(this.playout),
  });
  readonly edits = new Edits(this.service, this.jobs, this.memory, this.results, this.settings);
  readonly live = new Live(
    (job) => this.heardJob(job),
    (connected) => this.heardState(connected),
  );

  study = $state.raw<StudyInfo | null>(null);
  recording = $state.raw<OpenRecording | null>(null);
  lenses = $state.raw<readonly LensInfo[]>([]);
  workspace = $state("");
  group = $state(0);
  help = $state("");
  /** Help opens on the side where it does not cover what it explains. */
  helpSide = $state<"left" | "right">("right");
  /** Where a selection made with the keyboard begins. */
  mark: number | null = null;
  reachable = $state(true);
  connected = $state(false);
  opening = $state("");
  /** Why the study, or the recording that was asked for, cannot be shown. */
  problem = $state("");

  private refreshing = 0;
  private turn = 0;
  private shown = "";
  /** Whether news may have been missed. */
  private missed = false;

  constructor(readonly workspaces: Workspaces) {
    this.workspace = workspaces.all[0]?.name ?? "";
    this.service.client.onAnswer((reachable) => {
      const back = reachable && !this.reachable;
      this.reachable = reachable;
      if (back && this.recording) void this.quietly(this.reopen());
    });
  }

  static provide(workspaces: Workspaces): Session {
    return setContext("session", new Session(workspaces));
  }

  async start(): Promise<void> {
    this.problem = "";
    const names = this.quietly(this.learnNames());
    try {
      this.study = await this.service.study();
    } catch (problem) {
      this.problem = messageOf(problem);
      return;
    }
    this.live.connect();
    void this.quietly(this.jobs.load());
    void this.quietly(this.service.lenses().then((lenses) => (this.lenses = lenses)));
    await Promise.race([names, new Promise((resolve) => setTimeout(resolve, patience_ms))]);
    await this.follow(parseLink(location.hash));
  }

  /** Go where a link points. */
  async follow(link: Link): Promise<void> {
    const names = this.study?.recordings.map((recording) => recording.name) ?? [];
    if (link.recording && !names.includes(link.recording))
      this.toasts.say(`There is no recording “${link.recording}” in this study.`, "problem");
    const name = names.includes(link.recording) ? link.recording : (this.firstGood() ?? names[0]);
    this.settings.clear();
    for (const [key, value] of Object.entries(link.settings)) if (!ownKeys.has(key)) this.settings.set(key, value);
    this.compare.restore(link.settings);
    this.clock.speed = Number(link.settings.speed) || 1;
    if (link.workspace) this.workspace = link.workspace;
    if (name !== undefined) await this.open(name, name === link.recording ? link : undefined);
  }

  async open(name: string, link?: Link): Promise<void> {
    const turn = ++this.turn;
    this.opening = name;
    this.problem = "";
    this.clock.pause();
    try {
      const recording = await OpenRecording.open(this.service, name);
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
    this.recording = recording;
    this.results.attach(recording.info.name, recording.info.subject?.name);
    void this.quietly(this.metrics.load(recording.info.name));
    this.workspace = this.workspaces.suitable(this.workspace, recording.info.capabilities)?.name ?? "";
    this.clock.stepsPerSecond = 1 / (recording.info.ordering?.seconds_per_step ?? 1 / 15);
    const terms = fromText(link?.selection ?? "");
    if (!terms) this.toasts.say("The selection in the address could not be read; it was left out.", "problem");
    const same = this.shown === recording.info.name;
    this.shown = recording.info.name;
    if (!(same && link)) this.undo.forget(this.selection);
    this.selection.attach(recording, terms ?? [], same && link !== undefined);
    this.window.rows = recording.info.rows;
    if (!same) this.undo.forget(this.memory);
    if (!same) this.undo.forget(this.vision);
    if (!same) this.vision.forget();
    this.memory.attach(recording, link?.settings, same);
    if (recording.info.ordering) this.goToGroup(link?.group ?? 0, link?.step ?? 0);
    else this.clock.focus(0, recording.info.rows, link?.step ?? 0);
    if (link) this.window.restore(link.settings);
  }

  goToGroup(index: number, step = 0): void {
    const group = this.recording?.groups.at(index) ?? this.recording?.groups.at(0);
    if (!group || !this.recording) return;
    this.group = group.index;
    this.clock.focus(group.start, group.stop, group.start + step);
    if (this.episode.group !== group) this.window.moved();
    if (this.episode.group !== group) void this.episode.load(this.recording, group);
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

  /** Put the same episode of another recording into A and this one into B: a re-run beside what it was made of. */
  async compareWith(name: string): Promise<void> {
    const here = this.recording?.groups.at(this.group);
    if (!here || !this.recording) return;
    const other = await OpenRecording.open(this.service, name);
    const twin =
      other.groups.all.find((group) => group.seed !== null && group.seed === here.seed) ??
      other.groups.all.find((group) => group.label === here.label);
    if (!twin) return this.toasts.say(`“${name}” has no episode ${here.label} to compare with.`, "problem");
    this.compare.put("a", { recording: name, group: twin.index, steps: null });
    this.compare.put("b", { recording: this.recording.info.name, group: here.index, steps: null });
    this.workspace = "memory";
    this.set("middle", "compare", "memory");
  }

  /** Whether a model and a world are live, so that episodes can be played out in another way. */
  get canPlayOut(): boolean {
    const { live_subjects, live_worlds } = this.study ?? { live_subjects: [], live_worlds: [] };
    return live_subjects.length > 0 && live_worlds.length > 0 && this.recording?.sees === true;
  }

  /** Play the episode out in another way, from the step that is shown. */
  playOut(): void {
    if (!this.canPlayOut) return;
    this.settings.delete("time");
    this.playout.begin();
  }

  get link(): string {
    const time = this.recording?.info.ordering != null;
    return formatLink({
      workspace: this.workspace,
      recording: this.recording?.info.name ?? "",
      group: time ? this.group : null,
      step: time ? this.clock.step : this.clock.row,
      selection: toText(this.selection.terms),
      settings: {
        ...Object.fromEntries(this.settings),
        ...this.window.settings,
        ...this.memory.settings,
        ...this.compare.settings,
      },
    });
  }

  setting(key: string, otherwise: string): string {
    return this.settings.get(key) ?? otherwise;
  }

  set(key: string, value: string, otherwise: string): void {
    if (value === otherwise) this.settings.delete(key);
    else this.settings.set(key, value);
  }

  private firstGood(): string | undefined {
    return this.study?.recordings.find((recording) => recording.rows > 0)?.name;
  }

  /** A lost connection is often the first sign that the service is gone: ask, and the answer tells. */
  private heardState(connected: boolean): void {
    const lost = this.connected && !connected;
    this.connected = connected;
    if (lost) void this.quietly(this.service.study());
    if (connected && this.missed) {
      void this.quietly(this.jobs.load());
      void this.results.refresh();
    }
    this.missed = !connected;
  }

  private heardJob(job: Job): void {
    this.jobs.heard(job);
    void this.results.heard(job);
    if (makes(job) && (job.state === "done" || job.state === "cancelled")) this.refreshSoon(100);
    else if (makes(job) && job.state === "running") this.refreshSoon(4000 + (this.recording?.info.rows ?? 0) / 100);
    if (job.state === "failed") this.toasts.say(`${job.title}: ${job.error}`, "problem");
  }

  private refreshSoon(wait_ms: number): void {
    if (this.refreshing && wait_ms > 1000) return;
    clearTimeout(this.refreshing);
    this.refreshing = window.setTimeout(() => {
      this.refreshing = 0;
      void this.quietly(this.refresh());
    }, wait_ms);
  }

  private async learnNames(): Promise<void> {
    this.names.learn(await this.service.vocabulary());
  }

  /** Read again what may have grown, and stay where we are. */
  async refresh(): Promise<void> {
    this.study = await this.service.study();
    void this.quietly(this.learnNames());
    const old = this.recording;
    if (!old) return this.follow(parseLink(location.hash));
    const line = this.study.recordings.find((recording) => recording.name === old.info.name);
    if (line && line.rows !== old.info.rows) await this.reopen();
  }

  /** The same place in the newest version of the recording, with nothing kept from failed requests. */
  private async reopen(): Promise<void> {
    const old = this.recording;
    if (!old) return;
    const recording = await OpenRecording.open(this.service, old.info.name);
    if (this.recording !== old) return;
    const playing = this.clock.playing;
    this.show(recording, parseLink(this.link));
    if (playing) this.clock.play();
  }

  /** For what may fail without being in the way: the service's words appear for a moment. */
  async quietly(work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (problem) {
      if (problem instanceof Unreachable) return;
      if (problem instanceof ApiError && problem.status === 404) return;
      this.toasts.say(messageOf(problem), "problem");
    }
  }
}

/** Whether a job writes a recording. */
const makes = (job: Job): boolean => ["record", "rerun", "playout"].includes(job.kind);

export function useSession(): Session {
  return getContext<Session>("session");
}
