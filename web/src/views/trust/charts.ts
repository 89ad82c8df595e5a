/** The two charts of one method: what remains of its map, and what the output does as pixels come and go. */
import type { Chart, Series } from "../../marks/chart";
import type { Figures, Trust } from "../../state/trust/trust";

const line = (name: string, x: readonly (number | string)[], y: readonly number[]): Series => ({
  name,
  x,
  y,
  mark: "line",
});

export function remainsChart(found: Trust, figures: Figures): Chart | null {
  const own = figures.randomisation;
  if (!own) return null;
  const stages = ["trained", ...own.stages];
  return {
    x: "randomised down to",
    y: "correlation",
    series: [
      line(figures.signed ? "map" : "map (no signs)", stages, [1, ...own.rank]),
      ...(figures.signed ? [line("places", stages, [1, ...own.strength])] : []),
      line("SSIM", stages, [1, ...own.ssim]),
      line(
        "limit",
        stages,
        stages.map(() => found.threshold),
      ),
    ],
  };
}

export function curvesChart(found: Trust, figures: Figures): Chart | null {
  const own = figures.curves;
  if (!own) return null;
  return {
    x: "share of pixels",
    y: "output",
    series: [
      line("insertion", found.fractions, own.insertion),
      line("deletion", found.fractions, own.deletion),
      line("chance in", found.fractions, own.insertion_by_chance),
      line("chance out", found.fractions, own.deletion_by_chance),
    ],
  };
}
