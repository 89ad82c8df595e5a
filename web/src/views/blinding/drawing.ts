/** The proof as a drawing that can be saved. */
import { readPalette } from "../../marks/colour";
import { drawProof } from "../../marks/proof";
import type { Pen, Size } from "../../marks/pen";
import { met, original, percentOf, placeOn, scalesOf, shareOf, type Proof } from "../../state/proof";

export function drawingOf(proof: Proof, log: boolean): { size: () => Size; paint: (pen: Pen, size: Size) => void } {
  const { columns } = met(proof);
  const scales = scalesOf(proof, log);
  const at = (cause: string, value: number): number =>
    placeOn(cause === proof.causes[0] ? scales.good : scales.failures, value);
  const span = (cause: string, arm = original(proof)) => {
    const share = shareOf(arm, cause);
    return share ? { low: at(cause, share.low), at: at(cause, share.share), high: at(cause, share.high) } : null;
  };
  const rows = proof.arms.map((arm) => ({
    name: arm.name,
    kind: arm.kind,
    cells: columns.map((cause) => {
      const [share, place] = [shareOf(arm, cause), span(cause, arm)];
      return share && place ? { ...place, text: percentOf(share.share) } : null;
    }),
  }));
  const bands = columns.map((cause) => span(cause));
  return {
    size: () => ({ width: 180 + 130 * columns.length, height: 40 + 44 * rows.length }),
    paint: (pen, size) => drawProof(pen, size, { columns, rows, bands }, readPalette()),
  };
}
