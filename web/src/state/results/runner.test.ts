import { describe, expect, test } from "vitest";
import type { LiveSubject, RecordingInfo } from "../../api/model";
import { Runners } from "./runner.svelte";

const imported = { subject: null, capabilities: { targets: [] } } as unknown as RecordingInfo;
const played = {
  subject: { name: "player", layers: ["conv"], convolutions: [], heads: [{ name: "pi" }] },
  capabilities: { targets: ["action"] },
} as unknown as RecordingInfo;
const locator = {
  info: { name: "locator", layers: ["fc"], convolutions: [], heads: [{ name: "pose" }] },
  targets: ["x of pose"],
} as unknown as LiveSubject;

describe("the subject that a lens runs", () => {
  const asked: string[] = [];
  const runners = new Runners({
    subject: (name) => {
      asked.push(name);
      return Promise.resolve(locator);
    },
  });

  test("is the recorded one, without asking for it", () => {
    expect(runners.of(played, ["player", "locator"])).toMatchObject({ targets: ["action"], heads: ["pi"] });
    expect(runners.of(played, [])).toMatchObject({ targets: ["action"] });
    expect(asked).toEqual([]);
  });

  test("is the only live one where none was recorded, or the one that is named", async () => {
    expect(runners.of(imported, ["locator"])).toBeNull();
    await Promise.resolve();
    expect(runners.of(imported, ["locator"])).toMatchObject({ targets: ["x of pose"], layers: ["fc"] });
    expect(runners.of(played, ["player", "locator"], "locator")).toMatchObject({ heads: ["pose"] });
    expect(asked).toEqual(["locator"]);
    expect(runners.of(imported, ["locator", "other"])!.targets).toEqual([]);
  });
});
