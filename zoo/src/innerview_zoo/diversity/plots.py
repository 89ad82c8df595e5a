"""The paper's two plots of its diversity hypothesis, ours beside its own, as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from innerview_zoo.diversity.experiment import Diversity
from innerview_zoo.models.platformer.published import PUBLISHED, UNLIMITED_UNSEEN

WIDTH, HEIGHT = 640, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 150, 52, 48
_NARROW = 0.5
"""An interval of less would not be seen behind its dot."""
_STYLE = """
  .sheet { fill: #ffffff } .grid { stroke: #e4e4de } .quiet { fill: #5d626b } .strong { fill: #1d2025 }
  .a { --c: #1f6feb } .b { --c: #b4500f } .c { --c: #6d727b } .d { --c: #8a6a3f }
  .line { fill: none; stroke: var(--c); stroke-width: 2 } .bar { stroke: var(--c); stroke-width: 1.5 }
  .dot { fill: var(--c); stroke: none } .name { fill: var(--c) }
  .theirs .line { stroke-dasharray: 4 4; stroke-width: 1.5 } .theirs .dot { fill: var(--s, #fff); stroke: var(--c) }
  .line.gap, .theirs .line.gap { stroke-dasharray: 1 4 }
  @media (prefers-color-scheme: dark) {
    .sheet { fill: #16181c } .grid { stroke: #2d3138 } .quiet { fill: #a3a9b3 } .strong { fill: #f0f1f3 }
    .a { --c: #6aa6ff } .b { --c: #f0965a } .c { --c: #a3a9b3 } .d { --c: #cfae7f } .theirs { --s: #16181c }
  }
"""


@dataclass(frozen=True, kw_only=True)
class Point:
    """A number of levels (None: without limit), a value in per cent, and how sure it is."""

    levels: int | None
    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Series:
    """Points of one kind, joined by a line."""

    name: str
    kind: str
    """Its colour: a and b are ours, c and d the paper's."""
    points: Sequence[Point]

    @property
    def theirs(self) -> bool:
        """Whether it is the paper's."""
        return self.kind in "cd"


def completion_plot(found: Diversity) -> str:
    """Levels completed, own and unseen, against levels trained on."""
    ours = [(each.candidate.levels, each.candidate.own, each.candidate.unseen) for each in found.seen]
    own = [_point(levels, f.value, f.low, f.high) for levels, f, _ in ours if f is not None]
    unseen = [_point(levels, f.value, f.low, f.high) for levels, _, f in ours]
    paper_own = [_point(p.levels, sum(p.own) / 2, min(p.own), max(p.own)) for p in PUBLISHED]
    paper_unseen = [_point(p.levels, sum(p.unseen) / 2, min(p.unseen), max(p.unseen)) for p in PUBLISHED]
    paper_unseen.append(_point(None, UNLIMITED_UNSEEN, UNLIMITED_UNSEEN, UNLIMITED_UNSEEN))
    series = (
        Series(name="paper, own", kind="c", points=paper_own),
        Series(name="paper, unseen", kind="d", points=paper_unseen),
        Series(name="ours, own", kind="a", points=own),
        Series(name="ours, unseen", kind="b", points=unseen),
    )
    lowest = min(point.low for each in series for point in each.points)
    return _plot("Levels completed, %", series, low=10 * math.floor(lowest / 10))


def meaning_plot(found: Diversity) -> str:
    """Share of meaningful features against levels trained on."""
    paper = [
        _point(p.levels, p.interpretable_mean, *_around(p.interpretable_mean, p.interpretable_spread))
        for p in PUBLISHED
    ]
    ours = [
        _point(each.candidate.levels, each.meaningful.value, each.meaningful.low, each.meaningful.high)
        for each in found.seen
    ]
    series = (
        Series(name="paper, by people", kind="c", points=paper),
        Series(name="ours, by masks", kind="a", points=ours),
    )
    return _plot("Features that mean something, %", series, low=0)


def _point(levels: int | None, value: float, low: float, high: float) -> Point:
    return Point(levels=levels, value=value, low=low, high=high)


def _around(mean: float, spread: float) -> tuple[float, float]:
    return max(0.0, mean - spread), min(100.0, mean + spread)


@dataclass(frozen=True)
class _Axes:
    """Levels on a scale of decades, without limit after a gap; per cent upwards."""

    low: float
    decades: tuple[int, ...]
    limitless: bool

    def x(self, levels: int | None) -> float:
        last = self.decades[-1] + (1 if self.limitless else 0)
        place = last if levels is None else math.log10(levels)
        return _LEFT + 14 + (place - self.decades[0]) / max(1, last - self.decades[0]) * (WIDTH - _LEFT - _RIGHT - 28)

    def y(self, value: float) -> float:
        return HEIGHT - _BOTTOM - (value - self.low) / (100 - self.low) * (HEIGHT - _TOP - _BOTTOM)


def _plot(title: str, series: Sequence[Series], *, low: float) -> str:
    known = [point.levels for each in series for point in each.points]
    numbers = [levels for levels in known if levels is not None]
    decades = range(math.floor(math.log10(min(numbers))), math.ceil(math.log10(max(numbers))) + 1)
    axes = _Axes(low, tuple(decades), None in known)
    parts = [*_frame(axes, title), *(_drawn(axes, each) for each in series), *_names(axes, series)]
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'font-family="system-ui, sans-serif" font-size="12" role="img" aria-label="{escape(title)}">\n'
        f"<style>{_STYLE}</style>\n"
        f'<rect class="sheet" width="{WIDTH}" height="{HEIGHT}" rx="6"/>\n{body}\n</svg>\n'
    )


def _frame(axes: _Axes, title: str) -> list[str]:
    step = 10 if axes.low >= 40 else 20
    parts = [f'<text class="strong" x="{_LEFT}" y="28" font-size="14" font-weight="600">{escape(title)}</text>']
    for value in range(int(axes.low), 101, step):
        y = axes.y(value)
        parts.append(f'<path class="grid" d="M{_LEFT} {y:.1f}H{WIDTH - _RIGHT}"/>')
        parts.append(f'<text class="quiet" x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value}</text>')
    ticks: list[tuple[int | None, str]] = [(10**decade, f"{10**decade:,}") for decade in axes.decades]
    ticks += [(None, "no limit")] if axes.limitless else []
    for levels, text in ticks:
        x = axes.x(levels)
        parts.append(f'<text class="quiet" x="{x:.1f}" y="{HEIGHT - 28}" text-anchor="middle">{text}</text>')
    middle = (_LEFT + WIDTH - _RIGHT) / 2
    parts.append(f'<text class="quiet" x="{middle}" y="{HEIGHT - 9}" text-anchor="middle">levels trained on</text>')
    return parts


def _drawn(axes: _Axes, series: Series) -> str:
    """Line, intervals and dots; to the agent without limit the line is dotted, for there is no number between."""
    points = sorted(series.points, key=lambda p: math.inf if p.levels is None else p.levels)
    # Both stand beside the number they belong to, so that one's interval does not hide the other's.
    places = [(axes.x(p.levels) + (-3 if series.theirs else 3), axes.y(p.value)) for p in points]
    numbered = [place for place, p in zip(places, points, strict=True) if p.levels is not None]
    parts = [f'<polyline class="line" points="{_path(numbered)}"/>']
    if len(numbered) < len(places):
        parts.append(f'<polyline class="line gap" points="{_path(places[len(numbered) - 1 :])}"/>')
    for p, (x, y) in zip(points, places, strict=True):
        if p.high - p.low > _NARROW:
            parts.append(f'<path class="bar" d="M{x:.1f} {axes.y(p.low):.1f}V{axes.y(p.high):.1f}"/>')
        told = f"{series.name}, {'no limit' if p.levels is None else format(p.levels, ',')}: {p.value:.2f} %"
        parts.append(f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="3.5"><title>{escape(told)}</title></circle>')
    return f'<g class="{series.kind}{" theirs" if series.theirs else ""}">{"".join(parts)}</g>'


def _path(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _names(axes: _Axes, series: Sequence[Series]) -> list[str]:
    """Each line's name at the height of its end, moved where two would meet."""
    ends = []
    for each in series:
        last = max(each.points, key=lambda p: math.inf if p.levels is None else p.levels)
        ends.append((axes.y(last.value), each))
    parts, above = [], -math.inf
    for wanted, each in sorted(ends, key=lambda end: end[0]):
        above = max(wanted, above + 18)
        x = WIDTH - _RIGHT + 10
        dash = ' stroke-dasharray="4 4"' if each.theirs else ""
        parts.append(
            f'<g class="{each.kind}"><path class="line" d="M{x} {above:.1f}h18"{dash}/>'
            f'<text class="name" x="{x + 24}" y="{above + 4:.1f}">{escape(each.name)}</text></g>'
        )
    return parts
