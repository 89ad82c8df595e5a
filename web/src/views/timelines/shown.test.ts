import { describe, expect, test } from "vitest";
import type { Column } from "../../api/model";
import { choiceFrom, isShown, isDefault, toggled } from "./shown";

const column = (name: string, derived = "", pose: Column["pose"] = ""): Column => ({
  name,
  type: "float",
  kind: "fact",
  unit: "",
  label: "",
  description: "",
  categories: [],
  derived,
  domain: "",
  pair: "",
  warning: "",
  named_by: "",
  pose,
});
const none = new Set<string>();

describe("lines", () => {
  const all = ["coin", "imp", "orc"].map((kind) => column(`angle to ${kind}`, "objects"));

  test("what is recorded is shown, what is derived beside the memory only", () => {
    expect(isDefault(column("health"), all, none, false)).toBe(true);
    expect(isDefault(column("turning", "angle"), all, none, false)).toBe(false);
    expect(isDefault(column("turning", "angle"), all, none, true)).toBe(true);
    expect(isDefault(column("east", "", "x"), all, none, false)).toBe(true);
    expect(isDefault(column("east", "", "x"), all, none, true)).toBe(false);
    expect(isDefault(column("x"), all, none, true)).toBe(true);
    expect(isDefault(column("mine", "step > 3"), all, new Set(["mine"]), false)).toBe(true);
  });

  test("many angles would fill the room", () => {
    expect(isDefault(all[0]!, all, none, true)).toBe(false);
    expect(isDefault(all[0]!, all.slice(0, 2), none, true)).toBe(true);
  });

  test("a choice is turned round and comes back from the address", () => {
    let choice = choiceFrom(null, null);
    choice = toggled("health, all", true, choice);
    choice = toggled("loop", false, choice);
    expect(choiceFrom([...choice.also], [...choice.hide])).toEqual(choice);
    expect(isShown("health, all", true, choice)).toBe(false);
    expect(isShown("loop", false, choice)).toBe(true);
    const back = toggled("loop", false, toggled("health, all", true, choice));
    expect([back.also.size, back.hide.size]).toEqual([0, 0]);
  });
});
