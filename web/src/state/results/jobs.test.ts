import { expect, test } from "vitest";
import type { Job } from "../../api/model";
import type { Service } from "../../api/service";
import { Jobs } from "./jobs.svelte";

test("an answer that comes late does not undo the news", () => {
  const jobs = new Jobs({} as Service);
  const job = (state: Job["state"]): Job => ({ id: "a", state }) as Job;
  jobs.heard(job("failed"));
  expect(jobs.begun(job("queued")).state).toBe("failed");
  expect(jobs.all.map((other) => other.state)).toEqual(["failed"]);
});
