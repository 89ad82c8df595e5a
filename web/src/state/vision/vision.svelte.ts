/** What the vision workspace looks at: which factors were found, which are shown, and what people call them. */
import { messageOf } from "../../api/errors";
import { Pictures } from "../../api/data/pictures";
import type { ResultLine } from "../../api/results";
import { key, text } from "../address/address.svelte";
import { FactorRows, type FactorRow } from "./factorrows";
import { fullAt, indicesFrom, meantBy, nameOf, distinguished, type Factors } from "./factors";
import { History } from "../undo/history";
import { rowsOf, type ResultRows } from "../results/rows";
import type { OpenRecording } from "../recording/recording";
import type { Session } from "../session.svelte";
import type { WorkspaceState } from "../workspace";

/** Numbers of factors. Which factor is which only one result says, so each source has its own. */
const factors = (name: string) =>
  key<string>(name, {
    otherwise: "",
    own: true,
    read: (told) => (/^\d+(,\d+)*$/.test(told) ? told : undefined),
    write: (value) => value,
  });
const pinnedKey = factors("factor");
const hiddenKey = factors("without");
/** The channel of a layer that is looked at in place of a factor. */
export const channelKey = text("channel", { own: true });

/** Everything that can be undone, as it stands in the address. */
interface Chosen {
  readonly pinned: string;
  readonly hidden: string;
}

interface Shown {
  readonly line: ResultLine;
  readonly value: Factors;
  readonly rows: ResultRows;
  readonly amounts: FactorRows;
}

export class Vision implements WorkspaceState {
  shown = $state.raw<Shown | null>(null);
  busy = $state(false);
  problem = $state("");
  /** The factor that is pointed at. */
  hover = $state<number | null>(null);
  /** Names that people gave, by factor. */
  names = $state.raw<readonly string[]>([]);
  /** Counts what arrived, so that pictures are drawn when they can be. */
  arrived = $state(0);
  readonly pictures = new Pictures();

  readonly value = $derived(this.shown?.value ?? null);
  readonly count = $derived(this.value?.factors.length ?? 0);
  private readonly apart = $derived.by(() =>
    distinguished((this.value?.factors ?? []).map((_, factor) => this.wordOf(factor))),
  );
  /** The factor that somebody clicked. */
  readonly pinned = $derived.by(() => indicesFrom(this.session.get(pinnedKey), this.count)[0] ?? null);
  readonly hidden = $derived.by<ReadonlySet<number>>(
    () => new Set(indicesFrom(this.session.get(hiddenKey), this.count)),
  );
  /** The one factor that is drawn, where one is pointed at or pinned. */
  readonly isolated = $derived(this.hover ?? this.pinned);

  private history = new History<Chosen>({ pinned: "", hidden: "" });
  private opened = "";
  private full = $state.raw<{ of: string; value: number } | null>(null);

  constructor(private readonly session: Session) {}

  private get results(): Session["results"] {
    return this.session.results;
  }

  /** Show a result; none where there is none yet. */
  async open(line: ResultLine | undefined): Promise<void> {
    const key = line ? `${line.id} ${line.created_at}` : "";
    if (key === this.opened) return;
    this.opened = key;
    this.problem = "";
    this.hover = null;
    this.busy = line !== undefined;
    if (!line) {
      this.shown = null;
      return;
    }
    try {
      const [whole, names] = await Promise.all([this.results.whole(line.id), this.session.service.names(line.id)]);
      if (key !== this.opened) return;
      const value = whole.value as Factors;
      const rows = rowsOf(line);
      const shape = { factors: value.factors.length, cells: value.grid[0] * value.grid[1] };
      const amounts = new FactorRows(this.results, line.id, rows, shape, () => this.arrived++);
      this.names = value.factors.map((_, factor) => names[factor] ?? "");
      this.shown = { line, value, rows, amounts };
    } catch (problem) {
      if (key !== this.opened) return;
      this.shown = null;
      this.opened = "";
      this.problem = messageOf(problem);
    } finally {
      if (key === this.opened || !this.opened) this.busy = false;
    }
  }

  /** Another recording: what was chosen in the old one cannot be undone any more. */
  attach(_: OpenRecording, { same }: { same: boolean }): void {
    if (same) return;
    this.session.undo.forget(this);
    this.history = new History<Chosen>(this.chosen);
  }

  row(row: number): FactorRow | null {
    void this.arrived;
    return this.shown?.amounts.at(row) ?? null;
  }

  /** Why there is nothing to draw in a row. */
  lost(row: number): string {
    void this.arrived;
    return this.shown?.amounts.problem(row) ?? "";
  }

  /** The strength that fills a drop in the rows of an episode; the row's own until that is known. */
  fullOf(rows: { start: number; stop: number }): number | null {
    const key = `${this.opened} ${rows.start}`;
    return this.full?.of === key ? this.full.value : null;
  }

  async measure(group: { start: number; stop: number }): Promise<void> {
    const { shown } = this;
    const key = `${this.opened} ${group.start}`;
    if (!shown || this.full?.of === key) return;
    const part = shown.rows.within(group.start, group.stop);
    if (!part) return;
    const { values } = await this.results.array(shown.line.id, "scale", part);
    if (key === `${this.opened} ${group.start}`) this.full = { of: key, value: fullAt(values) };
  }

  /** Good and bad of each factor, [row, factor, sign], and the row where they begin; NaN where the result has none. */
  async totals(start: number, stop: number): Promise<{ first: number; values: ArrayLike<number> } | null> {
    const { shown } = this;
    const part = shown?.rows.within(start, stop);
    if (!shown || !part) return null;
    const { values } = await this.results.array(shown.line.id, "totals", part);
    return shown.rows.spread(part, values);
  }

  /** What a factor is called; several may be called the same. */
  wordOf(factor: number): string {
    return nameOf(this.value?.factors[factor], factor, this.names[factor]);
  }

  /** What an edit calls a factor: the name that somebody gave, else the class it means, else its number. */
  classOf(factor: number): string {
    return this.names[factor] || meantBy(this.value?.factors[factor]) || `factor ${factor + 1}`;
  }

  /** What a factor is called, with its number where others are called the same. */
  nameOf(factor: number): string {
    return this.apart[factor] ?? this.wordOf(factor);
  }

  async rename(factor: number, name: string): Promise<void> {
    const { shown } = this;
    if (!shown || (this.names[factor] ?? "") === name.trim()) return;
    const before = this.names;
    this.names = before.with(factor, name.trim());
    try {
      await this.session.service.saveName(shown.line.id, factor, name.trim());
    } catch (problem) {
      this.names = before;
      throw problem;
    }
  }

  isShown(factor: number): boolean {
    return this.isolated === null ? !this.hidden.has(factor) : this.isolated === factor;
  }

  pin(factor: number | null): void {
    const pinned = factor === null || this.pinned === factor ? "" : String(factor);
    // Whoever asks about a factor asks no longer about a channel.
    this.session.set(channelKey, "");
    if (pinned !== this.chosen.pinned) this.set({ ...this.chosen, pinned });
  }

  toggle(factor: number): void {
    const next = new Set(this.hidden);
    if (!next.delete(factor)) next.add(factor);
    this.set({ ...this.chosen, hidden: [...next].sort((a, b) => a - b).join(",") });
  }

  undo(): void {
    this.write(this.history.undo());
  }

  redo(): void {
    this.write(this.history.redo());
  }

  private get chosen(): Chosen {
    return { pinned: this.session.get(pinnedKey), hidden: this.session.get(hiddenKey) };
  }

  private set(next: Chosen): void {
    if (this.history.current.pinned !== this.chosen.pinned || this.history.current.hidden !== this.chosen.hidden)
      this.history = new History<Chosen>(this.chosen);
    this.history.push(next);
    this.write(next);
    this.session.undo.did(this);
  }

  private write({ pinned, hidden }: Chosen): void {
    this.session.set(pinnedKey, pinned);
    this.session.set(hiddenKey, hidden);
  }

  /** A digit shows that factor alone, once more or 0 all of them. */
  key(pressed: string): boolean {
    if (!/^[0-9]$/.test(pressed) || Number(pressed) > this.count) return false;
    this.pin(pressed === "0" ? null : Number(pressed) - 1);
    return true;
  }
}
