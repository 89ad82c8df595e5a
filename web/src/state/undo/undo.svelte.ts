/** One way back through everything that can be undone, in the order in which it was done. */
export interface Undoable {
  undo(): void;
  redo(): void;
}

export class Undo {
  canUndo = $state(false);
  canRedo = $state(false);
  private past: Undoable[] = [];
  private future: Undoable[] = [];

  /** Something was done that `part` can undo. */
  did(part: Undoable): void {
    this.past.push(part);
    this.future = [];
    this.notify();
  }

  /** `part` begins anew: what it did before cannot be undone any more. */
  forget(part: Undoable): void {
    this.past = this.past.filter((other) => other !== part);
    this.future = this.future.filter((other) => other !== part);
    this.notify();
  }

  undo(): void {
    const part = this.past.pop();
    if (!part) return;
    this.future.push(part);
    part.undo();
    this.notify();
  }

  redo(): void {
    const part = this.future.pop();
    if (!part) return;
    this.past.push(part);
    part.redo();
    this.notify();
  }

  private notify(): void {
    this.canUndo = this.past.length > 0;
    this.canRedo = this.future.length > 0;
  }
}
