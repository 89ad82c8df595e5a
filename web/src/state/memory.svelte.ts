/** What is looked at in the memory: which array, in which order, which elements and which stretch of time. */
import type { ArraySpec, OrderAsk, OrderReply } from "../api/model";
import { isAbort, messageOf } from "../api/errors";
import type { Service } from "../api/service";
import { History } from "./history";
import {
  elementsFromText,
  elementsToText,
  intervalFromText,
  orderFromText,
  orderToText,
  type Interval,
} from "./memorytext";
import type { OpenRecording } from "./recording";
import { moved, within, zoomed, type Span } from "./span";

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
const fewest = 3;

const nothing: Chosen = { ask: null, elements: [], why: "", only: false, interval: null, overlay: "" };

export class Memory {
  array = $state("");
  spec = $state.raw<ArraySpec | null>(null);
  /** All memory arrays of the recording. */
  arrays = $state.raw<readonly ArraySpec[]>([]);
  chosen = $state.raw<Chosen>(nothing);
  /** What the service found for the order; the old one stays until the new one is here. */
  found = $state.raw<OrderReply | null>(null);
  ordering = $state(false);
  orderProblem = $state("");
  /** Which places of the order are shown, or all. */
  lines = $state.raw<Span | null>(null);

  size = $derived((this.spec?.shape ?? []).reduce((product, n) => product * n, this.spec ? 1 : 0));
  /** Every element, first to last as drawn from the top. */
  order = $derived.by((): readonly number[] => {
    const told = this.chosen.ask ? this.found?.order : null;
    return told?.length === this.size ? told : Array.from({ length: this.size }, (_, e) => e);
  });
  /** One number per element (not per place), where the order has scores. */
  scores = $derived(this.chosen.ask && this.found?.scores.length === this.size ? this.found.scores : null);
  elements = $derived<ReadonlySet<number>>(new Set(this.chosen.elements));
  interval = $derived(this.chosen.interval);
  overlay = $derived(this.chosen.overlay);
  only = $derived(this.chosen.only && this.chosen.elements.length > 0);
  /** The elements that are drawn, in order. */
  shown = $derived(this.only ? this.order.filter((e) => this.elements.has(e)) : this.order);

  /** Places of `shown` at the top and bottom of the picture. */
  top = $derived(this.lines ? within(this.lines, this.bounds, fewest).from : 0);
  bottom = $derived(this.lines ? within(this.lines, this.bounds, fewest).to : this.shown.length);

  private history = new History<Chosen>(nothing);
  private turn = 0;
  private asked: OrderAsk | null = null;
  private recordingName = $state("");

  constructor(
    private readonly service: Service,
    private readonly did: () => void,
  ) {}

  /** Look at another recording: order and choice stay where its memory has the same size, the way back where it is the `same`. */
  attach(recording: OpenRecording, settings?: Readonly<Record<string, string>>, same = false): void {
    const before = { size: this.size, array: this.array };
    this.recordingName = recording.info.name;
    this.arrays = recording.info.arrays.filter((array) => array.role === "memory");
    const wanted = settings?.memory ?? this.array;
    this.spec = this.arrays.find((array) => array.name === wanted) ?? this.arrays[0] ?? null;
    this.array = this.spec?.name ?? "";
    if (settings && same && this.array === before.array) this.set(this.read(settings, recording));
    else if (settings) this.begin(this.read(settings, recording));
    else if (this.size !== before.size || this.array !== before.array) this.begin(nothing);
    else this.set({ interval: null, overlay: recording.column(this.overlay) ? this.overlay : "" }, false);
  }

  setArray(name: string): void {
    const spec = this.arrays.find((array) => array.name === name);
    if (!spec || spec === this.spec) return;
    this.spec = spec;
    this.array = name;
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
    this.lines = null;
  }

  setInterval(interval: Interval | null): void {
    this.set({ interval });
  }

  setOverlay(column: string): void {
    this.set({ overlay: column });
  }

  setOrder(ask: OrderAsk | null): void {
    this.set({ ask: ask?.by === "as-is" ? null : ask });
  }

  showLines(from: number, to: number): void {
    this.setLines(within({ from, to }, this.bounds, fewest));
  }

  /** Larger than 1 shows more; the place stays where it is on screen. */
  zoomLines(factor: number, around: number): void {
    this.setLines(zoomed({ from: this.top, to: this.bottom }, factor, around, this.bounds, fewest));
  }

  panLines(by: number): void {
    if (this.lines) this.setLines(moved({ from: this.top, to: this.bottom }, by, this.bounds));
  }

  private get bounds(): Span {
    return { from: 0, to: this.shown.length };
  }

  private setLines(span: Span): void {
    this.lines = span.from <= 0 && span.to >= this.shown.length ? null : span;
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
    this.show(this.history.undo());
  }

  redo(): void {
    this.show(this.history.redo());
  }

  get settings(): Record<string, string> {
    const { ask, elements, why, only, interval, overlay } = this.chosen;
    const out: Record<string, string> = {};
    if (this.array && this.array !== this.arrays[0]?.name) out.memory = this.array;
    if (ask) out.order = orderToText(ask);
    if (ask?.column) out.along = ask.column;
    if (ask && ask.recording !== this.recordingName) out.orderof = ask.recording;
    if (elements.length) out.elements = elementsToText(elements);
    if (elements.length && why) out.why = why;
    if (only) out.only = "yes";
    if (interval) out.interval = interval.join("-");
    if (overlay) out.overlay = overlay;
    if (this.lines) out.lines = `${Math.round(this.lines.from)}-${Math.round(this.lines.to)}`;
    return out;
  }

  private read(settings: Readonly<Record<string, string>>, recording: OpenRecording): Chosen {
    const rest = { recording: settings.orderof ?? this.recordingName, array: this.array, column: settings.along };
    const lines = intervalFromText(settings.lines ?? "");
    this.lines = lines && lines[0] < this.size ? { from: lines[0], to: Math.min(this.size, lines[1]) } : null;
    const interval = intervalFromText(settings.interval ?? "");
    return {
      ask: settings.order ? orderFromText(settings.order, rest) : null,
      elements: elementsFromText(settings.elements ?? "", this.size),
      why: settings.why ?? "",
      only: settings.only === "yes",
      interval: interval && interval[1] <= recording.info.rows ? interval : null,
      overlay: recording.column(settings.overlay ?? "") ? settings.overlay! : "",
    };
  }

  private begin(chosen: Chosen): void {
    this.history = new History<Chosen>(chosen);
    this.show(chosen);
  }

  private set(change: Partial<Chosen>, undoable = true): void {
    const next = { ...this.chosen, ...change };
    if (JSON.stringify(next) === JSON.stringify(this.chosen)) return;
    if (undoable) {
      this.history.push(next);
      this.did();
    }
    this.show(next);
  }

  private show(chosen: Chosen): void {
    this.chosen = chosen;
    const { ask } = chosen;
    if (JSON.stringify(ask) === JSON.stringify(this.asked)) return;
    this.asked = ask;
    this.orderProblem = "";
    this.ordering = ask !== null;
    if (ask) void this.look(ask, ++this.turn);
    else this.turn++;
  }

  private async look(ask: OrderAsk, turn: number): Promise<void> {
    try {
      const found = await this.service.order(ask);
      if (turn === this.turn) this.found = found;
    } catch (problem) {
      if (turn === this.turn && !isAbort(problem)) this.orderProblem = messageOf(problem);
    } finally {
      if (turn === this.turn) this.ordering = false;
    }
  }
}

export const memoryKeys = [
  "memory",
  "order",
  "along",
  "orderof",
  "elements",
  "why",
  "only",
  "interval",
  "overlay",
  "lines",
];
