/** Where to begin with saliency: where methods disagree, where attention jumps, and what is looked at that is not usually. */
import { numbersOf } from "../../api/data/columns";
import type { RecordingInfo } from "../../api/model";
import { best, type Measure } from "../../state/begin/ranking";
import { number } from "../../state/format";

const lens = "moments";

export function measuresOfSaliency(info: RecordingInfo): Measure[] {
  const lacks = info.capabilities.lacks;
  if (lacks[lens]) return [];
  return [
    highest("disagree", "methods disagree most", "disagreement of methods", {
      explains: "1 less the rank correlation of the maps of several methods, averaged over their pairs",
      why: (told) => (told.methods ?? []).join(", "),
    }),
    ...(info.ordering
      ? [
          highest("jump", "attention jumps", "jump of attention", {
            explains: "the share of the map that was elsewhere a step ago",
            why: () => "than a step ago",
          }),
        ]
      : []),
    ...(lacks.classes ? [] : [unusual()]),
  ];
}

interface Told {
  readonly methods?: readonly string[];
  readonly classes?: readonly string[];
}

function highest(
  name: string,
  title: string,
  column: string,
  { explains, why }: { explains: string; why: (told: Told) => string },
): Measure {
  return {
    name,
    title,
    explains,
    lens,
    columns: [column],
    rank: (columns, groups, within, told) => {
      const values = numbersOf(columns(column));
      const rows = best(values.length, groups, within, (row) => values[row]!);
      return rows.map((row) => ({ row, score: number(values[row]!), why: why((told ?? {}) as Told) }));
    },
  };
}

function unusual(): Measure {
  return {
    name: "unusual-class",
    title: "unusual class is looked at",
    explains: "by how many deviations a class in view is looked at more than it usually is",
    lens,
    columns: ["unusual class", "class"],
    rank: (columns, groups, within, told) => {
      const [above, which] = [numbersOf(columns("unusual class")), numbersOf(columns("class"))];
      const { classes = [] } = (told ?? {}) as Told;
      const rows = best(above.length, groups, within, (row) => above[row]!);
      return rows.map((row) => ({ row, score: `${number(above[row]!)}σ`, why: classes[which[row]!] ?? "" }));
    },
  };
}
