import { describe, expect, test } from "vitest";
import { Address, amount, choice, family, flag, key, names, text, wish } from "./address.svelte";

const word = text("t-word");
const way = choice("t-way", ["near", "whole"]);
const on = flag("t-on", true);
const share = amount("t-share", { otherwise: 0.05, fits: (value) => value > 0 && value < 1 });
const list = names("t-list");
const hue = wish("t-hue", ["one", "all"]);
const own = text("t-own", { own: true });
const results = family("t-result-", { own: true });

describe("keys of the address", () => {
  test("a value comes back as what it was, and a default is not written", () => {
    const { a, settings } = new Address();
    expect([a.get(word), a.get(way), a.get(on), a.get(share), a.get(list), a.get(hue)]).toEqual([
      ...["", "near", true, 0.05],
      ...[null, null],
    ]);
    expect(settings).toEqual({});
    const address = new Address();
    address.a.set(word, "a, b");
    address.a.set(way, "whole");
    address.a.set(on, false);
    address.a.set(share, 0.2);
    address.a.set(list, ["one", "two, three"]);
    address.a.set(hue, "all");
    const other = new Address();
    other.restore(address.settings);
    expect([word, way, on, share, list, hue].map((each) => other.a.get(each as never))).toEqual([
      ...["a, b", "whole", false, 0.2],
      ...[["one", "two, three"], "all"],
    ]);
    address.a.set(way, "near");
    address.a.set(list, null);
    expect(Object.keys(address.settings).sort()).toEqual(["t-hue", "t-on", "t-share", "t-word"]);
  });

  test("no names are another thing than nobody having said", () => {
    const address = new Address();
    address.a.set(list, []);
    expect(address.a.get(list)).toEqual([]);
    expect(address.settings).toEqual({ "t-list": "" });
  });

  test("what nobody knows or can read falls back without harm", () => {
    const address = new Address();
    const told = {
      "t-way": "sideways",
      "t-on": "maybe",
      "t-share": "7",
      "t-list": "%E0%A4%A",
      "t-hue": "",
      nobody: "x",
    };
    address.restore({ ...told, "b.t-way": "whole", "t-word": "kept" });
    expect(address.settings).toEqual({ "t-word": "kept" });
    expect([address.a.get(way), address.a.get(on), address.a.get(share), address.a.get(list)]).toEqual([
      ...["near", true, 0.05],
      null,
    ]);
  });

  test("each of two sources has some keys of its own and shares the others", () => {
    const address = new Address();
    address.b.set(own, "right");
    address.b.set(results("factors"), "1f");
    address.b.set(word, "both");
    expect([address.a.get(own), address.b.get(own), address.a.get(word)]).toEqual(["", "right", "both"]);
    expect(address.settings).toEqual({ "b.t-own": "right", "b.t-result-factors": "1f", "t-word": "both" });
    const other = new Address();
    other.restore(address.settings);
    expect(other.b.get(results("factors"))).toBe("1f");
    other.b.clear(own);
    expect(other.settings).toEqual({ "b.t-result-factors": "1f", "t-word": "both" });
  });

  test("two owners of one key are a mistake", () => {
    expect(() => key("t-word", { otherwise: 1, read: Number, write: String })).toThrow("“t-word”");
  });
});
