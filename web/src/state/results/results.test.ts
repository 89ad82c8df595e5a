import { expect, test } from "vitest";
import { preferred } from "./results.svelte";

test("what the one who played saw comes before what others saw since", () => {
  const by = (id: string, subject?: string) => ({ id, arguments: { subject } });
  const others = [by("newest", "ablated"), by("older", "ablated")];
  expect(preferred([...others, by("own", "original"), by("first", "original")], "original")?.id).toBe("own");
  expect(preferred(others, "original")?.id).toBe("newest");
  expect(preferred([by("of nobody"), ...others], "original")?.id).toBe("of nobody");
  expect(preferred([], "original")).toBeUndefined();
});
