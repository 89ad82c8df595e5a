/** Short messages that come and go. */
export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: "plain" | "problem";
}

export class Toasts {
  all = $state.raw<readonly Toast[]>([]);
  private next = 0;

  say(text: string, tone: Toast["tone"] = "plain"): void {
    const id = this.next++;
    this.all = [...this.all.filter((toast) => toast.text !== text), { id, text, tone }].slice(-4);
    setTimeout(() => this.drop(id), tone === "problem" ? 9000 : 3500);
  }

  drop(id: number): void {
    this.all = this.all.filter((toast) => toast.id !== id);
  }
}
