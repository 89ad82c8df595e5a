/** The proof as a drawing that can be saved. */
import { readPalette } from "../../marks/colour";
import type { Pen, Size } from "../../marks/pen";
import { drawProof, sizeOfProof, type ProofCell, type ProofGrid, type Span } from "../../marks/proof";
import {
  comparedOf,
  met,
  original,
  percentOf,
  placeOn,
  scalesOf,
  shareOf,
  tickOf,
  timesOrLeast,
  type Arm,
  type Proof,
  type Scale,
} from "../../state/proof";
import { verdictOf } from "../../state/proofwords";

export function drawingOf(proof: Proof, log: boolean): { size: () => Size; paint: (pen: Pen, size: Size) => void } {
  const grid = gridOf(proof, log);
  return { size: () => sizeOfProof(grid), paint: (pen, size) => drawProof(pen, size, grid, readPalette()) };
}

export function gridOf(proof: Proof, log: boolean): ProofGrid {
  const { columns } = met(proof);
  const scales = scalesOf(proof, log);
  const scaleOf = (cause: string): Scale => (cause === proof.causes[0] ? scales.good : scales.failures);
  const headline = verdictOf(proof)?.headline;
  return {
    title: headline ? headline.lead + headline.strong + headline.rest : "",
    columns,
    ends: columns.map((cause) => [tickOf(scaleOf(cause).low), tickOf(scaleOf(cause).high)] as const),
    rows: proof.arms.map((arm) => ({
      name: arm.name,
      kind: arm.kind,
      cells: columns.map((cause) => cellOf(proof, arm, cause, scaleOf(cause))),
    })),
    bands: columns.map((cause) => spanOf(original(proof), cause, scaleOf(cause))),
  };
}

function spanOf(arm: Arm | undefined, cause: string, scale: Scale): Span | null {
  const share = shareOf(arm, cause);
  if (!share) return null;
  return { low: placeOn(scale, share.low), at: placeOn(scale, share.share), high: placeOn(scale, share.high) };
}

function cellOf(proof: Proof, arm: Arm, cause: string, scale: Scale): ProofCell | null {
  const [share, span, told] = [shareOf(arm, cause), spanOf(arm, cause, scale), comparedOf(proof, arm, cause)];
  if (!share || !span) return null;
  const times = cause === proof.causes[0] ? "" : told ? timesOrLeast(told) : "";
  const stem = !scale.log && scale.low === 0;
  return { ...span, text: percentOf(share.share), times, apart: told?.apart ?? false, stem };
}
