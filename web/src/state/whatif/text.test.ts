import { expect, test } from "vitest";
import type { Move } from "../../api/whatif";
import { courseFromText, courseToText } from "./text";

const moves: Move[] = [
  { do: "act", action: 2 },
  { do: "act", action: 2 },
  { do: "move", thing: "saw 14.3", by: [-1, 2.5] },
  { do: "remove", thing: "enemy; =2*" },
  ...Array.from({ length: 12 }, (): Move => ({ do: "agent" })),
  { do: "act", actions: [0.5, -1] },
];

test("what was rolled out survives the address", () => {
  const text = courseToText({ step: 45, moves });
  expect(text).toMatch(/^45~2\*2;m=saw%2014\.3=-1,2\.5;r=.*;a\*12;c=0\.5,-1$/);
  expect(courseFromText(text)).toEqual({ step: 45, moves });
  expect(courseFromText("7~")).toEqual({ step: 7, moves: [] });
});

test("an address that makes no sense is nothing", () => {
  for (const text of [undefined, "", "x~a", "3~q", "3~a*0", "3~a*99999", "3~m=saw=1", "3~c=one", "3~r="])
    expect(courseFromText(text)).toBeNull();
});
