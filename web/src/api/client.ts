/** Asks the service, and says what it refused. */
import { enter, knownPath } from "./door";
import { ApiError, isAbort, Unreachable } from "./errors";

export interface Ask {
  signal?: AbortSignal;
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  body?: unknown;
}

/** Told whether the service answered, after every request. */
export type Listener = (reachable: boolean) => void;

export class Client {
  private listeners = new Set<Listener>();

  constructor(private base = "") {}

  /** Come in with the code of the address, or as the browser that was let in before. */
  async enter(): Promise<void> {
    try {
      this.base = await enter();
    } catch {
      this.notify(false);
      throw new Unreachable();
    }
  }

  onAnswer(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  async json<T>(path: string, ask: Ask = {}): Promise<T> {
    const reply = await this.send(path, ask);
    return (await reply.json()) as T;
  }

  async bytes(path: string, signal?: AbortSignal, ask: Ask = {}): Promise<{ buffer: ArrayBuffer; headers: Headers }> {
    const reply = await this.send(path, signal ? { ...ask, signal } : ask);
    return { buffer: await reply.arrayBuffer(), headers: reply.headers };
  }

  address(path: string): string {
    return this.base + path;
  }

  private async send(path: string, ask: Ask): Promise<Response> {
    let reply: Response;
    try {
      reply = await this.fetch(path, ask);
      if (reply.status === 401 && this.base !== knownPath()) {
        // The service was started again, and another tab of this browser has come in since.
        this.base = knownPath();
        reply = await this.fetch(path, ask);
      }
    } catch (problem) {
      if (isAbort(problem)) throw problem;
      this.notify(false);
      throw new Unreachable();
    }
    this.notify(true);
    if (!reply.ok) throw await refusal(reply);
    return reply;
  }

  private fetch(path: string, ask: Ask): Promise<Response> {
    return fetch(this.address(path), {
      method: ask.method ?? "GET",
      credentials: "same-origin",
      ...(ask.signal ? { signal: ask.signal } : {}),
      ...(ask.body === undefined
        ? {}
        : { body: JSON.stringify(ask.body), headers: { "content-type": "application/json" } }),
    });
  }

  private notify(reachable: boolean): void {
    for (const listener of this.listeners) listener(reachable);
  }
}

async function refusal(reply: Response): Promise<ApiError> {
  const text = await reply.text();
  try {
    const { error } = JSON.parse(text) as { error?: { kind: string; message: string } };
    if (error) return new ApiError(error.kind, error.message, reply.status);
  } catch (problem) {
    if (!(problem instanceof SyntaxError)) throw problem;
  }
  return new ApiError(
    "HTTP",
    `The service answered ${reply.status}${text ? `: ${text.slice(0, 200)}` : "."}`,
    reply.status,
  );
}
