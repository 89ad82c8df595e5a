"""Finds out which part of an output is which head, and reads heads off outputs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import torch
from torch import Tensor, nn

from innerview.errors import SubjectError, UnknownName
from innerview.schema import ActionSpace, Head
from innerview.schema.subject import HeadKind
from innerview.subjects.structure import Part, Path, parts, pick, unreadable
from innerview.subjects.trace import Trace

KINDS: tuple[str, ...] = get_args(HeadKind)
Declared = None | str | Mapping[str, Any]
"""A kind for a single output, or {part or layer: kind or Head}."""

_WORDS: tuple[tuple[str, frozenset[str]], ...] = (
    ("spread", frozenset({"std", "sigma", "scale", "logstd", "stddev", "logvar"})),
    ("gaussian", frozenset({"mean", "mu", "loc"})),
    ("advantage", frozenset({"advantage", "advantages", "adv"})),
    ("q", frozenset({"q", "qs", "qvalue", "qvalues", "qvals", "qf", "dqn"})),
    ("value", frozenset({"value", "values", "v", "critic", "vf", "baseline"})),
    ("policy", frozenset({"policy", "pi", "logits", "logit", "actor", "action", "actions", "probs", "probabilities"})),
    ("pose", frozenset({"pose", "position"})),
    ("answer", frozenset({"answer", "answers"})),
)


@dataclass(frozen=True)
class HeadSource:
    """A head and where its numbers come from."""

    head: Head
    path: Path = ()
    layer: str = ""
    """Read off this layer by a hook, not off the output."""
    parameter: str = ""
    """Not in the output at all but a parameter of the module (a learned spread)."""
    transform: Callable[[Tensor], Tensor] | None = None

    def read(self, result: Any, module: nn.Module, layers: Mapping[str, Tensor], batch: int) -> Tensor:
        """[batch, size]; more rows than `batch` where an activation with more was put into a layer."""
        if self.parameter:
            value = module.get_parameter(self.parameter).reshape(1, -1).expand(batch, -1)
        else:
            value = layers[self.layer] if self.layer else pick(result, self.path)
            value = value.reshape(-1, self.head.size)
        return self.transform(value) if self.transform else value


def find_heads(
    module: nn.Module,
    trace: Trace,
    *,
    batch: int,
    memory: Sequence[Path],
    declared: Declared,
    actions: Sequence[str],
    space: ActionSpace | None = None,
) -> tuple[HeadSource, ...]:
    """The heads of a module, declared or read off names, makers and sizes."""
    taken = set(memory)
    found = [part for part in parts(trace.result) if part.path not in taken and _per_row(part.value, batch)]
    if declared is not None:
        sources = _declared(found, declared, trace, batch)
    else:
        continuous = space is not None and space.kind == "continuous"
        sources = _inferred(found, trace, batch, "gaussian" if continuous else "policy" if space else None)
    sources += _spread_parameter(module, sources)
    return tuple(_named(source, actions) for source in sources)


def _declared(found: list[Part], declared: Declared, trace: Trace, batch: int) -> list[HeadSource]:
    if isinstance(declared, str):
        if len(found) != 1:
            raise SubjectError(
                f"heads='{declared}' fits a module with one output; this one returns {_listed(found, batch)}. "
                "Give a kind for each: heads={'policy': 'policy', 'value': 'value'}."
            )
        # The kind of what forward returns, also where a layer happens to be called the same.
        return [_source(found[0], declared, declared, batch)]
    assert declared is not None
    paths = {part.name: part for part in found}
    if not set(declared) & set(paths) and _fit_in_order(declared, found, trace):
        return [_source(part, name, kind, batch) for part, (name, kind) in zip(found, declared.items(), strict=True)]
    sources = []
    for name, kind in declared.items():
        if name in paths:
            sources.append(_source(paths[name], name, kind, batch))
        elif name in trace.captured:
            value = trace.captured[name][0]
            head = _head(name, kind, value.numel() // batch)
            sources.append(HeadSource(head, layer=name, transform=_transform(head.kind, name, value, batch)))
        else:
            raise UnknownName("part of the output or layer", name, [*paths, *trace.layers], "Heads are read off these.")
    return sources


def _fit_in_order(declared: Mapping[str, Any], found: list[Part], trace: Trace) -> bool:
    """Whether the names can be those of the outputs, in order. A layer of the same name does not count: what the module
    puts out may be masked or scaled after it."""
    sizes = {name: trace.captured[name][0].numel() for name in declared if name in trace.captured}
    if len(declared) != len(found) or len(sizes) not in (0, len(found)):
        return False
    return not sizes or [*sizes.values()] == [part.value.numel() for part in found]


def _inferred(found: list[Part], trace: Trace, batch: int, acts: str | None) -> list[HeadSource]:
    kinds = [_kind(part, trace, batch) for part in found]
    unnamed = [i for i, kind in enumerate(kinds) if kind is None]
    singles = [i for i in unnamed if _size(found[i], batch) == 1]
    if "value" not in kinds and len(singles) == 1 and len(found) > 1:
        kinds[singles[0]] = "value"
    wide = [i for i, kind in enumerate(kinds) if kind is None and _size(found[i], batch) > 1]
    acting = any(kind in ("policy", "q", "gaussian") for kind in kinds)
    if acts == "gaussian":
        kinds = ["gaussian" if kind == "policy" else kind for kind in kinds]
    if ("value" in kinds or acts) and not acting and len(wide) == 1:
        kinds[wide[0]] = acts or "policy"
    if not any(kind not in (None, "spread") for kind in kinds):
        raise SubjectError(_ambiguous(found, trace, batch))
    names: list[str] = []
    for part, kind in zip(found, kinds, strict=True):
        name = part.name if part.named else (kind or f"output {part.name}")
        if part.named and len(part.path) > 1 and part.path[-1] in ("logits", "mean"):
            name = part.path[-2] if isinstance(part.path[-2], str) else str(kind)
        names.append(name if name not in names else f"{name} {part.name}")
    mean = next((n for n, kind in zip(names, kinds, strict=True) if kind == "gaussian"), "")
    return [
        _source(part, f"{mean}.log_std" if kind == "spread" and mean else name, kind or "other", batch)
        for part, name, kind in zip(found, names, kinds, strict=True)
    ]


def _kind(part: Part, trace: Trace, batch: int) -> str | None:
    names = ([part.name] if part.named else []) + [trace.maker(part.value)]
    for name in names:
        for words in reversed(name.lower().split(".")):
            kind = _kind_of_words(words, _size(part, batch))
            if kind:
                return kind
    return None


def _kind_of_words(name: str, size: int) -> str | None:
    words = set(re.split(r"[^a-z]+", name)) | {name.replace("_", "")}
    for kind, known in _WORDS:
        if words & known and not (kind == "value" and size > 1) and not (kind == "q" and size == 1):
            return kind
    return None


def _source(part: Part, name: str, kind: Any, batch: int) -> HeadSource:
    spread = kind == "spread"
    head = _head(name, "other" if spread else kind, _size(part, batch))
    how = _transform("spread" if spread or name.endswith("std") else head.kind, part.name, part.value, batch)
    return HeadSource(head, path=part.path, transform=how)


def _head(name: str, kind: Any, size: int) -> Head:
    if isinstance(kind, Head):
        return kind
    if kind not in KINDS:
        raise UnknownName("kind of head", str(kind), KINDS)
    return Head(name=name, kind=kind, size=size)


def _transform(kind: str, name: str, value: Tensor, batch: int) -> Callable[[Tensor], Tensor] | None:
    if kind == "spread" and "log" not in name:
        return torch.log
    if kind != "policy":
        return None
    rows = value.reshape(batch, -1)
    summed = rows.sum(dim=1)
    if rows.shape[1] > 1 and bool((rows >= 0).all()) and torch.allclose(summed, torch.ones_like(summed), atol=1e-4):
        return _log_probabilities
    return None


def _log_probabilities(value: Tensor) -> Tensor:
    return value.clamp_min(torch.finfo(value.dtype).tiny).log()


def _spread_parameter(module: nn.Module, sources: list[HeadSource]) -> list[HeadSource]:
    means = [source.head for source in sources if source.head.kind == "gaussian"]
    if not means or any(source.head.name.endswith("log_std") for source in sources):
        return []
    for name, parameter in module.named_parameters():
        last = name.split(".")[-1].lower().replace("_", "")
        if last in ("logstd", "logsigma") and parameter.numel() == means[0].size:
            head = Head(name=f"{means[0].name}.log_std", kind="other", size=means[0].size)
            return [HeadSource(head, parameter=name)]
    return []


def _named(source: HeadSource, actions: Sequence[str]) -> HeadSource:
    head = source.head
    if head.names or not actions or head.kind not in ("policy", "q", "advantage", "gaussian"):
        return source
    if len(actions) != head.size:
        raise SubjectError(
            f"{len(actions)} action names were given ({', '.join(actions)}), but head '{head.name}' has {head.size}."
        )
    named = Head(name=head.name, kind=head.kind, size=head.size, names=tuple(actions))
    return HeadSource(named, source.path, source.layer, source.parameter, source.transform)


def _per_row(value: Tensor, batch: int) -> bool:
    return value.ndim > 0 and batch in value.shape[:2] and value.numel() >= batch


def _size(part: Part, batch: int) -> int:
    return part.value.numel() // batch


def _listed(found: Sequence[Part], batch: int) -> str:
    return ", ".join(f"'{part.name}' of {_size(part, batch)}" for part in found) or "nothing per row"


def _ambiguous(found: Sequence[Part], trace: Trace, batch: int) -> str:
    other = unreadable(trace.result)
    if not found:
        what = f"no tensor with a row per input{': ' + ', '.join(other) if other else ''}"
        return (
            f"The output of the module was not understood: it holds {what}. Return logits, values or "
            "distributions from forward, or name layers to read: heads={'actor.2': 'policy', 'critic.2': 'value'}."
        )
    example = ", ".join(f"'{part.name}': '{'value' if _size(part, batch) == 1 else 'policy'}'" for part in found)
    shown = "heads='policy' (or 'q')" if len(found) == 1 else f"heads={{{example}}}"
    return (
        f"Which heads the module has was not understood: its output holds {_listed(found, batch)}, and no name says "
        f"what that is. Declare it: {shown}. Kinds: {', '.join(KINDS)}."
    )
