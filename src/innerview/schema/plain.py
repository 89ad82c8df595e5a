"""Dataclasses to plain JSON values and back."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from innerview.errors import StoreError

D = TypeVar("D")
_SCALARS: dict[Any, str] = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


def to_json(value: Any) -> Any:
    """Plain dicts, lists and scalars that `json` can write."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_json(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(k): to_json(v) for k, v in value.items()}
    if isinstance(value, tuple | list | set | frozenset):
        return [to_json(v) for v in value]
    if hasattr(value, "item") and not isinstance(value, str | bytes):
        return value.item()
    return value


def from_json(kind: type[D], value: Any) -> D:
    """The dataclass that `to_json` wrote; a field it does not know is an error, not a guess."""
    result = _build(kind, value, kind.__name__)
    return result  # type: ignore[no-any-return]


def _build(kind: Any, value: Any, where: str) -> Any:
    if kind is Any:
        return value
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _build_dataclass(kind, value, where)
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _build_union(args, value, where)
    if origin is Literal:
        if value not in args:
            raise StoreError(f"{where} is {value!r:.60}; known: {', '.join(map(repr, args))}.")
        return value
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise StoreError(f"{where} should be a list, not {value!r:.60}.")
        kinds = [args[0]] * len(value) if args[1:] == (Ellipsis,) else list(args)
        if len(kinds) != len(value):
            raise StoreError(f"{where} should have {len(kinds)} parts, not {value!r:.60}.")
        return tuple(_build(k, v, where) for k, v in zip(kinds, value, strict=True))
    if origin is Mapping:
        if not isinstance(value, Mapping):
            raise StoreError(f"{where} should be an object, not {value!r:.60}.")
        return {key: _build(args[1], each, where) for key, each in value.items()}
    return _build_scalar(kind, value, where)


def _build_union(args: tuple[Any, ...], value: Any, where: str) -> Any:
    inner = [a for a in args if a is not type(None)]
    if value is None and len(inner) < len(args):
        return None
    if len(inner) > 1 and not any(dataclasses.is_dataclass(a) for a in inner):
        if type(value) in inner:
            return value
        raise StoreError(f"{where} should be {' or '.join(_named(a) for a in inner)}, not {value!r:.60}.")
    return _build(inner[0] if len(inner) == 1 else _tagged(inner, value, where), value, where)


def _build_scalar(kind: Any, value: Any, where: str) -> Any:
    """Text, whole numbers, numbers and yes or no are what they are declared; a whole number is a number too."""
    fits = kind not in _SCALARS or type(value) in ((int, float) if kind is float else (kind,))
    if not fits:
        raise StoreError(f"{where} should be {_named(kind)}, not {value!r:.60}.")
    return value


def _named(kind: Any) -> str:
    return _SCALARS.get(kind, str(kind))


def _tagged(kinds: list[Any], value: Any, where: str) -> Any:
    """The one of several dataclasses that a value says it is by its `kind`."""
    by_tag = {kind.__dataclass_fields__["kind"].default: kind for kind in kinds if dataclasses.is_dataclass(kind)}
    tag = value.get("kind") if isinstance(value, Mapping) else None
    if not isinstance(tag, str) or tag not in by_tag:
        raise StoreError(f"{where} has kind {tag!r:.40}; known: {', '.join(map(repr, by_tag))}.")
    return by_tag[tag]


def _build_dataclass(kind: type, value: Any, where: str) -> Any:
    if not isinstance(value, Mapping):
        raise StoreError(f"{where} should be an object, not {value!r:.60}.")
    hints = _hints(kind)
    fields = {f.name: f for f in dataclasses.fields(kind)}
    unknown = sorted(set(value) - set(fields))
    if unknown:
        raise StoreError(f"{where} has fields this version does not know: {', '.join(map(str, unknown))[:200]}.")
    missing = [
        n
        for n, f in fields.items()
        if n not in value and f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
    ]
    if missing:
        raise StoreError(f"{where} lacks {', '.join(missing)}.")
    return kind(**{n: _build(hints[n], v, f"{where}.{n}") for n, v in value.items()})


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
