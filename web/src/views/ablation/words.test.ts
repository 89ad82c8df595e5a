import { expect, test } from "vitest";
import { factorsInWords } from "./words";

test("names are said once, and factors without one by their number", () => {
  const of = (...names: string[]) => factorsInWords(names.map((name, index) => ({ index, name })));
  expect(of("saw", "coin")).toBe("saw and coin");
  expect(of("velocity", "", "velocity")).toBe("velocity (2 factors) and factor 2");
  expect(of()).toBe("");
});
