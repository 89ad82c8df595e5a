"""The functions an expression may call."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from innerview.metrics import windows
from innerview.metrics.rows import Kind, Stretch, Value, number, truth

Run = Callable[[Sequence[Value], Stretch], Value]
NUMERIC: tuple[Kind, ...] = ("number", "truth")
ANYTHING: tuple[Kind, ...] = ("number", "truth", "word")
MAX_ROWS = 100_000
"""How far a function may look back."""


@dataclass(frozen=True, kw_only=True)
class Function:
    """Something to call: how it is written, what it gives, and what it takes."""

    name: str
    usage: str
    description: str
    run: Run
    min_arguments: int = 1
    max_arguments: int = 1
    takes: tuple[Kind, ...] = NUMERIC
    over_time: bool = False
    """Whether it looks at other rows of the group."""
    steps_at: int | None = None
    """Which argument is a number of rows, written out."""
    texts: bool = field(default=False)
    """Whether arguments after the first may be texts."""


def spread(value: Value, rows: Stretch) -> np.ndarray:
    """A value per row, as numbers."""
    return np.broadcast_to(value.numbers(), (rows.count,))


def _spread_truth(value: Value, rows: Stretch) -> np.ndarray:
    return np.broadcast_to(value.truths(), (rows.count,))


def _plain(name: str, usage: str, description: str, compute: Callable[..., np.ndarray], arguments: int = 1) -> Function:
    def run(given: Sequence[Value], rows: Stretch) -> Value:
        return number(compute(*(value.numbers() for value in given)))

    return Function(
        name=name, usage=usage, description=description, run=run, min_arguments=arguments, max_arguments=arguments
    )


def _of_many(name: str, description: str, join: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Function:
    def run(given: Sequence[Value], rows: Stretch) -> Value:
        result = given[0].numbers()
        for value in given[1:]:
            result = join(result, value.numbers())
        return number(result)

    return Function(
        name=name, usage=f"{name}(a, b, …)", description=description, run=run, min_arguments=2, max_arguments=8
    )


def _steps(given: Sequence[Value], place: int, otherwise: int) -> int:
    return int(given[place].data) if len(given) > place else otherwise


def _timed(
    name: str,
    usage: str,
    description: str,
    run: Run,
    *,
    min_arguments: int = 1,
    max_arguments: int = 1,
    steps_at: int | None = None,
) -> Function:
    return Function(
        name=name,
        usage=usage,
        description=description,
        run=run,
        min_arguments=min_arguments,
        max_arguments=max_arguments,
        over_time=True,
        steps_at=steps_at,
    )


def _where(given: Sequence[Value], rows: Stretch) -> Value:
    held, then, otherwise = given
    if then.kind == otherwise.kind == "truth":
        return truth(np.where(held.truths(), then.data, otherwise.data))
    return number(np.where(held.truths(), then.numbers(), otherwise.numbers()))


def _known(given: Sequence[Value], rows: Stretch) -> Value:
    (value,) = given
    if value.kind == "word":
        return truth(value.data >= 0)
    return truth(~np.isnan(value.numbers()))


def _any_of(given: Sequence[Value], rows: Stretch) -> Value:
    held: np.ndarray = np.asarray(False)
    for wanted in given[1:]:
        held = held | same(given[0], wanted)
    return truth(held)


def same(left: Value, right: Value) -> np.ndarray:
    """Where two values are equal; an unknown one equals nothing."""
    if left.kind == "text":
        left, right = right, left
    if left.kind == "word" and right.kind == "text":
        text = right.words[0]
        return np.asarray(left.data == (left.words.index(text) if text in left.words else -2))
    if left.kind == "word" and right.kind == "word":
        places = {word: i for i, word in enumerate(right.words)}
        other = np.array([places.get(word, -2) for word in left.words] + [-2], np.int64)
        return np.asarray(other[left.data] == right.data)
    return np.asarray(left.numbers() == right.numbers())


def _previous(sign: int) -> Run:
    def run(given: Sequence[Value], rows: Stretch) -> Value:
        return number(windows.shifted(spread(given[0], rows), rows, sign * _steps(given, 1, 1)))

    return run


def _change(given: Sequence[Value], rows: Stretch) -> Value:
    values = spread(given[0], rows)
    return number(values - windows.shifted(values, rows, _steps(given, 1, 1)))


def _window(compute: Callable[[np.ndarray, Stretch, int], np.ndarray]) -> Run:
    return lambda given, rows: number(compute(spread(given[0], rows), rows, _steps(given, 1, 1)))


def _holding(compute: Callable[[np.ndarray, Stretch], np.ndarray]) -> Run:
    return lambda given, rows: number(compute(_spread_truth(given[0], rows), rows))


def _sum_so_far(given: Sequence[Value], rows: Stretch) -> Value:
    return number(windows.total(spread(given[0], rows), rows)[0])


def _ever(given: Sequence[Value], rows: Stretch) -> Value:
    return truth(~np.isnan(windows.since(_spread_truth(given[0], rows), rows)))


def _rises(given: Sequence[Value], rows: Stretch) -> Value:
    holds = _spread_truth(given[0], rows)
    before = windows.shifted(holds.astype(np.float64), rows, 1)
    return truth(holds & (before == 0))


def wrapped(degrees: np.ndarray) -> np.ndarray:
    """An angle between -180 and 180 degrees."""
    return np.mod(degrees + 180.0, 360.0) - 180.0


def turned(angle_deg: np.ndarray, rows: Stretch, over: int) -> np.ndarray:
    """Degrees turned, left and right alike, between the last so many rows of the group."""
    step = np.abs(wrapped(angle_deg - windows.shifted(angle_deg, rows, 1)))
    sums, counts = windows.total(step, rows, max(1, over - 1))
    return np.where(counts > 0, sums, np.nan)


_ALL = (
    _plain("abs", "abs(x)", "how far from 0", np.abs),
    _of_many("min", "the smallest of several", np.minimum),
    _of_many("max", "the largest of several", np.maximum),
    _plain("sqrt", "sqrt(x)", "square root", np.sqrt),
    _plain("log", "log(x)", "natural logarithm", np.log),
    _plain("exp", "exp(x)", "e to the power of x", np.exp),
    _plain("sin", "sin(degrees)", "sine of an angle in degrees", lambda x: np.sin(np.radians(x))),
    _plain("cos", "cos(degrees)", "cosine of an angle in degrees", lambda x: np.cos(np.radians(x))),
    _plain("hypot", "hypot(x, y)", "length of the arrow x, y", np.hypot, 2),
    _plain("wrap", "wrap(degrees)", "the same angle between -180 and 180", wrapped),
    _plain("floor", "floor(x)", "the whole number below", np.floor),
    _plain("sign", "sign(x)", "-1, 0 or 1", np.sign),
    _plain("clip", "clip(x, low, high)", "x held between two bounds", np.clip, 3),
    Function(
        name="where",
        usage="where(c, a, b)",
        description="a where c holds, else b",
        run=_where,
        min_arguments=3,
        max_arguments=3,
    ),
    Function(name="known", usage="known(x)", description="whether x is known", run=_known, takes=ANYTHING),
    Function(
        name="any_of",
        usage='any_of(x, "a", "b", …)',
        description="whether x is one of these",
        run=_any_of,
        min_arguments=2,
        max_arguments=20,
        takes=ANYTHING,
        texts=True,
    ),
    _timed("previous", "previous(x, n)", "x n rows ago (1 where not said)", _previous(1), max_arguments=2, steps_at=1),
    _timed("next", "next(x, n)", "x n rows later", _previous(-1), max_arguments=2, steps_at=1),
    _timed("change", "change(x, n)", "x minus x n rows ago", _change, max_arguments=2, steps_at=1),
    _timed(
        "mean",
        "mean(x, n)",
        "mean of the last n rows",
        _window(windows.mean),
        min_arguments=2,
        max_arguments=2,
        steps_at=1,
    ),
    _timed(
        "highest",
        "highest(x, n)",
        "largest of the last n rows",
        _window(windows.highest),
        min_arguments=2,
        max_arguments=2,
        steps_at=1,
    ),
    _timed(
        "lowest",
        "lowest(x, n)",
        "smallest of the last n rows",
        _window(lambda values, rows, n: -windows.highest(-values, rows, n)),
        min_arguments=2,
        max_arguments=2,
        steps_at=1,
    ),
    _timed(
        "turned",
        "turned(angle, n)",
        "degrees turned in n rows",
        _window(turned),
        min_arguments=2,
        max_arguments=2,
        steps_at=1,
    ),
    _timed("total", "total(x)", "sum so far", _sum_so_far),
    _timed("first", "first(x)", "x in the first row", lambda given, rows: number(spread(given[0], rows)[rows.starts])),
    _timed("since", "since(c)", "rows since c held last", _holding(windows.since)),
    _timed("until", "until(c)", "rows until c holds next", _holding(windows.until)),
    _timed(
        "count",
        "count(c)",
        "how many rows so far c held",
        _holding(lambda holds, rows: windows.total(holds.astype(np.float64), rows)[0]),
    ),
    _timed("ever", "ever(c)", "whether c held in this row or before", _ever),
    _timed("rises", "rises(c)", "where c holds and did not in the row before", _rises),
)
FUNCTIONS: dict[str, Function] = {function.name: function for function in _ALL}
CONSTANTS = {"pi": math.pi, "True": 1.0, "False": 0.0}
