"""A training's curve as a picture: score against decisions, with the snapshots marked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

_WIDTH, _HEIGHT = 560, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 546, 14, 190
_INK, _GRID, _LINE = "#6d727b", "#e4e4de", "#1f6feb"


def drawn(points: Sequence[tuple[float, float]], *, marks: Mapping[str, float]) -> str:
    """An SVG of (decisions, score) points; `marks` name decisions at which something was kept."""
    max_x = max((x for x, _ in points), default=1.0) or 1.0
    step_y, step_x = _step(max((y for _, y in points), default=1.0)), _step(max_x / 1e6)
    max_y = step_y * max(math.ceil(max((y for _, y in points), default=1.0) / step_y), 1)

    def across(x: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * x / max_x

    def up(y: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * y / max_y

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'font-family="system-ui, sans-serif" font-size="11" fill="{_INK}">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>',
    ]
    for place in range(round(max_y / step_y) + 1):
        y = up(place * step_y)
        parts.append(f'<path d="M{_LEFT} {y:.1f}H{_RIGHT}" stroke="{_GRID}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{place * step_y:,g}</text>')
    for place in range(int(max_x / 1e6 / step_x) + 1):
        x = across(place * step_x * 1e6)
        parts.append(f'<text x="{x:.1f}" y="{_BOTTOM + 16}" text-anchor="middle">{place * step_x:g} M</text>')
    for name, at in marks.items():
        x = across(min(at, max_x))
        parts.append(f'<path d="M{x:.1f} {_TOP}V{_BOTTOM}" stroke="{_INK}" stroke-dasharray="2 3"/>')
        parts.append(f'<text x="{x + 4:.1f}" y="{_TOP + 10}">{name}</text>')
    line = " ".join(f"{across(x):.1f},{up(max(y, 0.0)):.1f}" for x, y in points)
    parts.append(f'<polyline points="{line}" fill="none" stroke="{_LINE}" stroke-width="1.6"/>')
    return "\n".join([*parts, "</svg>", ""])


def _step(most: float) -> float:
    """A round distance between about five lines."""
    rough = max(most, 1e-9) / 5
    power = math.pow(10, math.floor(math.log10(rough)))
    return next((power * factor for factor in (1, 2, 5) if power * factor >= rough), 10 * power)
