/** Pose heads of predictions, and models: what one subject says of each domain. */
import type { Prediction } from "../../api/model";

type PredictedPose = Prediction["poses"][number];

/** A pose head of one prediction. */
export interface Posed {
  /** Of the prediction and the head. */
  readonly key: string;
  readonly title: string;
  /** Of the pictures it saw; empty where they have none. */
  readonly domain: string;
  readonly prediction: Prediction;
  readonly pose: PredictedPose;
  /** Of the place and of its error. */
  readonly unit: string;
}

/** A subject with what it says of each domain, or of the one that it was run on. */
export interface PoseModel {
  /** No two have the same. */
  readonly title: string;
  /** What tells it from the others, where there is little room. */
  readonly short: string;
  /** Simulated left, real right. */
  readonly sides: readonly Posed[];
  readonly unit: string;
}

/** Every pose head, named so that no two have the same title. */
export function posesOf(predictions: readonly Prediction[]): Posed[] {
  const found = predictions.flatMap((prediction) => prediction.poses.map((pose) => ({ prediction, pose })));
  return found.map(({ prediction, pose }) => {
    const { subject, binding, domain, current } = prediction;
    const same = found.filter((other) => other.prediction.subject === subject);
    const heads = new Set(same.map((other) => other.pose.head)).size > 1 ? [pose.head] : [];
    const bindings = new Set(same.map((other) => other.prediction.binding)).size > 1 ? [binding] : [];
    const stale = current ? [] : ["of an older version"];
    const unit = prediction.columns.find((column) => column.name === pose.position_error)?.unit ?? "";
    const title = [subject, ...heads, ...bindings, ...stale].join(" · ");
    return { key: `${prediction.id}.${pose.head}`, title, domain, prediction, pose, unit };
  });
}

/**
 * Models: the newest prediction of each domain by the same subject goes together, what is left over stands alone.
 *
 * A subject behind a filter is a model of its own; in a domain that did not go through it, it sees plain pictures.
 */
export function modelsOf(poses: readonly Posed[], domains: readonly string[]): PoseModel[] {
  const families = new Map<string, Posed[]>();
  for (const posed of poses) {
    const { prediction, pose } = posed;
    const family = JSON.stringify([prediction.subject, pose.head, prediction.edits, prediction.current]);
    families.set(family, [...(families.get(family) ?? []), posed]);
  }
  const models: Omit<PoseModel, "short">[] = [];
  for (const family of families.values()) {
    for (const filters of new Set(family.map((posed) => posed.prediction.filters))) {
      const own = family.filter((posed) => posed.prediction.filters === filters);
      const plain = family.filter((posed) => !posed.prediction.filters);
      const newest = domains.map((domain) => {
        const seen = (posed: Posed): boolean => posed.domain === domain;
        return own.findLast(seen) ?? plain.findLast(seen);
      });
      const sides = newest.filter((posed) => posed !== undefined);
      // The same subject fed the same way again, for other sites say, says the same.
      const fed = new Set(sides.map(({ prediction }) => prediction.binding));
      const rest = own.filter((posed) => !sides.includes(posed) && !fed.has(posed.prediction.binding));
      const first = sides[0];
      const title = first && sides.length > 1 ? nameOf(first, filters, poses) : (first?.title ?? "");
      if (first && own.some((posed) => sides.includes(posed))) models.push({ title, sides, unit: first.unit });
      models.push(...rest.map((posed) => ({ title: posed.title, sides: [posed], unit: posed.unit })));
    }
  }
  const shorter = withoutBegin(models.map(({ title }) => title));
  return models.map((model, i) => ({ ...model, short: shorter[i]! }));
}

/** Names without the words that all of them begin with. */
export function withoutBegin(names: readonly string[]): string[] {
  const [first = "", ...rest] = names;
  let same = 0;
  while (same < first.length && rest.every((name) => name[same] === first[same])) same++;
  const begin = /^.*[\s,_·-]/.exec(first.slice(0, same))?.[0].length ?? 0;
  const short = names.map((name) => name.slice(begin).trim());
  return rest.length && short.every(Boolean) ? short : [...names];
}

/** Several heads, sets of edits or filters of one subject are told apart. */
function nameOf({ prediction, pose }: Posed, filters: string, poses: readonly Posed[]): string {
  const same = poses.filter((other) => other.prediction.subject === prediction.subject);
  const several = (of: (posed: Posed) => string): boolean => new Set(same.map(of)).size > 1;
  return [
    prediction.subject,
    ...(several((other) => other.pose.head) ? [pose.head] : []),
    ...(filters ? [filters] : []),
    ...(several((other) => JSON.stringify(other.prediction.edits)) && prediction.edits.length
      ? [`${prediction.edits.length} ${prediction.edits.length === 1 ? "edit" : "edits"}`]
      : []),
    ...(prediction.current ? [] : ["of an older version"]),
  ].join(" · ");
}
