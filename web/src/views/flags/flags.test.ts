import { describe, expect, test } from "vitest";
import { list, read, sentence, strength, type Flag } from "./flags";

const flag = (rest: Partial<Flag>): Flag => ({
  element: 0,
  fact: "armour gathered",
  column: "armour",
  auc: 0.9,
  held_out_auc: 0.9,
  direction: 1,
  p: 0.01,
  q: 0.01,
  retention_steps: 12,
  threshold: 0.25,
  histogram: null,
  ...rest,
});
const flags = [
  flag({ element: 3, held_out_auc: 0.8 }),
  flag({ element: 1, held_out_auc: 0.95 }),
  flag({ element: 2, fact: "health pack in view", held_out_auc: 0.85, retention_steps: 40 }),
  flag({ element: 9, fact: "health pack in view", held_out_auc: 0.99, q: 0.3 }),
];
const wish = { q: 0.05, least: 0.6, words: "", best: false, sort: "well" } as const;

describe("the list of flags", () => {
  test("is strict about chance and begins with the best", () => {
    expect(list(flags, wish).map((f) => f.element)).toEqual([1, 2, 3]);
    expect(list(flags, { ...wish, q: 0.5 })[0]!.element).toBe(9);
    expect(list(flags, { ...wish, least: 0.9 }).map((f) => f.element)).toEqual([1]);
  });

  test("keeps one element per fact, finds words, sorts", () => {
    expect(list(flags, { ...wish, best: true }).map((f) => f.element)).toEqual([1, 2]);
    expect(list(flags, { ...wish, words: "view HEALTH" }).map((f) => f.element)).toEqual([2]);
    expect(list(flags, { ...wish, sort: "retention" })[0]!.element).toBe(2);
    expect(list(flags, { ...wish, sort: "element" }).map((f) => f.element)).toEqual([1, 2, 3]);
  });

  test("takes what is not known for no number", () => {
    const [one] = read({ flags: [{ element: 1, fact: "a", held_out_auc: null, threshold: null }] }).flags;
    expect(one).toMatchObject({ held_out_auc: NaN, threshold: NaN, retention_steps: null, histogram: null });
  });

  test("reads as a sentence, and a coin toss is no strength", () => {
    const facts = [{ fact: "armour gathered", when: "once the armour was gathered" }];
    const told = read({ array: "memory", episodes: { used: 1, held_out: 1 }, facts, flags: [] });
    expect(sentence(flag({ direction: -1 }), "h 37", told)).toBe(
      "h 37 is low (below 0.25) once the armour was gathered. In 1 episode not used to find it, " +
        "it ranked a step with the fact beyond one without in 90 of 100 pairs. " +
        "It went on encoding it for 12 steps after it was over.",
    );
    expect(strength(0.5)).toBe(0);
    expect(strength(1)).toBe(1);
    expect(strength(NaN)).toBe(0);
  });
});
