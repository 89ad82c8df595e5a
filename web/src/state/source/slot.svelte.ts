/** The compare slot: which second source stands beside the one that is shown, and what could. */
import { untrack } from "svelte";
import { listPredictions } from "../../api/predictions";
import type { Job } from "../../api/model";
import type { Page } from "../page.svelte";
import { Session } from "../session.svelte";
import { offersFor, secondKey, textOf, type Offer, type Source } from "./source";

export class Slot {
  /** The session of the second source, once it is open. */
  other = $state.raw<Session | null>(null);
  private predicted = $state.raw<{ readonly of: string; readonly subjects: readonly string[] }>({
    of: "",
    subjects: [],
  });

  constructor(private readonly page: Page) {
    $effect.root(() => {
      $effect(() => this.bring());
      $effect(() => this.other?.follow());
    });
  }

  /** What was asked for; none while nothing stands beside. */
  readonly source = $derived.by((): Source | null => this.page.address.a.get(secondKey));

  /** Everything that can stand beside what is shown. */
  readonly offers = $derived.by((): Offer[] => {
    const { study, session } = this.page;
    const info = session.recording?.info;
    if (!study || !info) return [];
    const results = session.results.all.map((line) => line.arguments.subject);
    return offersFor(info, study, {
      predicted: this.predicted.of === info.name ? this.predicted.subjects : [],
      results: results.filter((subject) => typeof subject === "string"),
    });
  });

  choose(source: Source | null): void {
    this.page.address.a.set(secondKey, source);
  }

  /** What stood beside comes to the front. Another subject over the same rows cannot: its rows are not its own. */
  get canSwap(): boolean {
    return this.source !== null && !this.source.subject && this.other?.recording != null;
  }

  async swap(): Promise<void> {
    const { page, source } = this;
    const front = page.session.recording?.info.name;
    if (!source || !this.canSwap || !front) return;
    const [group, step] = [this.other!.group, this.other!.clock.step];
    this.choose({ recording: front, subject: "" });
    await page.session.open(source.recording);
    page.session.goToGroup(group, step);
  }

  /** Ask who predicted these rows; called when the list is opened. */
  async look(): Promise<void> {
    const name = this.page.session.recording?.info.name;
    if (!name) return;
    this.page.session.results.want();
    const found = await listPredictions(this.page.service.client, name);
    const own = found.filter((each) => each.current && !each.edits.length);
    this.predicted = { of: name, subjects: [...new Set(own.map((each) => each.subject))] };
  }

  /** Predictions that were made just now are shown. */
  heard(job: Job): void {
    if (job.kind === "predict" && this.other) void this.page.quietly(this.other.reopen());
  }

  private bring(): void {
    const { source } = this;
    const { session } = this.page;
    const front = session.recording?.info.name;
    untrack(() => {
      const old = this.other?.source;
      if (!source || !front) {
        this.other = null;
        return;
      }
      // Another subject is one over these rows, whichever recording is opened.
      const wanted = source.subject ? { ...source, recording: front } : source;
      if (textOf(wanted) !== textOf(source)) this.choose(wanted);
      if (old && textOf(old) === textOf(wanted)) return;
      this.other = new Session(this.page, session, wanted);
      void this.other.open(wanted.recording);
    });
  }
}
