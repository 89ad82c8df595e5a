/** The change to the memory that is being made: what is chosen in the heat map, and what is done with it. */
import { EditService, type EditSet, type MemoryOperation, type SiteEdit } from "../../api/edits";
import type { Job, JobOf } from "../../api/model";
import { key } from "../address/address.svelte";
import { elementsToText } from "./text";
import type { Jobs } from "../results/jobs.svelte";
import { Memory } from "./memory.svelte";
import type { Results } from "../results/results.svelte";
import type { Session } from "../session.svelte";

/** Whether the chosen elements are changed, or all the others. */
export type Side = "chosen" | "others";

/** Work on edits that runs long. */
export type EditJob = JobOf<"rerun" | "table" | "sweep" | "smallest_memory">;

interface Plan {
  readonly op: MemoryOperation;
  readonly value: number;
  readonly side: Side;
  readonly start: number;
  readonly stop: number | null;
}

const usual: Plan = { op: "zero", value: 1, side: "chosen", start: 0, stop: null };

const planKey = key<Plan>("edit", { otherwise: usual, read: planFromText, write: planToText });

export class Edits {
  /** Those that the study keeps. */
  saved = $state.raw<readonly EditSet[]>([]);
  private wanted = false;
  private readonly api: EditService;
  private readonly started = $state<Partial<Record<EditJob["kind"], string>>>({});

  constructor(private readonly session: Session) {
    this.api = new EditService(session.service.client);
  }

  /** Where those that the study keeps can be downloaded. */
  get file(): string {
    return this.api.file();
  }

  private get jobs(): Jobs {
    return this.session.jobs;
  }

  private get memory(): Memory {
    return this.session.of(Memory);
  }

  private get results(): Results {
    return this.session.results;
  }

  plan = $derived.by((): Plan => this.session.get(planKey));
  /** Elements that would be changed. */
  changed = $derived.by((): readonly number[] => {
    const { elements, size } = this.memory;
    if (this.plan.side === "chosen") return [...elements];
    return Array.from({ length: size }, (_, e) => e).filter((e) => !elements.has(e));
  });
  /** In words, short enough for a name. */
  title = $derived.by(() => {
    const { op, value } = this.plan;
    const how = { zero: "without", freeze: "frozen", set: `set to ${value}` }[op];
    return `${how} ${this.which}`;
  });
  draft = $derived.by((): EditSet => ({ name: this.title, edits: [this.edit], note: this.note }));

  private get which(): string {
    const { elements, letter, chosen, size } = this.memory;
    const count = this.changed.length;
    if (count === size) return "all of the memory";
    if (this.plan.side === "others") return `${count} of ${size}, ${chosen.why || elementsToText([...elements])} saved`;
    if (count <= 4) return [...elements].map((e) => `${letter}${e}`).join(" ");
    return chosen.why && chosen.why !== "by hand" ? chosen.why : `${count} elements`;
  }

  private get note(): string {
    const { chosen } = this.memory;
    const how = chosen.why || "chosen by hand";
    return this.plan.side === "others" ? `all but: ${how}` : how;
  }

  get edit(): SiteEdit {
    const { op, value, start, stop } = this.plan;
    const elements = [...this.changed];
    const amount = op === "set" ? value : 0;
    return { kind: "site", elements, op, value: amount, site: this.memory.site, start, stop, map: [], directions: [] };
  }

  set(change: Partial<Plan>): void {
    this.session.set(planKey, { ...this.plan, ...change });
  }

  /** Called by every view that shows what is kept. */
  async want(): Promise<void> {
    if (this.wanted) return;
    this.wanted = true;
    this.saved = await this.api.list();
  }

  async save(name: string): Promise<void> {
    this.saved = await this.api.save({ ...this.draft, name });
  }

  async drop(name: string): Promise<void> {
    this.saved = await this.api.drop(name);
  }

  /** Choose again what a saved one changes. */
  take(reduction: EditSet): void {
    const [edit] = reduction.edits;
    if (edit?.kind !== "site") return;
    this.set({ op: operation(edit.op), value: edit.value, side: "chosen", start: edit.start, stop: edit.stop });
    this.memory.choose(edit.elements, reduction.note || reduction.name);
  }

  start(asked: EditJob): Promise<void> {
    return this.results.attempt(asked.kind, async (other) => {
      const job = await this.session.service.start({ ...asked, ...other });
      this.started[asked.kind] = job.id;
      await this.results.began(asked.kind, job);
    });
  }

  /** The last job of a kind that this page started. */
  jobOf(kind: EditJob["kind"]): Job | undefined {
    return this.jobs.all.find((job) => job.id === this.started[kind]);
  }
}

/** `set:0.5:others:20-90`, with what is usual left out at the end. */
export function planToText(plan: Plan): string {
  const span = plan.start || plan.stop !== null ? `${plan.start}-${plan.stop ?? ""}` : "";
  const parts = [plan.op, plan.op === "set" ? String(plan.value) : "", plan.side === "others" ? "others" : "", span];
  const text = parts.join(":").replace(/:+$/, "");
  return text === usual.op ? "" : text;
}

export function planFromText(text: string): Plan {
  const [op = "", value = "", side = "", span = ""] = text.split(":");
  const [start = "", stop = ""] = span.split("-");
  const whole = (part: string): number => Math.max(0, Math.floor(Number(part)) || 0);
  return {
    op: operation(op),
    value: value !== "" && Number.isFinite(Number(value)) ? Number(value) : usual.value,
    side: side === "others" ? "others" : "chosen",
    start: whole(start),
    stop: stop === "" || whole(stop) <= whole(start) ? null : whole(stop),
  };
}

const operation = (text: string): MemoryOperation => (text === "freeze" || text === "set" ? text : "zero");
