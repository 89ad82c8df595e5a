/** What is looked at in the memory: which array, in which order, which elements and which stretch of time. */
import { untrack } from "svelte";
import type { ArraySpec, OrderAsk, OrderReply } from "../../api/model";
import { isAbort, messageOf } from "../../api/errors";
import { amount, flag, key, text } from "../address/address.svelte";
import { History } from "../undo/history";
import { intervalFromText, type Interval } from "../time/interval";
import { elementsFromText, elementsToText, orderFromText, orderToText } from "./text";
import type { OpenRecording } from "../recording/recording";
import type { Session } from "../session.svelte";
import { moved, within, zoomed, type Span } from "../selection/span";
import type { Attached, WorkspaceState } from "../workspace";

const arrayKey = text("memory");
const orderKey = text("order");
const alongKey = text("along");
const orderOfKey = text("orderof");
const elementsKey = text("elements");
const whyKey = text("why");
const onlyKey = flag("only");
const overlayKey = text("overlay");
/** Colours span from minus to plus this; 0: as wide as the values. */
export const rangeKey = amount("range", { otherwise: 0, fits: (range) => range > 0 && range < Infinity });
const stretch = (name: string) =>
  key<Interval | null>(name, {
    otherwise: null,
    read: (told) => intervalFromText(told) ?? undefined,
    write: (rows) => (rows ? rows.join("-") : ""),
  });
const intervalKey = stretch("interval");
const linesKey = stretch("lines");

/** Everything that can be undone. */
interface Chosen {
  readonly ask: OrderAsk | null;
  readonly elements: readonly number[];
  /** Where the choice of elements comes from, in words. */
  readonly why: string;
  readonly only: boolean;
  readonly interval: Interval | null;
  readonly overlay: string;
}

/** Fewer elements than this are never shown. */
const minLines = 3;

const nothing: Chosen = { ask: null, elements: [], why: "", only: false, interval: null, overlay: "" };

export class Memory implements WorkspaceState {
  /** What the service found for the order; the old one stays until the new one is here. */
  found = $state.raw<OrderReply | null>(null);
  ordering = $state(false);
  orderProblem = $state("");

  constructor(private readonly session: Session) {
    $effect.root(() => {
      $effect(() => {
        void this.asked;
        untrack(() => this.look(this.chosen.ask));
      });
    });
  }

  /** All memory arrays of the recording. */
  arrays = $derived.by((): readonly ArraySpec[] =>
    (this.session.recording?.info.arrays ?? []).filter((array) => array.role === "memory"),
  );
  spec = $derived.by((): ArraySpec | null => {
    const wanted = this.session.get(arrayKey);
    return this.arrays.find((array) => array.name === wanted) ?? this.arrays[0] ?? null;
  });
  array = $derived(this.spec?.name ?? "");
  /** Its address inside the subject. */
  site = $derived(this.spec?.site ?? "");
  size = $derived((this.spec?.shape ?? []).reduce((product, n) => product * n, this.spec ? 1 : 0));
  chosen = $derived.by((): Chosen => this.read());
  private asked = $derived(JSON.stringify(this.chosen.ask));
  /** Every element, first to last as drawn from the top. */
  order = $derived.by((): readonly number[] => {
    const told = this.chosen.ask ? this.found?.order : null;
    return told?.length === this.size ? told : Array.from({ length: this.size }, (_, e) => e);
  });
  /** One number per element (not per place), where the order has scores. */
  scores = $derived.by((): readonly number[] | null => {
    const scores = this.chosen.ask ? this.found?.scores : null;
    return scores?.length === this.size ? scores.map((score) => score ?? Infinity) : null;
  });
  elements = $derived<ReadonlySet<number>>(new Set(this.chosen.elements));
  interval = $derived(this.chosen.interval);
  overlay = $derived(this.chosen.overlay);
  only = $derived(this.chosen.only && this.chosen.elements.length > 0);
  /** The elements that are drawn, in order. */
  shown = $derived(this.only ? this.order.filter((e) => this.elements.has(e)) : this.order);

  /** Which places of the order are shown while somebody drags; the address holds whole ones. */
  private dragged = $state.raw<{ of: string; span: Span } | null>(null);
  lines = $derived.by((): Span | null => {
    const told = this.session.get(linesKey);
    if (this.dragged?.of === String(told)) return this.dragged.span;
    return told && told[0] < this.size ? { from: told[0], to: Math.min(this.size, told[1]) } : null;
  });
  /** Places of `shown` at the top and bottom of the picture. */
  top = $derived(this.lines ? within(this.lines, this.bounds, minLines).from : 0);
  bottom = $derived(this.lines ? within(this.lines, this.bounds, minLines).to : this.shown.length);

  private history = new History<Chosen>(nothing);
  private turn = 0;
  private before = { size: 0, array: "" };

  /** Another recording: order and choice stay where its memory has the same size, the way back where it is the same. */
  attach(recording: OpenRecording, { same, linked, before }: Attached): void {
    const { size, array } = this.before;
    // The order was made over the rows of the recording before.
    const { address } = this.session;
    if (!linked && before && address.get(orderKey) && !address.get(orderOfKey)) address.set(orderOfKey, before);
    this.before = { size: this.size, array: this.array };
    if (!same) this.session.undo.forget(this);
    if (linked && same && this.array === array) this.note(this.chosen);
    else if (linked) this.history = new History<Chosen>(this.chosen);
    else if (this.size !== size || this.array !== array) this.begin(nothing);
    else this.write({ ...this.chosen, interval: null, overlay: recording.column(this.overlay) ? this.overlay : "" });
  }

  setArray(name: string): void {
    if (!this.arrays.some((array) => array.name === name) || name === this.array) return;
    this.session.set(arrayKey, name === this.arrays[0]!.name ? "" : name);
    this.begin(nothing);
  }

  /** Choose elements; `why` says where they come from ("top 12 by change", "flag: armour gathered"). */
  choose(elements: Iterable<number>, why = ""): void {
    const inside = [...new Set(elements)].filter((e) => Number.isInteger(e) && e >= 0 && e < this.size);
    this.set({ elements: inside.sort((a, b) => a - b), why, ...(inside.length ? {} : { only: false }) });
  }

  toggle(element: number): void {
    const next = new Set(this.elements);
    if (!next.delete(element)) next.add(element);
    this.choose(next, "by hand");
  }

  setOnly(only: boolean): void {
    this.set({ only });
    this.setLines(null);
  }

  setInterval(interval: Interval | null): void {
    this.set({ interval });
  }

  setOverlay(column: string): void {
    this.set({ overlay: column });
  }

  setOrder(ask: OrderAsk | null): void {
    this.set({ ask: ask?.by === "model" ? null : ask });
  }

  showLines(from: number, to: number): void {
    this.setLines(within({ from, to }, this.bounds, minLines));
  }

  /** Larger than 1 shows more; the place stays where it is on screen. */
  zoomLines(factor: number, around: number): void {
    this.setLines(zoomed({ from: this.top, to: this.bottom }, factor, around, this.bounds, minLines));
  }

  panLines(by: number): void {
    if (this.lines) this.setLines(moved({ from: this.top, to: this.bottom }, by, this.bounds));
  }

  showAllLines(): void {
    this.setLines(null);
  }

  private get bounds(): Span {
    return { from: 0, to: this.shown.length };
  }

  private setLines(span: Span | null): void {
    const whole = !span || (span.from <= 0 && span.to >= this.shown.length);
    this.session.set(linesKey, whole ? null : [Math.round(span.from), Math.round(span.to)]);
    this.dragged = whole ? null : { of: String(this.session.get(linesKey)), span };
  }

  /** `h 37`: how an element is called. */
  label(element: number): string {
    const named = this.spec?.elements.length === this.size ? this.spec.elements[element] : undefined;
    return named ?? `${this.letter} ${element}`;
  }

  get letter(): string {
    return this.arrays.length > 1 ? this.array.replace(/^memory\./, "") : "h";
  }

  undo(): void {
    this.write(this.history.undo());
  }

  redo(): void {
    this.write(this.history.redo());
  }

  /** Orders are asked of the source in front, so that two memories are sorted alike. */
  private get front(): string {
    return (this.session.leader ?? this.session).recording?.info.name ?? "";
  }

  private read(): Chosen {
    const { session } = this;
    const get = session.address;
    const column = get.get(alongKey);
    const rest = { recording: get.get(orderOfKey) || this.front, array: this.array, column: column || undefined };
    const order = get.get(orderKey);
    const told = get.get(intervalKey);
    const interval = told && session.rowsHere(told);
    const overlay = get.get(overlayKey);
    return {
      ask: order && this.spec && rest.recording ? orderFromText(order, rest) : null,
      elements: elementsFromText(get.get(elementsKey), this.size),
      why: get.get(whyKey),
      only: get.get(onlyKey),
      interval: interval && interval[1] <= (session.recording?.info.rows ?? 0) ? interval : null,
      overlay: session.recording?.column(overlay) ? overlay : "",
    };
  }

  private write({ ask, elements, why, only, interval, overlay }: Chosen): void {
    const { address } = this.session;
    address.set(orderKey, ask ? orderToText(ask) : "");
    address.set(alongKey, ask?.column ?? "");
    address.set(orderOfKey, ask && ask.recording !== this.front ? ask.recording : "");
    address.set(elementsKey, elementsToText(elements));
    address.set(whyKey, elements.length ? why : "");
    address.set(onlyKey, only);
    address.set(intervalKey, interval && this.session.rowsThere(interval));
    address.set(overlayKey, overlay);
  }

  private begin(chosen: Chosen): void {
    this.history = new History<Chosen>(chosen);
    this.write(chosen);
    this.setLines(null);
  }

  private set(change: Partial<Chosen>): void {
    const before = this.chosen;
    const next = { ...before, ...change };
    if (sameChoice(next, before)) return;
    // Somebody else wrote into the address: the other of two sources, say.
    if (!sameChoice(this.history.current, before)) this.history = new History<Chosen>(before);
    this.note(next);
    this.write(next);
  }

  private note(next: Chosen): void {
    if (sameChoice(next, this.history.current)) return;
    this.history.push(next);
    this.session.undo.did(this);
  }

  private look(ask: OrderAsk | null): void {
    const turn = ++this.turn;
    this.orderProblem = "";
    this.ordering = ask !== null;
    if (ask) void this.bring(ask, turn);
  }

  private async bring(ask: OrderAsk, turn: number): Promise<void> {
    try {
      const found = await this.session.service.order(ask);
      if (turn === this.turn) this.found = found;
    } catch (problem) {
      if (turn === this.turn && !isAbort(problem)) this.orderProblem = messageOf(problem);
    } finally {
      if (turn === this.turn) this.ordering = false;
    }
  }
}

const sameChoice = (one: Chosen, other: Chosen): boolean => JSON.stringify(one) === JSON.stringify(other);
