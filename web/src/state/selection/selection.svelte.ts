/** The selection of the page: an expression, the rows it stands for, and the way back. */
import { isAbort, messageOf } from "../../api/errors";
import type { Bitset } from "./bitset";
import { History } from "../undo/history";
import type { OpenRecording } from "../recording/recording";
import { toText } from "./text";
import { evaluate, operators, type Operator, type Source, type Term } from "./terms";

export class Selection {
  terms = $state.raw<readonly Term[]>([]);
  /** Null while nothing is selected. */
  rows = $state.raw<Bitset | null>(null);
  /** The same rows, told after they were painted: for views that take their time. */
  calm = $state.raw<Bitset | null>(null);
  busy = $state(false);
  problem = $state("");
  count = $derived(this.rows?.count() ?? 0);

  private history = new History<readonly Term[]>([]);
  private recording: OpenRecording | null = null;
  private turn = 0;

  /** With `forward`, what is chosen here is handed on instead of shown. */
  constructor(
    private readonly did: () => void = () => {},
    private readonly forward: ((terms: readonly Term[]) => void) | null = null,
  ) {}

  /** Point at another recording, or at another version of the same one, which keeps the way back. */
  attach(recording: OpenRecording, terms: readonly Term[], same = false): void {
    this.recording = recording;
    if (same) {
      if (toText(terms) !== toText(this.terms)) this.push(terms);
    } else {
      this.history = new History<readonly Term[]>(terms);
      this.rows = this.calm = null;
    }
    this.show(this.history.current);
  }

  set(terms: readonly Term[]): void {
    if (this.forward) return this.forward(terms);
    this.push(terms);
    this.show(terms);
  }

  private push(terms: readonly Term[]): void {
    this.history.push(terms);
    this.did();
  }

  add(name: string, source: Source, operator: Operator = "union"): void {
    this.set([...this.terms, { operator, negated: false, name, source }]);
  }

  /** Replace one term, or take it away with null. */
  change(index: number, change: Partial<Term> | null): void {
    if (change) this.set(this.terms.map((term, i) => (i === index ? { ...term, ...change } : term)));
    else this.set(this.terms.filter((_, i) => i !== index));
  }

  cycleOperator(index: number): void {
    const now = operators.indexOf(this.terms[index]!.operator);
    this.change(index, { operator: operators[(now + 1) % operators.length]! });
  }

  /** All terms as one, so that it can be negated or joined with others as a whole. */
  combine(): void {
    if (this.terms.length < 2) return;
    const name = this.terms.map((term) => term.name).join(" & ");
    const short = name.length > 40 ? `${this.terms.length} combined` : name;
    this.set([{ operator: "union", negated: false, name: short, source: { kind: "group", terms: this.terms } }]);
  }

  clear(): void {
    if (this.terms.length) this.set([]);
  }

  undo(): void {
    this.show(this.history.undo());
  }

  redo(): void {
    this.show(this.history.redo());
  }

  private show(terms: readonly Term[]): void {
    this.terms = terms;
    this.problem = "";
    const recording = this.recording;
    const turn = ++this.turn;
    if (!terms.length || !recording) {
      this.found(null);
      this.busy = false;
    } else if (recording.hasAll(terms)) {
      this.found(evaluate(terms, recording.cells));
      this.busy = false;
    } else {
      this.busy = true;
      void this.later(terms, recording, turn);
    }
  }

  private found(rows: Bitset | null): void {
    this.rows = rows;
    requestAnimationFrame(() => setTimeout(() => (this.calm = this.rows)));
  }

  private async later(terms: readonly Term[], recording: OpenRecording, turn: number): Promise<void> {
    try {
      await recording.prepare(terms);
      if (turn === this.turn) this.found(evaluate(terms, recording.cells));
    } catch (problem) {
      if (turn === this.turn && !isAbort(problem)) this.problem = messageOf(problem);
    } finally {
      if (turn === this.turn) this.busy = false;
    }
  }
}
