import { expect, test } from "vitest";
import type { Job } from "../../api/model";
import type { Service } from "../../api/service";
import { Ablation, isTestOf } from "./ablation.svelte";
import { Jobs } from "../results/jobs.svelte";
import type { Session } from "../session.svelte";

test("an ablation test is about a subject, not about whoever has the name now", () => {
  const arms = [
    { kind: "original", identity: "aa" },
    { kind: "ablated", identity: "bb" },
  ];
  const line = { arguments: { edited: "no saws", arms } };
  expect(isTestOf(line, { name: "no saws", identity: "bb" })).toBe(true);
  expect(isTestOf(line, { name: "no saws", identity: "cc" })).toBe(false);
  expect(isTestOf(line, { name: "no saws", identity: "aa" })).toBe(false);
  expect(isTestOf(line, { name: "other", identity: "bb" })).toBe(false);
  expect(isTestOf(line, undefined)).toBe(false);
  expect(isTestOf({ arguments: {} }, { name: "no saws", identity: "bb" })).toBe(false);
});

test("a recording is known by what its job says, also to a page that did not begin it", () => {
  const service = { client: {} } as Service;
  const jobs = new Jobs(service);
  const ablation = new Ablation({ service, jobs } as unknown as Session);
  const job = (id: string, kind: string, recording: string): Job =>
    ({ id, kind, state: "running", result: { recording, subject: "no saws" } }) as unknown as Job;
  const found = (name: string): string | undefined => ablation.recordingOf((made) => made.recording === name)?.id;
  jobs.heard({ id: "0", kind: "record", state: "failed", result: null } as unknown as Job);
  jobs.heard(job("1", "record", "ended by saw"));
  jobs.heard(job("2", "play", "other"));
  jobs.heard(job("3", "record", "ended by saw"));
  expect([found("ended by saw"), found("other")]).toEqual(["3", undefined]);
});
