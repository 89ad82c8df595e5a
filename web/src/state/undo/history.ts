/** Undo and redo over immutable values. */
export class History<T> {
  private past: T[] = [];
  private future: T[] = [];

  constructor(
    private present: T,
    private readonly depth = 200,
  ) {}

  get current(): T {
    return this.present;
  }

  get canUndo(): boolean {
    return this.past.length > 0;
  }

  get canRedo(): boolean {
    return this.future.length > 0;
  }

  push(value: T): void {
    this.past = [...this.past.slice(1 - this.depth), this.present];
    this.present = value;
    this.future = [];
  }

  undo(): T {
    const value = this.past.pop();
    if (value === undefined) return this.present;
    this.future.push(this.present);
    return (this.present = value);
  }

  redo(): T {
    const value = this.future.pop();
    if (value === undefined) return this.present;
    this.past.push(this.present);
    return (this.present = value);
  }
}
