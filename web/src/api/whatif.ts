/** What-if rollouts of recorded episodes, as the service tells them. */
import type { Client } from "./client";
import type { Frame } from "./data/frames";
import { slice } from "./service";
import type { components } from "./types";

type Schemas = components["schemas"];
export type WhatIfNode = Schemas["WhatIfNode"];
export type WhatIfThing = Schemas["ThingInView"];
export type WhatIfReply = Schemas["WhatIfReply"];

/** An action of one's own, the agent's most likely one, or a thing moved or taken away. */
export type Move =
  | { readonly do: "act"; readonly action: number }
  | { readonly do: "act"; readonly actions: readonly number[] }
  | { readonly do: "agent" }
  | { readonly do: "move"; readonly thing: string; readonly by: readonly [number, number] }
  | { readonly do: "remove"; readonly thing: string };

/** A move as the service takes it. */
export const sent = (move: Move): Schemas["Move"] => {
  const { do: does, ...rest } = { action: null, actions: [], thing: "", by: [], ...move };
  return { ...rest, do: does, actions: [...rest.actions], by: [...rest.by] };
};

export interface WhatIfAsk extends Partial<Pick<Schemas["WhatIfRequest"], "go_on" | "since">> {
  readonly recording: string;
  readonly row: number;
  readonly moves: readonly Move[];
  readonly subject?: string;
  /** Go on where the subject is another than the one that recorded. */
  readonly other?: boolean;
}

export class WhatIfService {
  constructor(private readonly client: Client) {}

  play = (body: WhatIfAsk, signal?: AbortSignal): Promise<WhatIfReply> =>
    this.client.json("/api/what-if", {
      method: "POST",
      body: { ...body, moves: body.moves.map(sent) },
      ...(signal ? { signal } : {}),
    });

  /** What was seen at the last nodes up to one. */
  async frames(key: string, array: string, count = 1): Promise<Frame[]> {
    const path = `/api/what-if/${key}/arrays/${encodeURIComponent(array)}?count=${count}`;
    const { shape, dtype, values } = slice(await this.client.bytes(path));
    const [nodes = 0, ...each] = shape;
    const size = each.reduce((product, n) => product * n, 1);
    return Array.from({ length: nodes }, (_, i) => ({
      shape: each,
      dtype,
      values: values.subarray(i * size, (i + 1) * size),
    }));
  }

  /** How much of each factor is where, and after them what they leave out. */
  async factors(key: string, result: string): Promise<ArrayLike<number>> {
    const path = `/api/what-if/${key}/factors/${encodeURIComponent(result)}`;
    return slice(await this.client.bytes(path)).values;
  }
}
