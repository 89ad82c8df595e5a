import { expect, test } from "vitest";
import type { Job } from "../../api/model";
import type { Service } from "../../api/service";
import { Jobs } from "./jobs.svelte";

const job = (state: Job["state"], changes: number, id = "a"): Job => ({ id, state, changes }) as Job;

test("an answer that comes late does not undo the news", () => {
  const jobs = new Jobs({} as Service);
  jobs.heard(job("failed", 3));
  expect(jobs.heard(job("queued", 1)).state).toBe("failed");
  expect(jobs.all.map((other) => other.state)).toEqual(["failed"]);
  expect(jobs.heard(job("queued", 4)).state).toBe("queued");
});

test("a job that stopped before the answer to Cancel came is not shown as running for ever", async () => {
  let answer: (job: Job) => void = () => undefined;
  const jobs = new Jobs({ cancel: () => new Promise<Job>((resolve) => (answer = resolve)) } as unknown as Service);
  jobs.heard(job("running", 7));
  const asked = jobs.cancel("a");
  jobs.heard(job("cancelled", 9));
  answer(job("running", 8));
  await asked;
  expect(jobs.all.map((other) => other.state)).toEqual(["cancelled"]);
  expect(jobs.running).toEqual([]);
});

test("a list that was asked for before the news keeps the news", async () => {
  let answer: (jobs: Job[]) => void = () => undefined;
  const jobs = new Jobs({ jobs: () => new Promise<Job[]>((resolve) => (answer = resolve)) } as unknown as Service);
  const asked = jobs.load();
  jobs.heard(job("done", 5));
  answer([job("running", 4), job("queued", 1, "b")]);
  await asked;
  expect(jobs.all.map((other) => other.state)).toEqual(["done", "queued"]);
});
