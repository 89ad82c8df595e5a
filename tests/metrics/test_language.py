"""Expressions give what Python would say, per episode, and nothing gets in that does not belong there."""

from __future__ import annotations

import numpy as np
import pytest

from innerview.errors import MetricError
from innerview.metrics import FUNCTIONS, Stretch, Value, evaluate, parse
from innerview.metrics.language import MAX_CHARACTERS, MAX_DEPTH, MAX_PARTS

UNKNOWN = np.nan
ROWS = Stretch.of(np.array([0, 4]), 0, 8)
"""Two episodes of four rows."""
COLUMNS = {
    "health": Value("number", np.array([9.0, 8, 7, 6, 5, UNKNOWN, 3, 2])),
    "hit": Value("truth", np.array([0, 1, 0, 1, 0, 0, 1, 0], bool)),
    "action": Value("word", np.array([0, 1, 1, 0, 0, 1, -1, 0]), ("left", "right")),
    "last item": Value("word", np.array([0, 0, 1, 1, 0, 0, 0, 0]), ("armour", "sphere")),
}


def value(text: str) -> list[float]:
    found = evaluate(parse(text), read=COLUMNS.__getitem__, rows=ROWS, thresholds={"reach": 7.0})
    return found.data.astype(float).tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("health + 1", [10, 9, 8, 7, 6, UNKNOWN, 4, 3]),
        ("-health ** 2 / 2", [-40.5, -32, -24.5, -18, -12.5, UNKNOWN, -4.5, -2]),
        ("7 // 2 + 7 % 4", [6] * 8),
        ("3 < health <= 7", [0, 0, 1, 1, 1, 0, 0, 0]),
        ("not health > 6", [0, 0, 0, 1, 1, 1, 1, 1]),
        ("hit and health < 8 or health == 9", [1, 0, 0, 1, 0, 0, 1, 0]),
        ("1 if hit else -1", [-1, 1, -1, 1, -1, -1, 1, -1]),
        ("min(health, 4) + max(1, 2, 3)", [7, 7, 7, 7, 7, UNKNOWN, 6, 5]),
        ('action == "left"', [1, 0, 0, 1, 1, 0, 0, 1]),
        ('action != "left"', [0, 1, 1, 0, 0, 1, 1, 0]),
        ('action == "jump"', [0] * 8),
        ('any_of(action, "left", "right")', [1, 1, 1, 1, 1, 1, 0, 1]),
        ("any_of(health, 9, 2)", [1, 0, 0, 0, 0, 0, 0, 1]),
        ('col("last item") == "sphere"', [0, 0, 1, 1, 0, 0, 0, 0]),
        ("known(health)", [1, 1, 1, 1, 1, 0, 1, 1]),
        ('health > threshold("reach")', [1, 1, 0, 0, 0, 0, 0, 0]),
        ("wrap(190) + hypot(3, 4)", [-165] * 8),
        ("where(hit, health, 0)", [0, 8, 0, 6, 0, 0, 3, 0]),
        ("health\n  + 1", [10, 9, 8, 7, 6, UNKNOWN, 4, 3]),
        ("True", [1] * 8),
        ("1 / 0", [np.inf] * 8),
    ],
)
def test_values_row_by_row(text: str, expected: list[float]) -> None:
    np.testing.assert_array_equal(value(text), expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("previous(health)", [UNKNOWN, 9, 8, 7, UNKNOWN, 5, UNKNOWN, 3]),
        ("previous(health, 3)", [UNKNOWN, UNKNOWN, UNKNOWN, 9, UNKNOWN, UNKNOWN, UNKNOWN, 5]),
        ("next(health)", [8, 7, 6, UNKNOWN, UNKNOWN, 3, 2, UNKNOWN]),
        ("change(health)", [UNKNOWN, -1, -1, -1, UNKNOWN, UNKNOWN, UNKNOWN, -1]),
        ("mean(health, 2)", [9, 8.5, 7.5, 6.5, 5, 5, 3, 2.5]),
        ("highest(health, 3)", [9, 9, 9, 8, 5, 5, 5, 3]),
        ("lowest(health, 100000)", [9, 8, 7, 6, 5, 5, 3, 2]),
        ("total(health)", [9, 17, 24, 30, 5, 5, 8, 10]),
        ("first(health)", [9, 9, 9, 9, 5, 5, 5, 5]),
        ("since(hit)", [UNKNOWN, 0, 1, 0, UNKNOWN, UNKNOWN, 0, 1]),
        ("until(hit)", [1, 0, 1, 0, 2, 1, 0, UNKNOWN]),
        ("count(hit)", [0, 1, 1, 2, 0, 0, 1, 1]),
        ("ever(hit)", [0, 1, 1, 1, 0, 0, 1, 1]),
        ("rises(not hit)", [0, 0, 1, 0, 0, 0, 0, 1]),
        ("turned(90 * health, 3)", [UNKNOWN, 90, 180, 180, UNKNOWN, UNKNOWN, UNKNOWN, 90]),
        ("previous(3)", [UNKNOWN, 3, 3, 3, UNKNOWN, 3, 3, 3]),
    ],
)
def test_no_function_looks_over_the_border_of_an_episode(text: str, expected: list[float]) -> None:
    np.testing.assert_array_equal(value(text), expected)
    assert parse(text).over_time


def test_the_largest_of_the_last_rows_is_what_a_loop_finds() -> None:
    random = np.random.default_rng(0)
    rows = Stretch.of(np.array([0, 13, 60, 61]), 0, 200)
    values = random.standard_normal(200)
    for last in (1, 2, 3, 7, 64, 150):
        found = evaluate(parse(f"highest(x, {last})"), read=lambda _: Value("number", values), rows=rows, thresholds={})
        slow = [values[max(rows.starts[i], i - last + 1) : i + 1].max() for i in range(200)]
        np.testing.assert_array_equal(found.data, slow)


def test_an_expression_reports_which_columns_it_reads() -> None:
    found = parse('health + col("last item") + health')
    assert dict(found.columns) == {"health": 0, "last item": 9}
    assert not found.over_time


@pytest.mark.parametrize(
    ("text", "at", "words"),
    [
        ("import os", 0, "“import” is not allowed"),
        ("__import__('os').system('ls')", 0, "dot that reaches into"),
        ("__import__('os')", 0, "no function '__import__'"),
        ("health + __builtins__", 9, "__builtins__"),
        ("health.__class__", 0, "dot that reaches into"),
        ("(lambda: 1)()", 1, "Lambda is not allowed"),
        ("health and lambda: 3", 11, "“lambda” is not allowed"),
        ("health; import os", 8, "“import” is not allowed"),
        ("[h for h in health]", 0, "loop in brackets"),
        ("health[0]", 0, "square brackets"),
        ("f'{health}'", 0, "text with values"),
        ("(x := 3)", 1, ":= is not allowed"),
        ("health, hit", 0, "comma"),
        ("9 ** 9 ** 9", 5, "from -8 to 8"),
        ("health ** hit", 10, "from -8 to 8"),
        ("'a' * 1000000", 0, "stands alone"),
        ("1j", 0, "constant 1j"),
        ("1e999", 0, "constant inf"),
        ("health @ health", 0, "MatMult"),
        ("health in hit", 0, "operator In"),
        ("health is None", 0, "operator Is"),
        ("abs(*health)", 0, "without names or stars"),
        ("abs(x=1)", 0, "without names or stars"),
        ("preevious(health)", 0, "Did you mean 'previous'?"),
        ("mean(health)", 0, "written mean(x, n)"),
        ("mean(health, hit)", 13, "whole number written out"),
        ("previous(health, 0)", 17, "from 1 to 100,000"),
        ("col(health)", 0, "one name in quotes"),
        ("last item", 5, 'col("name with spaces")'),
        ("health >", 8, "cannot be read at character 9"),
        ("  health >", 10, "cannot be read at character 11"),
        ("(health", 0, "never closed"),
        ("health)+(1", 6, "unmatched"),
        ("", 0, "Write an expression"),
        ("ä + health.x", 4, "dot that reaches into"),
    ],
)
def test_what_is_not_allowed_is_refused_with_its_place(text: str, at: int, words: str) -> None:
    with pytest.raises(MetricError) as refused:
        parse(text)
    assert words in str(refused.value)
    assert refused.value.at == at


def test_a_refusal_lists_what_is_allowed() -> None:
    with pytest.raises(MetricError) as refused:
        parse("open('/etc/passwd')")
    assert all(name in str(refused.value) for name in FUNCTIONS)


@pytest.mark.parametrize(
    ("text", "at", "words"),
    [
        ("action + 1", 0, "action gives words"),
        ("1 + action", 4, "action gives words"),
        ("action < 3", 0, "compare numbers"),
        ('health == "left"', 10, "cannot be equal"),
        ("action", 0, "this gives words"),
        ("abs(action)", 4, "takes numbers"),
        ("not action", 4, "gives words"),
        ('"a" == "b"', 7, "cannot be equal"),
    ],
)
def test_words_are_not_computed_with(text: str, at: int, words: str) -> None:
    with pytest.raises(MetricError) as refused:
        value(text)
    assert words in str(refused.value)
    assert refused.value.at == at


@pytest.mark.parametrize(
    "text",
    [
        "1" + "+1" * MAX_PARTS,
        "-" * 1_900 + "1",
        "(" * 90 + "1" + ")" * 90 + "+1" * MAX_PARTS,
        "abs(" * (MAX_DEPTH + 2) + "1" + ")" * (MAX_DEPTH + 2),
        "(" * 900 + "1" + ")" * 900,
        "1 " * MAX_CHARACTERS,
        "\0",
    ],
)
def test_what_is_too_large_or_deep_is_refused(text: str) -> None:
    with pytest.raises(MetricError):
        parse(text)
