/** Where to begin with two domains: where what a model says of them differs most, place by place. */
import { numbersOf } from "../../api/data/columns";
import type { RecordingInfo } from "../../api/model";
import { predictedName } from "../../api/predictions";
import type { Candidate, Measure } from "../../state/begin/ranking";
import { wanted } from "../../state/begin/ranking";
import { count, number } from "../../state/format";
import { areasOf } from "../../state/recording/areas";
import type { Poses } from "../../state/recording/poses.svelte";
import { quantile } from "../../state/recording/quantile";

const perPlace = 3;

type Known = Pick<Poses, "a" | "scene" | "truth">;

export function measuresOfTransfer(info: RecordingInfo, { a, scene, truth }: Known): Measure[] {
  const side = a?.sides[0];
  const { gap, gap_kind } = side?.pose ?? {};
  if (!a || !side || !gap || !gap_kind) return [];
  const gapName = predictedName(side.prediction.id, gap);
  const kindName = predictedName(side.prediction.id, gap_kind);
  const room = info.columns.find(({ name, type }) => type === "text" && /room/i.test(name));
  return [
    {
      name: "gaps",
      title: `largest gaps of ${a.short}, place by place`,
      explains: "how far the predictions from both pictures of a pair lie apart; places with the largest median first",
      columns: [gapName, kindName, ...(room ? [room.name] : [])],
      rank: (columns, _groups, within) => {
        const gaps = numbersOf(columns(gapName));
        const kinds = columns(kindName);
        const words = room && columns(room.name);
        const areas = !words && truth && scene?.polygons?.length ? areasOf(truth, scene.polygons) : null;
        const placeOf = (row: number): string => {
          if (words?.type === "text") return words.words[words.codes[row] ?? -1] ?? "";
          return areas?.names[areas.codes[row] ?? -1] ?? "";
        };
        const why = (row: number): string => (kinds.type === "text" ? (kinds.words[kinds.codes[row] ?? -1] ?? "") : "");
        return byPlace(gaps, placeOf, (row) => within?.has(row) ?? true, info.row.many).map((each) => ({
          ...each,
          score: `${number(gaps[each.row]!)} ${side.unit}`,
          why: why(each.row),
        }));
      },
    },
  ];
}

/** The largest of each place, places with the largest median first. */
export function byPlace(
  values: ArrayLike<number>,
  placeOf: (row: number) => string,
  within: (row: number) => boolean,
  many: string,
): Pick<Candidate, "row" | "under">[] {
  const places = new Map<string, number[]>();
  for (let row = 0; row < values.length; row++) {
    if (!Number.isFinite(values[row]!) || !within(row)) continue;
    const place = placeOf(row);
    const known = places.get(place);
    if (known) known.push(row);
    else places.set(place, [row]);
  }
  const ranked = [...places].map(([place, rows]) => ({
    place,
    rows: rows.toSorted((one, other) => values[other]! - values[one]! || one - other),
    median: quantile(rows.map((row) => values[row]!), 0.5), // prettier-ignore
  }));
  ranked.sort((one, other) => other.median - one.median || (one.place < other.place ? -1 : 1));
  return ranked
    .flatMap(({ place, rows, median }) =>
      rows.slice(0, perPlace).map((row) => ({
        row,
        under: `${place || "elsewhere"}: median ${number(median)}, ${count(rows.length)} ${many}`,
      })),
    )
    .slice(0, wanted);
}
