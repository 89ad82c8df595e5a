/** One WebSocket for model calls and news of jobs. On a channel the newest request wins. */
import type { Client } from "./client";
import type { ForwardCall, Job, LensCall, LiveAnswer, LiveMessage, LiveRequest } from "./model";

/** What a call gave, with the bytes of its array. */
export interface LiveReply {
  readonly value: LiveAnswer["value"];
  readonly binary: (NonNullable<LiveAnswer["binary"]> & { readonly bytes: ArrayBuffer }) | null;
}

/** What each call takes. */
interface Calls {
  lens: LensCall;
  forward: ForwardCall;
}

/** A newer request on the same channel took this one's place. */
export class Stale extends Error {}

interface Waiting {
  readonly channel: string;
  readonly resolve: (reply: LiveReply) => void;
  readonly reject: (problem: Error) => void;
}

export class Live {
  private socket: WebSocket | null = null;
  private next = 1;
  private waiting = new Map<number, Waiting>();
  private expecting: LiveAnswer | null = null;
  private delay_ms = 500;
  private closed = false;

  constructor(
    private readonly client: Client,
    private readonly onJob: (job: Job) => void,
    private readonly onState: (connected: boolean) => void,
  ) {}

  connect(): void {
    const socket = new WebSocket(location.origin.replace(/^http/, "ws") + this.client.address("/api/live"));
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.delay_ms = 500;
      this.onState(true);
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => this.receive(event.data);
    socket.onclose = () => this.retry();
    this.socket = socket;
  }

  close(): void {
    this.closed = true;
    this.socket?.close();
  }

  /** Call the model; rejects with Stale when a newer call on the channel overtakes this one. */
  call<Name extends keyof Calls>(channel: string, call: Name, values: Calls[Name]): Promise<LiveReply> {
    if (this.socket?.readyState !== WebSocket.OPEN)
      return Promise.reject(new Error("The live connection is closed; it is being opened again."));
    for (const [id, other] of this.waiting) if (other.channel === channel) this.drop(id, new Stale());
    const id = this.next++;
    this.socket.send(JSON.stringify({ id, channel, call, arguments: { ...values } } satisfies LiveRequest));
    return new Promise((resolve, reject) => this.waiting.set(id, { channel, resolve, reject }));
  }

  private receive(data: string | ArrayBuffer): void {
    if (typeof data !== "string") {
      const answer = this.expecting;
      this.expecting = null;
      if (answer?.binary) this.settle(answer, { ...answer.binary, bytes: data });
      return;
    }
    const message = JSON.parse(data) as LiveMessage;
    if ("event" in message) this.onJob(message.job);
    else if (message.ok && message.binary) this.expecting = message;
    else if (message.ok) this.settle(message, null);
    else if ("stale" in message) this.drop(message.id, new Stale());
    else if (message.id !== null) this.drop(message.id, new Error(message.error.message));
  }

  private settle({ id, value }: LiveAnswer, binary: LiveReply["binary"]): void {
    this.waiting.get(id)?.resolve({ value, binary });
    this.waiting.delete(id);
  }

  private drop(id: number, problem: Error): void {
    this.waiting.get(id)?.reject(problem);
    this.waiting.delete(id);
  }

  private retry(): void {
    this.onState(false);
    for (const id of [...this.waiting.keys()]) this.drop(id, new Error("The live connection was lost."));
    if (this.closed) return;
    setTimeout(() => this.connect(), this.delay_ms);
    this.delay_ms = Math.min(10_000, this.delay_ms * 2);
  }
}
