/** Places along one axis of steps that holds what happened and what was rolled out. */
import type { WhatIfNode } from "../../api/whatif";

export interface Thumb {
  readonly step: number;
  readonly x: number;
}

export interface Axis {
  readonly start: number;
  /** The step after the last. */
  readonly stop: number;
}

/** The whole of both, or the rollout with some of what came before and after. */
export function axisOf(
  { real, from, last }: { real: number; from: number; last: number },
  scope: "near" | "whole",
): Axis {
  const end = Math.max(real, last + 1);
  if (scope === "whole") return { start: 0, stop: end };
  return { start: Math.max(0, from - 6), stop: Math.min(end, Math.max(last + 7, from + 30)) };
}

/** Which steps have room for a picture, from left to right, so that pictures stand side by side. */
export function thumbsOf({ start, stop }: Axis, width: number, each: number): Thumb[] {
  const steps = stop - start;
  const count = Math.min(steps, Math.max(1, Math.floor(width / Math.max(1, each))));
  const taken = new Set<number>();
  return Array.from({ length: count }, (_, i) => ({
    step: start + Math.min(steps - 1, Math.floor(((i + 0.5) * steps) / count)),
    x: ((i + 0.5) * width) / count - each / 2,
  })).filter(({ step }) => !taken.has(step) && taken.add(step));
}

/** The last node at each step: how things stood when the next action was taken. */
export function byStep(nodes: readonly WhatIfNode[]): Map<number, number> {
  const found = new Map<number, number>();
  nodes.forEach((node, index) => found.set(node.step, index));
  return found;
}

/** One value a step from the first node on; where things were changed, the last at that step. */
export function valuesOf(nodes: readonly WhatIfNode[], name: string): number[] {
  const first = nodes[0]?.step ?? 0;
  const values: number[] = [];
  for (const node of nodes) values[node.step - first] = node.values[name] ?? NaN;
  return values;
}

/** What a rollout earned, with what was earned before it began. */
export function totalOf(nodes: readonly WhatIfNode[], before: ArrayLike<number>): number {
  let total = 0;
  for (let i = 0; i < Math.min(before.length, nodes[0]?.step ?? 0); i++) total += before[i]!;
  for (const node of nodes.slice(1)) total += node.reward ?? 0;
  return total;
}
