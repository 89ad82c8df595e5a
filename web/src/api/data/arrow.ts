/** Arrow IPC to columns of typed arrays. */
import { tableFromIPC, Type, type Column as ArrowColumn } from "@uwdata/flechette";
import type { ColumnData, Numbers } from "./columns";
import type { ObjectInView } from "../model";

export function decodeTable(buffer: ArrayBuffer): Map<string, ColumnData> {
  const table = tableFromIPC(buffer, { useProxy: false });
  return new Map(table.schema.fields.map((field, i) => [field.name, decodeColumn(table.getChildAt(i))]));
}

function decodeColumn(column: ArrowColumn<unknown>): ColumnData {
  switch (column.type.typeId) {
    case Type.Bool:
      return { type: "bool", values: Uint8Array.from(column as Iterable<unknown>, bit) };
    case Type.Dictionary:
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View:
      return decodeText(column);
    case Type.List:
    case Type.LargeList:
      return { type: "objects", values: Array.from(column as Iterable<unknown>, objects) };
    default:
      return { type: "number", values: decodeNumbers(column) };
  }
}

const bit = (value: unknown): number => (value === null || value === undefined ? 2 : value ? 1 : 0);

function decodeNumbers(column: ArrowColumn<unknown>): Numbers {
  if (column.nullCount === 0) {
    const values: unknown = column.toArray();
    if (values instanceof Float32Array || values instanceof Int32Array || values instanceof Float64Array) return values;
    return Float64Array.from(values as Iterable<number | bigint>, Number);
  }
  const known = (value: unknown): number => (value === null ? NaN : Number(value));
  const float = column.type.typeId === Type.Float;
  return float
    ? Float32Array.from(column as Iterable<unknown>, known)
    : Float64Array.from(column as Iterable<unknown>, known);
}

function decodeText(column: ArrowColumn<unknown>): ColumnData {
  const codes = new Int32Array(column.length);
  const words: string[] = [];
  const known = new Map<unknown, number>();
  let row = 0;
  for (const word of column as Iterable<unknown>) {
    let code = -1;
    if (word !== null && word !== undefined) {
      code = known.get(word) ?? words.push(String(word)) - 1;
      known.set(word, code);
    }
    codes[row++] = code;
  }
  return { type: "text", codes, words };
}

function objects(list: unknown): ObjectInView[] {
  if (!list) return [];
  return Array.from(list as Iterable<Partial<ObjectInView> | null>, (thing) => ({
    name: String(thing?.name ?? "object"),
    x_px: Number(thing?.x_px ?? NaN),
    y_px: Number(thing?.y_px ?? NaN),
    width_px: Number(thing?.width_px ?? NaN),
    height_px: Number(thing?.height_px ?? NaN),
    distance: Number(thing?.distance ?? NaN),
    x: Number(thing?.x ?? NaN),
    y: Number(thing?.y ?? NaN),
  }));
}
