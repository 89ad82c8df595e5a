import { expect, test } from "vitest";
import type { Client } from "./client";
import { MetricsApi } from "./metrics";

test("averages that nothing is known of are no zeros", async () => {
  const head = { before: [0.5, null], after: [null, 1], effect: [0, null], rows: [3] };
  const text = new TextEncoder().encode(JSON.stringify(head).padEnd(80));
  const body = new Uint8Array(4 + text.length + 8);
  new DataView(body.buffer).setUint32(0, text.length, true);
  body.set(text, 4);
  body.set(new Uint8Array(Float32Array.of(2, 3).buffer), 4 + text.length);
  const client = { bytes: () => Promise.resolve({ buffer: body.buffer }) } as unknown as Client;
  const found = await new MetricsApi(client).align("x", { before: 1, after: 1, metrics: [] });
  expect([found.before, found.after, found.effect]).toEqual([
    [0.5, NaN],
    [NaN, 1],
    [0, NaN],
  ]);
  expect([...found.memory]).toEqual([2, 3]);
});
