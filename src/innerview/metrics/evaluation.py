"""Computes a checked expression over rows, part by part."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from innerview.errors import MetricError
from innerview.metrics.functions import CONSTANTS, FUNCTIONS, NUMERIC, same
from innerview.metrics.language import Expression, is_text
from innerview.metrics.rows import NAMES, Stretch, Value, number, truth

Read = Callable[[str], Value]
"""A column by name, over the rows that are looked at."""
_ARITHMETIC: Mapping[type[ast.operator], Callable[..., np.ndarray]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.FloorDiv: np.floor_divide,
    ast.Mod: np.mod,
    ast.Pow: np.power,
}
_COMPARISON: Mapping[type[ast.cmpop], Callable[..., np.ndarray]] = {
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
}


def evaluate(expression: Expression, *, read: Read, rows: Stretch, thresholds: Mapping[str, float]) -> Value:
    """A number, or yes or no, for every row."""
    with np.errstate(all="ignore"):
        found = _Evaluation(expression, read, rows, thresholds).value(expression.tree)
    if found.kind not in NUMERIC:
        raise MetricError(
            f"A metric is a number, or yes or no; this gives {NAMES[found.kind]}. Compare it, as in "
            f'{expression.text.strip():.40} == "…".'
        )
    return Value(found.kind, np.broadcast_to(found.data, (rows.count,)))


class _Evaluation:
    def __init__(self, expression: Expression, read: Read, rows: Stretch, thresholds: Mapping[str, float]) -> None:
        self._expression, self._read, self._rows, self._thresholds = expression, read, rows, thresholds

    def value(self, node: ast.expr) -> Value:
        # What may stand here was checked when the expression was read.
        match node:
            case ast.Constant(value=str(text)):
                return Value("text", np.asarray(0), (text,))
            case ast.Constant(value=bool(held)):
                return truth(held)
            case ast.Constant(value=int(amount) | float(amount)):
                return number(float(amount))
            case ast.Name(id=name):
                return number(CONSTANTS[name]) if name in CONSTANTS else self._read(name)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self._call(name, arguments)
            case ast.BinOp(left=left, op=operator, right=right):
                return number(_ARITHMETIC[type(operator)](self._numbers(left), self._numbers(right)))
            case ast.UnaryOp(op=operator, operand=operand):
                return self._unary(operator, operand)
            case ast.BoolOp(op=operator, values=parts):
                join = np.logical_and if isinstance(operator, ast.And) else np.logical_or
                every = [self._truths(part) for part in parts]
                return truth(join.reduce(np.broadcast_arrays(*every)))
            case ast.Compare(left=left, ops=operators, comparators=others):
                return self._compare(left, operators, others)
            case ast.IfExp(test=test, body=body, orelse=otherwise):
                return self._call("where", [test, body, otherwise])
        raise MetricError(f"{type(node).__name__} is not allowed.", self._expression.place(node))

    def _call(self, name: str, arguments: list[ast.expr]) -> Value:
        if name in ("col", "threshold"):
            (given,) = arguments
            assert isinstance(given, ast.Constant)
            named = str(given.value)
            return self._read(named) if name == "col" else number(self._thresholds[named])
        function = FUNCTIONS[name]
        values = [self.value(argument) for argument in arguments]
        for argument, value in zip(arguments, values, strict=True):
            if value.kind not in function.takes and not (function.texts and value.kind == "text"):
                raise self._wrong_kind(argument, value, f"{function.usage} takes numbers")
        if function.texts:
            for argument, value in zip(arguments[1:], values[1:], strict=True):
                self._check_comparable(argument, values[0], value)
        return function.run(values, self._rows)

    def _unary(self, operator: ast.unaryop, operand: ast.expr) -> Value:
        if isinstance(operator, ast.Not):
            return truth(~self._truths(operand))
        values = self._numbers(operand)
        return number(-values if isinstance(operator, ast.USub) else values)

    def _compare(self, left: ast.expr, operators: list[ast.cmpop], others: list[ast.expr]) -> Value:
        held: np.ndarray = np.asarray(True)
        here, place = self.value(left), left
        for operator, other in zip(operators, others, strict=True):
            there = self.value(other)
            if isinstance(operator, ast.Eq | ast.NotEq):
                self._check_comparable(other if is_text(other) else place, here, there)
                equal = same(here, there)
                held = held & (equal if isinstance(operator, ast.Eq) else ~equal)
            else:
                for node, value in ((place, here), (other, there)):
                    if value.kind not in NUMERIC:
                        raise self._wrong_kind(node, value, "<, <=, > and >= compare numbers")
                held = held & _COMPARISON[type(operator)](here.numbers(), there.numbers())
            here, place = there, other
        return truth(held)

    def _check_comparable(self, node: ast.expr, left: Value, right: Value) -> None:
        words = [value.kind in ("word", "text") for value in (left, right)]
        if words[0] != words[1] or left.kind == right.kind == "text":
            raise MetricError(
                f"{NAMES[left.kind].capitalize()} and {NAMES[right.kind]} cannot be equal "
                f"(character {self._expression.place(node) + 1}).",
                self._expression.place(node),
            )

    def _numbers(self, node: ast.expr) -> np.ndarray:
        value = self.value(node)
        if value.kind not in NUMERIC:
            raise self._wrong_kind(node, value, "Only numbers can be computed with")
        return value.numbers()

    def _truths(self, node: ast.expr) -> np.ndarray:
        value = self.value(node)
        if value.kind not in NUMERIC:
            raise self._wrong_kind(node, value, "and, or and not join what holds or does not")
        return value.truths()

    def _wrong_kind(self, node: ast.expr, value: Value, rule: str) -> MetricError:
        at = self._expression.place(node)
        told: Any = ast.unparse(node)
        return MetricError(f"{rule}; {told:.40} gives {NAMES[value.kind]} (character {at + 1}).", at)
