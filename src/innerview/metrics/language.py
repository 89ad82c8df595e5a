"""Reads an expression over columns: Python's grammar, of which a small part is allowed. Nothing of it is ever run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from innerview.errors import MetricError
from innerview.metrics.functions import CONSTANTS, FUNCTIONS, MAX_ROWS, Function

MAX_CHARACTERS = 2_000
MAX_PARTS = 300
MAX_DEPTH = 40
MAX_POWER = 8
NAMING = ("col", "threshold")
"""Calls that name something: a column whose name is no Python name, and a threshold."""
OPERATORS = "+ - * / // % **"
ALLOWED = (
    'Allowed are numbers, columns by name (col("name with spaces")), threshold("name"), '
    f"{OPERATORS}, comparisons, and / or / not, a if b else c, and the functions {', '.join(FUNCTIONS)}."
)
STATEMENTS = {
    *("import", "from", "def", "class", "for", "while", "with", "return", "del", "global", "async", "await"),
    *("try", "lambda", "yield", "exec"),
}
_BINARY = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
_UNARY = (ast.UAdd, ast.USub, ast.Not)
_COMPARE = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_CALLED = {
    ast.Attribute: "a dot that reaches into something",
    ast.Lambda: "lambda",
    ast.Subscript: "indexing with square brackets",
    ast.ListComp: "a loop in brackets",
    ast.SetComp: "a loop in brackets",
    ast.DictComp: "a loop in brackets",
    ast.GeneratorExp: "a loop in brackets",
    ast.JoinedStr: "a text with values in it",
    ast.NamedExpr: ":=",
    ast.List: "a list",
    ast.Tuple: "a comma between values",
    ast.Dict: "a dictionary",
    ast.Set: "a set",
    ast.Starred: "*",
    ast.Await: "await",
    ast.Yield: "yield",
}


@dataclass(frozen=True)
class Expression:
    """A checked expression."""

    text: str
    tree: ast.expr
    columns: Mapping[str, int]
    """Every column it reads, and the character where it is named first."""
    thresholds: tuple[str, ...]
    over_time: bool
    """Whether it looks at other rows of the group."""

    def place(self, node: ast.expr) -> int:
        """The character where a part begins."""
        return _place(self.text, node)


def parse(text: str) -> Expression:
    """The expression, or an error that says where it goes wrong and what is allowed."""
    if not text.strip():
        raise MetricError("Write an expression, such as health < 20 or change(health).")
    if len(text) > MAX_CHARACTERS:
        raise MetricError(f"An expression has at most {MAX_CHARACTERS} characters, not {len(text)}.", MAX_CHARACTERS)
    tree = _tree(text)
    parts = sum(1 for _ in ast.walk(tree))
    if parts > MAX_PARTS:
        raise MetricError(f"An expression has at most {MAX_PARTS} parts, not {parts}. Split it into several metrics.")
    reader = _Reader(text)
    reader.check(tree, 0)
    return Expression(text, tree, reader.columns, tuple(reader.thresholds), reader.over_time)


def _tree(text: str) -> ast.expr:
    try:
        # Line breaks count as spaces; places are counted in the text as given.
        return ast.parse(_one_line(text).lstrip(), mode="eval").body
    except SyntaxError as error:
        # Where it only notices at the end, Python names no character.
        at = _offset(text, error.offset - 1) if error.offset else len(text.rstrip())
        raise _unreadable(text, at, error.msg) from error
    except (ValueError, MemoryError, RecursionError) as error:
        raise MetricError(f"This cannot be read: {error or 'it is nested too deeply'}.") from error


def _unreadable(text: str, at: int, reason: str) -> MetricError:
    unquoted = re.sub(r"""("[^"]*"|'[^']*')""", lambda quoted: " " * len(quoted[0]), text)
    for word in re.finditer(r"[A-Za-z_]+", unquoted):
        if word[0] in STATEMENTS:
            return MetricError(_refusal(word.start(), f"“{word[0]}”"), word.start())
    spaced = "" if '"' in text or "'" in text else ' A name with spaces is written col("name with spaces").'
    near = text[at : at + 20].strip()
    told = reason.rstrip(".?!")
    place = f"character {at + 1}" + (f", “{near}”" if near else "")
    return MetricError(f"This cannot be read at {place}: {told}.{spaced}", at)


def _one_line(text: str) -> str:
    return re.sub(r"\s", " ", text)


def _offset(text: str, column: int) -> int:
    return max(0, min(len(text), len(text) - len(_one_line(text).lstrip()) + column))


def _place(text: str, node: ast.expr) -> int:
    line = _one_line(text).lstrip()
    return _offset(text, len(line.encode()[: node.col_offset].decode(errors="ignore")))


def _refusal(at: int, what: str) -> str:
    return f"{what} is not allowed here (character {at + 1}). {ALLOWED}"


class _Reader:
    """Walks an expression once and refuses everything that is not on the list."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.columns: dict[str, int] = {}
        self.thresholds: dict[str, int] = {}
        self.over_time = False

    def check(self, node: ast.expr, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise MetricError(f"This is nested more than {MAX_DEPTH} deep. Split it into several metrics.")
        for child in self._children(node):
            self.check(child, depth + 1)

    def _children(self, node: ast.expr) -> Iterator[ast.expr]:
        if isinstance(node, ast.Constant):
            self._constant(node)
        elif isinstance(node, ast.Name):
            self._name(node)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, _BINARY):
            if isinstance(node.op, ast.Pow):
                self._power(node)
            yield from (node.left, node.right)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, _UNARY):
            yield node.operand
        elif isinstance(node, ast.BoolOp):
            yield from node.values
        elif isinstance(node, ast.Compare) and all(isinstance(op, _COMPARE) for op in node.ops):
            yield from (part for part in (node.left, *node.comparators) if not is_text(part))
        elif isinstance(node, ast.IfExp):
            yield from (node.test, node.body, node.orelse)
        elif isinstance(node, ast.Call):
            yield from self._call(node)
        else:
            raise self._refused(node, _described(node))

    def _constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            raise MetricError(
                f"The text {node.value!r:.40} stands alone (character {self._at(node) + 1}). Compare a column of words "
                'with it, as in last_item == "Medikit"; a column with spaces in its name is col("its name").',
                self._at(node),
            )
        if not isinstance(node.value, bool | int | float) or abs(node.value) > 1e300:
            raise self._refused(node, f"The constant {node.value!r:.40}")

    def _name(self, node: ast.Name) -> None:
        if node.id.startswith("__"):
            raise self._refused(node, f"The name {node.id}")
        if node.id not in CONSTANTS:
            self.columns.setdefault(node.id, self._at(node))

    def _power(self, node: ast.BinOp) -> None:
        power = node.right
        if isinstance(power, ast.UnaryOp) and isinstance(power.op, ast.USub):
            power = power.operand
        value = power.value if isinstance(power, ast.Constant) else None
        if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > MAX_POWER:
            raise MetricError(
                f"A power is a number written out, from -{MAX_POWER} to {MAX_POWER} (character "
                f"{self._at(node.right) + 1}). Use exp(x) for others.",
                self._at(node.right),
            )

    def _call(self, node: ast.Call) -> Iterator[ast.expr]:
        if not isinstance(node.func, ast.Name):
            raise self._refused(node.func, _described(node.func))
        name, at = node.func.id, self._at(node)
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            raise MetricError(f"{name} takes its arguments one after another, without names or stars.", at)
        if name in NAMING:
            self._naming(name, node, at)
            return
        if name not in FUNCTIONS:
            near = get_close_matches(name, [*FUNCTIONS, *NAMING], n=1, cutoff=0.5)
            guess = f" Did you mean '{near[0]}'?" if near else ""
            raise MetricError(f"There is no function '{name:.40}' (character {at + 1}).{guess} {ALLOWED}", at)
        yield from self._arguments(FUNCTIONS[name], node, at)

    def _naming(self, name: str, node: ast.Call, at: int) -> None:
        if len(node.args) != 1 or not is_text(node.args[0]):
            raise MetricError(f'{name} takes one name in quotes, as in {name}("health") (character {at + 1}).', at)
        assert isinstance(node.args[0], ast.Constant)
        (self.columns if name == "col" else self.thresholds).setdefault(str(node.args[0].value), at)

    def _arguments(self, function: Function, node: ast.Call, at: int) -> Iterator[ast.expr]:
        given = len(node.args)
        if not function.min_arguments <= given <= function.max_arguments:
            raise MetricError(f"{function.name} is written {function.usage}; here it has {given} arguments.", at)
        self.over_time = self.over_time or function.over_time
        for place, argument in enumerate(node.args):
            if place == function.steps_at:
                self._steps(function, argument)
            elif not (function.texts and place and is_text(argument)):
                yield argument

    def _steps(self, function: Function, node: ast.expr) -> None:
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_ROWS:
            raise MetricError(
                f"The number of rows in {function.usage} is a whole number written out, from 1 to {MAX_ROWS:,} "
                f"(character {self._at(node) + 1}).",
                self._at(node),
            )

    def _at(self, node: ast.expr) -> int:
        return _place(self.text, node)

    def _refused(self, node: ast.expr, what: str) -> MetricError:
        return MetricError(_refusal(self._at(node), what), self._at(node))


def is_text(node: ast.expr) -> bool:
    """Whether it is a text in quotes."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _described(node: ast.expr) -> str:
    for kind, words in _CALLED.items():
        if isinstance(node, kind):
            return words[0].upper() + words[1:]
    operator = getattr(node, "op", None) or (getattr(node, "ops", None) or [None])[0]
    return f"The operator {type(operator).__name__}" if operator is not None else type(node).__name__
