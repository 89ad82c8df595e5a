/** The ablation test as a drawing that can be saved. */
import { readPalette } from "../../marks/colour/colour";
import type { Pen, Size } from "../../marks/pen/pen";
import { drawTest, sizeOfTest, type TestCell, type TestGrid, type Span } from "../../marks/ablationtest";
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
  type AblationTest,
  type Scale,
} from "../../state/ablation/ablationtest";
import { verdictOf } from "../../state/ablation/verdict";

export function drawingOf(
  ablationTest: AblationTest,
  log: boolean,
): { size: () => Size; paint: (pen: Pen, size: Size) => void } {
  const grid = gridOf(ablationTest, log);
  return { size: () => sizeOfTest(grid), paint: (pen, size) => drawTest(pen, size, grid, readPalette()) };
}

export function gridOf(ablationTest: AblationTest, log: boolean): TestGrid {
  const { columns } = met(ablationTest);
  const scales = scalesOf(ablationTest, log);
  const scaleOf = (cause: string): Scale => (cause === ablationTest.causes[0] ? scales.good : scales.failures);
  const headline = verdictOf(ablationTest)?.headline;
  return {
    title: headline ? headline.lead + headline.strong + headline.rest : "",
    columns,
    ends: columns.map((cause) => [tickOf(scaleOf(cause).low), tickOf(scaleOf(cause).high)] as const),
    rows: ablationTest.arms.map((arm) => ({
      name: arm.name,
      kind: arm.kind,
      cells: columns.map((cause) => cellOf(ablationTest, arm, cause, scaleOf(cause))),
    })),
    bands: columns.map((cause) => spanOf(original(ablationTest), cause, scaleOf(cause))),
  };
}

function spanOf(arm: Arm | undefined, cause: string, scale: Scale): Span | null {
  const share = shareOf(arm, cause);
  if (!share) return null;
  return { low: placeOn(scale, share.low), at: placeOn(scale, share.share), high: placeOn(scale, share.high) };
}

function cellOf(ablationTest: AblationTest, arm: Arm, cause: string, scale: Scale): TestCell | null {
  const [share, span, compared] = [
    shareOf(arm, cause),
    spanOf(arm, cause, scale),
    comparedOf(ablationTest, arm, cause),
  ];
  if (!share || !span) return null;
  const times = cause === ablationTest.causes[0] ? "" : compared ? timesOrLeast(compared) : "";
  const stem = !scale.log && scale.low === 0;
  return { ...span, text: percentOf(share.share), times, apart: compared?.apart ?? false, stem };
}
