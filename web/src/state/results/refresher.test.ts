import { expect, test } from "vitest";
import { Refresher } from "./refresher";

/** A store of what arrived, whose answers come when the test says so. */
function slow(): { wanted: Refresher; shown: string[]; asked: string[]; answer: () => Promise<void> } {
  const shown: string[] = [];
  const asked: string[] = [];
  const waiting: (() => void)[] = [];
  const wanted: Refresher = new Refresher(async (now) => {
    asked.push(now);
    await new Promise<void>((resolve) => waiting.push(resolve));
    if (wanted.has(now.slice(0, now.indexOf(" ")))) shown.push(now);
  }, 5);
  const answer = async (): Promise<void> => {
    waiting.shift()?.();
    await new Promise((resolve) => setTimeout(resolve, 1));
  };
  return { wanted, shown, asked, answer };
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 15));

test("what is left and wanted again while the answer was away is fetched again", async () => {
  const { wanted, shown, asked, answer } = slow();
  wanted.set("a end");
  wanted.set("");
  await answer();
  expect(shown).toEqual([]);
  wanted.set("a end");
  await pause();
  await answer();
  expect(asked).toEqual(["a end", "a end"]);
  expect(shown).toEqual(["a end"]);
});

test("of many states in a row the first and the last are fetched, and what is there is not asked for again", async () => {
  const { wanted, shown, asked, answer } = slow();
  for (const state of [1, 2, 3]) wanted.set(`a ${state}`);
  await answer();
  await pause();
  await answer();
  wanted.set("a 3");
  expect(asked).toEqual(["a 1", "a 3"]);
  expect(shown).toEqual(["a 1", "a 3"]);
});
