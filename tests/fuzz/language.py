"""Expressions of the metric language: made by its grammar, then damaged."""

from __future__ import annotations

from random import Random

from innerview.metrics.functions import CONSTANTS, FUNCTIONS
from tests.fuzz.mutations import text_mutated

OPERATORS = ("+", "-", "*", "/", "//", "%", "**", "<", "<=", "==", "!=", ">=", ">", "and", "or", "if")
ALPHABET = "abcdefxyz_0123456789.eEjJ+-*/%<>=!()[]{},:;'\"#\\@&|^~ \n\t\0é∩½\u202e\ud7ff\U0001f600"
TEXTS = ('"plain"', '"left"', "''", '"a\\u0000"', "'" + "x" * 90 + "'")
STATEMENTS = (
    "import os",
    "lambda: 1",
    "x := 1",
    "[i for i in x]",
    "().__class__",
    "f'{x}'",
    "9**9**9",
    "1e999",
    "0x" + "f" * 300,
)


def expression(random: Random, columns: list[str]) -> str:
    """One expression, right or wrong."""
    if random.random() < 0.03:
        return random.choice(STATEMENTS)
    text = _made(random, columns, random.choice((1, 2, 3, 4, 8)))
    if random.random() < 0.5:
        text = text_mutated(random, text, ALPHABET)
    if random.random() < 0.03:
        text = random.choice(("(" * 900 + text + ")" * 900, "-" * 1500 + text, "not " * 400 + text, text * 50))
    return text


def _made(random: Random, columns: list[str], depth: int) -> str:
    if depth == 0 or random.random() < 0.15:
        return _leaf(random, columns)
    turn = random.random()
    if turn < 0.45:
        operator = random.choice(OPERATORS)
        left, right = (_made(random, columns, depth - 1) for _ in range(2))
        if operator == "if":
            return f"({left} if {right} else {_leaf(random, columns)})"
        return f"({left} {operator} {random.choice((right, str(random.randint(-9, 9))))})"
    if turn < 0.9:
        function = random.choice(list(FUNCTIONS.values()))
        count = random.randint(function.min_arguments, max(function.min_arguments, min(3, function.max_arguments)))
        given = [_made(random, columns, depth - 1) for _ in range(count)]
        if function.steps_at is not None and function.steps_at < len(given) and random.random() < 0.8:
            given[function.steps_at] = str(random.choice((1, 2, 5, 100, 10**6, 10**9, 0, -1)))
        return f"{function.name}({', '.join(given)})"
    return f"{random.choice(('-', 'not ', '+'))}{_made(random, columns, depth - 1)}"


def _leaf(random: Random, columns: list[str]) -> str:
    turn = random.random()
    if turn < 0.6:
        column = random.choice(columns)
        return column if column.isidentifier() else f'col("{column}")'
    if turn < 0.9:
        return random.choice((*map(str, (0, 1, -1, 0.5, 1e300, 1e-300, 10**40, 255)), *CONSTANTS))
    return random.choice((*TEXTS, 'threshold("view distance")', 'col("nothing")', "True", "None"))
