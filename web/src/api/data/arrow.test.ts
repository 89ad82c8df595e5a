import {
  bool,
  columnFromArray,
  dictionary,
  float32,
  int32,
  list,
  struct,
  tableFromColumns,
  tableToIPC,
  utf8,
} from "@uwdata/flechette";
import { expect, test } from "vitest";
import { decodeTable } from "./arrow";
import { join, part } from "./columns";

function encode(columns: Record<string, ReturnType<typeof columnFromArray>>): ArrayBuffer {
  const bytes = tableToIPC(tableFromColumns(columns), { format: "stream" })!;
  return bytes.slice().buffer;
}

test("every kind of column is decoded, with unknown values marked", () => {
  const table = decodeTable(
    encode({
      health: columnFromArray([1.5, null, 3], float32()),
      step: columnFromArray([0, 1, 2], int32()),
      armour: columnFromArray([7, null, 9], int32()),
      hit: columnFromArray([true, false, null], bool()),
      outcome: columnFromArray(["died", "time limit", "died"], dictionary(utf8())),
      objects: columnFromArray(
        [[{ name: "Medikit", x_px: 3 }], [], null],
        list(struct({ name: utf8(), x_px: float32() })),
      ),
    }),
  );
  expect(table.get("health")).toEqual({ type: "number", values: Float32Array.of(1.5, NaN, 3) });
  expect(table.get("step")).toEqual({ type: "number", values: Int32Array.of(0, 1, 2) });
  expect(table.get("armour")).toEqual({ type: "number", values: Float64Array.of(7, NaN, 9) });
  expect(table.get("hit")).toEqual({ type: "bool", values: Uint8Array.of(1, 0, 2) });
  expect(table.get("outcome")).toEqual({ type: "text", codes: Int32Array.of(0, 1, 0), words: ["died", "time limit"] });
  const objects = table.get("objects")!;
  expect(objects.type === "objects" && objects.values.map((v) => v.length)).toEqual([1, 0, 0]);
  expect(objects.type === "objects" && objects.values[0]![0]!.name).toBe("Medikit");
});

test("pieces are joined over holes", () => {
  const numbers = join([{ type: "number", values: Int32Array.of(1) }, 2, { type: "number", values: Int32Array.of(4) }]);
  expect(numbers).toEqual({ type: "number", values: Float64Array.of(1, NaN, NaN, 4) });
  const text = join([
    { type: "text", codes: Int32Array.of(0), words: ["a"] },
    1,
    { type: "text", codes: Int32Array.of(0, 1), words: ["b", "a"] },
  ]);
  expect(text).toEqual({ type: "text", codes: Int32Array.of(0, -1, 1, 0), words: ["a", "b"] });
  expect(part(text, 2, 4)).toEqual({ type: "text", codes: Int32Array.of(1, 0), words: ["a", "b"] });
});
