/** Questions about predicted poses as terms of a selection: they stay questions, and hold for rows recorded later. */
import { predictedName } from "../../api/predictions";
import type { Source, Term } from "../selection/terms";
import type { Posed, PoseModel } from "./posed";
import { quantile } from "./quantile";

/** Kinds of error, as the service names them; the first is none. */
export const errorKinds = ["right", "same room", "other room", "unreachable place", "wrong place"] as const;
const right = errorKinds[0];

/** The rows with the largest (or smallest) errors, so many of a hundred. */
export function extremes(column: string, errors: ArrayLike<number>, share: number, worst: boolean): Source {
  const bound = quantile(errors, worst ? 1 - share : share);
  return { kind: "range", column, low: worst ? bound : null, high: worst ? null : bound };
}

export const ofKind = ({ prediction, pose }: Posed, kind: string): Source => ({
  kind: "word",
  column: predictedName(prediction.id, pose.error_kind),
  words: [kind],
});

export const ofGap = ({ prediction, pose }: Posed, kind: string): Source => ({
  kind: "word",
  column: predictedName(prediction.id, pose.gap_kind ?? ""),
  words: [kind],
});

/** Rows that no model has right in a domain. */
export function failures(models: readonly PoseModel[], domain: string): Source | null {
  const terms = models.flatMap(({ title, sides }): Term[] => {
    const side = sides.find((each) => each.domain === domain);
    if (!side) return [];
    const { prediction, pose } = side;
    const column = predictedName(prediction.id, pose.error_kind);
    const source: Source = { kind: "word", column, words: errorKinds.filter((kind) => kind !== right) };
    return [{ operator: "intersection", negated: false, name: title, source }];
  });
  return terms.length ? { kind: "group", terms } : null;
}
