import { describe, expect, test } from "vitest";
import type { Capabilities } from "../api/model";
import { head, lens, missing, needs, Workspaces, type Workspace } from "./workspace";

const nothing: Capabilities = {
  row: { one: "row", many: "rows" },
  ordered: false,
  arrays: {},
  images: [],
  domains: [],
  posed: false,
  subject: false,
  heads: [],
  targets: [],
  sites: [],
  lenses: [],
  lacks: {},
  live: false,
};
const played: Capabilities = { ...nothing, ordered: true, subject: true, arrays: { observation: ["seen"] } };

const made = (name: string, more: Partial<Workspace> = {}): { workspace: Workspace } => ({
  workspace: {
    ...{ name, title: name, icon: "", order: 1, needs: [], views: [], help: `workspace-${name}` },
    layout: (() => ({})) as unknown as Workspace["layout"],
    ...more,
  },
});

describe("the registry", () => {
  test("a folder more is a workspace more, in its place", () => {
    const before = { "./memory/index.ts": made("memory", { order: 2, needs: [needs.memory] }) };
    const all = new Workspaces({ ...before, "./empty/index.ts": made("empty", { order: 1 }) });
    expect(all.all.map(({ name }) => name)).toEqual(["empty", "memory"]);
    expect(all.named("empty")?.help).toBe("workspace-empty");
    expect(all.suitable("memory", nothing)?.name).toBe("empty");
  });

  test("a workspace is called as its folder", () => {
    expect(() => new Workspaces({ "./rows/index.ts": made("pairs") })).toThrow("its folder is “rows”");
    expect(() => new Workspaces({ "./rows/index.ts": {} })).toThrow("does not export");
  });

  test("opens what was asked for where the recording can feed it", () => {
    const all = new Workspaces({
      "./a/index.ts": made("a", { needs: [needs.time] }),
      "./b/index.ts": made("b", { needs: [needs.noTime] }),
      "./c/index.ts": made("c", { needs: [needs.time] }),
    });
    expect(all.suitable("c", played)?.name).toBe("c");
    expect(all.suitable("gone", played)?.name).toBe("a");
    expect(all.suitable("c", nothing)?.name).toBe("b");
  });
});

describe("what is missing", () => {
  const sees = made("sees", { needs: [needs.time, needs.imageInput] }).workspace;

  test("is said in words, all of it", () => {
    expect(missing(sees, played, [{ name: "r", capabilities: played }])).toContain("given pictures");
    const both = missing(sees, nothing, [{ name: "r", capabilities: nothing }]);
    expect(both).toContain("time");
    expect(both).toContain("pictures");
    expect(missing(sees, { ...played, images: ["seen"] }, [{ name: "r", capabilities: played }])).toBe("");
  });

  test("names another recording that has it", () => {
    const study = [
      { name: "ablated", capabilities: played },
      { name: "seeing", capabilities: { ...played, images: ["seen"] } },
    ];
    expect(missing(sees, played, study)).toContain("“seeing” has");
  });

  test("an empty study says what to do", () => {
    expect(missing(sees, null, [])).toContain("iv.record");
  });

  test("heads, lenses and sites can be asked for", () => {
    const own = made("own", { needs: [head("pose"), lens("flags"), needs.attention, needs.liveSubject] }).workspace;
    const offered = { ...nothing, heads: ["pose"], lenses: ["flags"], sites: ["attention"], live: true };
    expect(missing(own, offered, [{ name: "r", capabilities: offered }])).toBe("");
    expect(missing(own, nothing, [{ name: "r", capabilities: nothing }])).toContain("“pose”");
  });
});
