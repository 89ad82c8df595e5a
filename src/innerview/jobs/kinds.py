"""Kinds of jobs: each a frozen dataclass of typed arguments, and the work that they ask for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, dataclass, field, fields, is_dataclass
from importlib import import_module
from math import inf
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from innerview.errors import InnerviewError, RequestError, UnknownName
from innerview.registry import Registry

T = TypeVar("T")
MakeWork = Callable[[Any, Any], Any]
"""Takes arguments and a context, gives a `Work`; what was asked wrongly is refused here."""
_NUMBERS = {int: "a whole number", float: "a number"}


@dataclass(frozen=True, kw_only=True)
class JobKind:
    """What is known of a kind of job before any is started."""

    name: str
    arguments: type
    """The dataclass of its arguments."""
    home: str | MakeWork
    """Makes its work from arguments and a context; as module:name where that is loaded when it is first needed."""
    version: int = 1
    """Part of the id of every stored result: another version never takes the results of this one for its own."""
    unit: str = ""
    """What its progress counts."""
    stored: bool = False
    """Whether the study answers the same question from what it has stored, unless it is wanted again."""

    def load(self) -> MakeWork:
        """What makes its work."""
        if not isinstance(self.home, str):
            return self.home
        module, _, name = self.home.partition(":")
        make: MakeWork = getattr(import_module(module), name)
        return make


KINDS: Registry[JobKind] = Registry("kind of job")


def job_kind(
    name: str, *, work: str | MakeWork, version: int = 1, unit: str = "", stored: bool = False
) -> Callable[[type[T]], type[T]]:
    """Register a frozen dataclass as the arguments of a kind of job.

    `work` makes a `Work` from (arguments, context). Name it as "module:Class" where loading it takes long, such as
    torch: a study is served without it until the first job of that kind.
    """

    def register(arguments: type[T]) -> type[T]:
        if not is_dataclass(arguments):
            raise InnerviewError(f"{arguments.__name__} is not a dataclass: decorate it with @dataclass(frozen=True).")
        KINDS.register(
            name, JobKind(name=name, arguments=arguments, home=work, version=version, unit=unit, stored=stored)
        )
        return arguments

    return register


def kind_of(arguments: Any) -> JobKind:
    """The kind that these are the arguments of."""
    for _, kind in KINDS:
        if kind.arguments is type(arguments):
            return kind
    raise UnknownName("kind of job", type(arguments).__name__, (kind.arguments.__name__ for _, kind in KINDS))


def bounded(default: T, low: float, high: float | None = None) -> T:
    """A field that holds a number from `low` to `high`."""
    made: T = field(default=default, metadata={"low": low, "high": high})
    return made


def described(arguments: type, name: str) -> str:
    """What a field may hold, in words; nothing where it takes more than words can say."""
    chosen: Field[Any] = next(each for each in fields(arguments) if each.name == name)
    kinds = _kinds(get_type_hints(arguments)[name])
    for kind in kinds:
        if get_origin(kind) is Literal:
            return "one of " + ", ".join(map(repr, get_args(kind)))
        if kind in _NUMBERS:
            return _NUMBERS[kind] + _range(chosen)
    return {str: "a text", bool: "true or false"}.get(kinds[0], "")


def check_bounds(arguments: Any) -> None:
    """Raise where a number is outside of its bounds, or a choice is none."""
    hints = get_type_hints(type(arguments))
    for each in fields(arguments):
        value = getattr(arguments, each.name)
        low, high = each.metadata.get("low", -inf), each.metadata.get("high")
        outside = isinstance(value, int | float) and not low <= value <= (inf if high is None else high)
        if outside and each.metadata:
            raise RequestError(f"{each.name} is {described(type(arguments), each.name)}, not {value!r:.40}.")
        choices = next((get_args(kind) for kind in _kinds(hints[each.name]) if get_origin(kind) is Literal), ())
        if choices and value is not None and value not in choices:
            raise UnknownName(f"choice of '{each.name}'", str(value), map(str, choices))


def _kinds(hint: Any) -> tuple[Any, ...]:
    """The types of a union, without None."""
    if get_origin(hint) in (Union, UnionType):
        return tuple(kind for kind in get_args(hint) if kind is not type(None))
    return (hint,)


def _range(chosen: Field[Any]) -> str:
    low, high = chosen.metadata.get("low"), chosen.metadata.get("high")
    if low is None:
        return ""
    return f" from {low:,} on" if high is None else f" from {low:,} to {high:,}"
