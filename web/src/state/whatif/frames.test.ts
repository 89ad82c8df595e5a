import { expect, test, vi } from "vitest";
import type { WhatIfService } from "../../api/whatif";
import { WhatIfFrames } from "./frames";

test("why factors of a node cannot be had is told, until they are asked for again", async () => {
  const api = { factors: () => Promise.reject(new Error("directions.npy is damaged")) } as unknown as WhatIfService;
  let arrived = 0;
  const frames = new WhatIfFrames(api, () => arrived++);
  expect(frames.factors("node", "found", 4)).toBeNull();
  expect(frames.problem("node", "found")).toBe("");
  await vi.waitFor(() => expect(arrived).toBe(1));
  expect(frames.problem("node", "found")).toBe("directions.npy is damaged");
  expect(frames.problem("node", "other")).toBe("");
  frames.retry();
  expect(frames.problem("node", "found")).toBe("");
});
