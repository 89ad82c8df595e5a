/** What the page shares, whatever is looked at: the service, its study and jobs, the address, undo and the frame. */
import { setContext } from "svelte";
import { ApiError, messageOf, Unreachable } from "../api/errors";
import { Live } from "../api/live";
import type { Job, LensInfo, StudyInfo } from "../api/model";
import { Service } from "../api/service";
import { Address } from "./address/address.svelte";
import { Jobs } from "./results/jobs.svelte";
import { Runners } from "./results/runner.svelte";
import { formatLink, parseLink, type Link } from "./address/link";
import { Names } from "./recording/names.svelte";
import { Session } from "./session.svelte";
import { Slot } from "./source/slot.svelte";
import { toText } from "./selection/text";
import { Theme } from "./theme.svelte";
import { Toasts } from "./toasts.svelte";
import { Undo } from "./undo/undo.svelte";
import type { Workspaces } from "./workspace";

/** A study whose names have never been listed opens without them: it takes on its colours a moment later. */
const patience_ms = 1000;

export class Page {
  readonly service = new Service();
  readonly address = new Address();
  readonly undo = new Undo();
  readonly theme = new Theme();
  readonly names = new Names();
  readonly toasts = new Toasts();
  readonly jobs = new Jobs(this.service);
  readonly runners = new Runners(this.service);
  readonly live = new Live(
    this.service.client,
    (job) => this.heardJob(job),
    (connected) => this.heardState(connected),
  );

  study = $state.raw<StudyInfo | null>(null);
  lenses = $state.raw<readonly LensInfo[]>([]);
  workspace = $state("");
  help = $state("");
  /** Help opens on the side where it does not cover what it explains. */
  helpSide = $state<"left" | "right">("right");
  /** Where a selection made with the keyboard begins. */
  mark: number | null = null;
  reachable = $state(true);
  connected = $state(false);
  /** Why the study cannot be shown. */
  problem = $state("");

  /** What the page shows, and what may stand beside it. */
  readonly session: Session;
  readonly slot: Slot;

  private refreshing = 0;
  /** Whether news may have been missed. */
  private missed = false;

  constructor(readonly workspaces: Workspaces) {
    this.workspace = workspaces.all[0]?.name ?? "";
    this.session = new Session(this);
    this.slot = new Slot(this);
    this.service.client.onAnswer((reachable) => {
      const back = reachable && !this.reachable;
      this.reachable = reachable;
      if (back && this.session.recording) void this.quietly(this.session.reopen());
    });
  }

  static provide(workspaces: Workspaces): Page {
    const page = new Page(workspaces);
    setContext("session", page.session);
    return page;
  }

  /** The session of the source that is shown, and of the one beside it. */
  get sessions(): readonly Session[] {
    const { other } = this.slot;
    return other ? [this.session, other] : [this.session];
  }

  async start(): Promise<void> {
    this.problem = "";
    let names: Promise<void>;
    try {
      await this.service.client.enter();
      names = this.quietly(this.learnNames());
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
    this.address.restore(link.settings);
    if (link.workspace) this.workspace = link.workspace;
    if (name !== undefined) await this.session.open(name, name === link.recording ? link : undefined);
  }

  get link(): string {
    const { session } = this;
    const time = session.recording?.info.ordering != null;
    return formatLink({
      workspace: this.workspace,
      recording: session.recording?.info.name ?? "",
      group: time ? session.group : null,
      step: time ? session.clock.step : session.clock.row,
      selection: toText(session.selection.terms),
      settings: this.address.settings,
    });
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
      for (const session of this.sessions) void session.results.refresh();
    }
    this.missed = !connected;
  }

  private heardJob(job: Job): void {
    this.jobs.heard(job);
    for (const session of this.sessions) void session.results.heard(job);
    const rows = this.session.recording?.info.rows ?? 0;
    if (makes(job) && (job.state === "done" || job.state === "cancelled")) this.refreshSoon(100);
    else if (makes(job) && job.state === "running") this.refreshSoon(4000 + rows / 100);
    if (job.state === "failed") this.toasts.say(`${job.title}: ${job.error}`, "problem");
    if (job.state === "done") this.slot.heard(job);
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
    const old = this.session.recording;
    if (!old) return this.follow(parseLink(location.hash));
    const line = this.study.recordings.find((recording) => recording.name === old.info.name);
    if (line && line.rows !== old.info.rows) await this.session.reopen();
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
const makes = (job: Job): boolean => Boolean(job.result?.recording);
