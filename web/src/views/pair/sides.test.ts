import { describe, expect, it } from "vitest";
import { domainsOf } from "../../state/recording/domains";
import { byPair } from "./sides";

const array = (name: string, domain = "", pair = "") => ({ name, domain, pair });
const names = (arrays: readonly { name: string }[]) => arrays.map(({ name }) => name);

describe("pictures of a row", () => {
  it("stand pair by pair, every domain in its place and none left out", () => {
    const shown = byPair([
      array("thermal depth", "thermal", "depth"),
      array("plan"),
      array("left rgb", "left", "rgb"),
      array("right rgb", "right", "rgb"),
      array("left depth", "left", "depth"),
      array("thermal rgb", "thermal", "rgb"),
    ]);
    expect(domainsOf(shown)).toEqual(["thermal", "left", "right"]);
    expect(names(shown)).toEqual(["thermal depth", "left depth", "thermal rgb", "left rgb", "right rgb", "plan"]);
  });
  it("stand in the order of the recording without pairs", () => {
    expect(names(byPair([array("b"), array("a", "sim"), array("c", "real")]))).toEqual(["a", "c", "b"]);
  });
  it("stand simulated left and real right, however the recording has them", () => {
    const arrays = [array("r", "real", "rgb"), array("x", "thermal", "rgb"), array("s", "sim", "rgb")];
    expect(domainsOf(arrays)).toEqual(["sim", "thermal", "real"]);
    expect(names(byPair(arrays))).toEqual(["s", "x", "r"]);
  });
});
