"""Finds out which part of an output is which head, and reads heads off outputs."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import torch
from torch import Tensor, nn

from innerview.errors import SubjectError, UnknownName
from innerview.schema import ActionSpace, Head
from innerview.schema.subject import HeadKind
from innerview.subjects.sources import (
    HeadSource,
    actions_in,
    are_probabilities,
    equal,
    log_probabilities,
    per_row,
    row_size,
    told_by,
)
from innerview.subjects.structure import Part, Path, parts, unreadable
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


def find_heads(
    module: nn.Module,
    trace: Trace,
    *,
    batch: int,
    memory: Sequence[Path],
    declared: Declared,
    actions: Sequence[str],
    space: ActionSpace | None = None,
    drawn: Collection[Path] = (),
) -> tuple[HeadSource, ...]:
    """The heads of a module, declared or read off names, makers and sizes.

    `drawn`: parts of the output that are drawn at random.
    """
    taken = set(memory)
    every = [part for part in parts(trace.result) if part.path not in taken and per_row(part.value, batch)]
    found = [part for part in every if part.path not in drawn and part.value.is_floating_point()]
    if isinstance(declared, str):
        sources = _single(found, declared, batch)
    elif declared is not None:
        sources = [_choosing(source, trace, batch, drawn) for source in _declared(every, declared, trace, batch)]
    else:
        continuous = space is not None and space.kind == "continuous"
        sources, told = _behind(module, every, trace, batch)
        left = [part for part in found if part.path not in told]
        if not sources:
            _check_drawn(every, drawn, trace, batch)
        acts = "gaussian" if continuous else "policy" if space else None
        sources += _inferred(left, trace, batch, acts) if left or not sources else []
    sources += _spread_parameter(module, sources)
    return tuple(_named(source, actions) for source in sources)


def _behind(
    module: nn.Module, found: Sequence[Part], trace: Trace, batch: int
) -> tuple[list[HeadSource], frozenset[Path]]:
    """A layer that holds the logits, or the mean, of an action that the module returns with its log probability.

    And the parts of the output that follow from it.
    """
    singles = [part for part in found if part.value.is_floating_point() and row_size(part, batch) == 1]
    spreads = [(n, p) for n, p in module.named_parameters() if _is_log_std(n)]
    for layer, (value, _) in reversed(trace.captured.items()):
        if value.ndim != 2 or value.shape[0] != batch:
            continue
        for action in found:
            for head, extra in _deciding(value, action.value, spreads, batch):
                values = {head.name: value, **{e.head.name: module.get_parameter(e.parameter) for e in extra}}
                told = told_by(head.kind, values, head.name, action.value)
                paths = tuple(part.path for part in singles if any(equal(part.value, number) for number in told))
                if paths:
                    source = HeadSource(head, layer=layer, action=action.path, follows=paths)
                    return [source, *extra], frozenset({*paths, action.path})
    return [], frozenset()


def _deciding(
    value: Tensor, action: Tensor, spreads: Sequence[tuple[str, Tensor]], batch: int
) -> Iterator[tuple[Head, list[HeadSource]]]:
    """Heads that a layer may be, for an action that a module returned."""
    size = value.shape[1]
    if not action.is_floating_point() and action.numel() == batch and size > 1:
        if int(action.min()) >= 0 and int(action.max()) < size:
            yield Head(name="policy", kind="policy", size=size), []
    elif action.is_floating_point() and action.shape == value.shape:
        for name, parameter in spreads:
            if parameter.numel() == size:
                spread = Head(name="action.log_std", kind="other", size=size)
                yield Head(name="action", kind="gaussian", size=size), [HeadSource(spread, parameter=name)]


def _is_log_std(name: str) -> bool:
    return name.split(".")[-1].lower().replace("_", "").removeprefix("actor") in ("logstd", "logsigma")


def _single(found: Sequence[Part], declared: str, batch: int) -> list[HeadSource]:
    if len(found) != 1:
        raise SubjectError(
            f"heads='{declared}' fits a module with one output; this one returns {_listed(found, batch)}. "
            "Give a kind for each: heads={'policy': 'policy', 'value': 'value'}."
        )
    # The kind of what forward returns, also where a layer happens to be called the same.
    return [_source(found[0], declared, declared, batch)]


def _declared(found: list[Part], declared: Mapping[str, Any], trace: Trace, batch: int) -> list[HeadSource]:
    paths = {part.name: part for part in found}
    if not set(declared) & set(paths):
        made = {trace.maker(part.value): part for part in found}
        if set(declared) <= set(made):
            return [_source(made[name], name, kind, batch) for name, kind in declared.items()]
        floats = [part for part in found if part.value.is_floating_point()]
        if _fit_in_order(declared, floats, trace):
            _check_order(declared, floats, batch)
            pairs = zip(floats, declared.items(), strict=True)
            return [_source(part, name, kind, batch) for part, (name, kind) in pairs]
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


def _choosing(source: HeadSource, trace: Trace, batch: int, drawn: Collection[Path]) -> HeadSource:
    """A layer that decides, with the action that the module returns for it."""
    if not source.layer or source.head.kind not in ("policy", "q", "advantage"):
        return source
    for path, _ in actions_in(trace.result, batch):
        if path not in drawn:
            return replace(source, action=path)
        chances = (p for p in parts(trace.result) if p.path in drawn and p.value.is_floating_point())
        follows = tuple(part.path for part in chances if part.value.numel() == batch)
        if follows:
            return replace(source, action=path, follows=follows)
    return source


def _check_drawn(every: Sequence[Part], drawn: Collection[Path], trace: Trace, batch: int) -> None:
    """An error where what would be a head is drawn at random, or an action is all that is returned of a policy."""
    for part in every:
        if part.path not in drawn:
            continue
        name = part.name if part.named else trace.maker(part.value)
        kind = _kind(part, trace, batch)
        if not part.value.is_floating_point():
            raise SubjectError(
                f"The module returns an action that is drawn at random ('{part.name}'), and no layer puts out the "
                "logits it is drawn from: they are masked or scaled before. Return the logits beside it."
            )
        alone = len([other for other in every if other.value.is_floating_point()]) == 1
        if alone or (kind in ("policy", "q", "value", "advantage") and "action" not in name and "log_p" not in name):
            raise SubjectError(
                f"'{part.name}' is drawn at random: the same inputs give another one at each call, in eval mode too. "
                "Return what it is drawn from (logits, a mean), and no dropout or noise in eval mode; a latent state "
                "that is sampled must be its mean there."
            )


def _check_order(declared: Mapping[str, Any], found: Sequence[Part], batch: int) -> None:
    """An error where a name in this place cannot be: several numbers that are the value, one that decides."""
    for (name, said), part in zip(declared.items(), found, strict=True):
        size, kind = row_size(part, batch), said.kind if isinstance(said, Head) else said
        if (kind == "value" and size > 1) or (kind in ("policy", "q", "advantage") and size == 1):
            raise SubjectError(
                f"heads names the outputs in their order, and '{name}' ({kind}) would be '{part.name}', which has "
                f"{size} number{'s' if size > 1 else ''} a row. The module returns {_listed(found, batch)}: name them "
                "in that order."
            )


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
    singles = [i for i in unnamed if row_size(found[i], batch) == 1]
    if "value" not in kinds and len(singles) == 1 and len(found) > 1:
        kinds[singles[0]] = "value"
    wide = [i for i, kind in enumerate(kinds) if kind is None and row_size(found[i], batch) > 1]
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
            kind = _kind_of_words(words, row_size(part, batch))
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
    head = _head(name, "other" if spread else kind, row_size(part, batch))
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
    return log_probabilities if are_probabilities(value.reshape(batch, -1)) else None


def _spread_parameter(module: nn.Module, sources: list[HeadSource]) -> list[HeadSource]:
    means = [source.head for source in sources if source.head.kind == "gaussian"]
    if not means or any(source.head.name.endswith("log_std") for source in sources):
        return []
    for name, parameter in module.named_parameters():
        if _is_log_std(name) and parameter.numel() == means[0].size:
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
    return replace(source, head=named)


def _listed(found: Sequence[Part], batch: int) -> str:
    return ", ".join(f"'{part.name}' of {row_size(part, batch)}" for part in found) or "nothing per row"


def _ambiguous(found: Sequence[Part], trace: Trace, batch: int) -> str:
    other = unreadable(trace.result)
    if not found:
        what = f"no tensor with a row per input{': ' + ', '.join(other) if other else ''}"
        return (
            f"The output of the module was not understood: it holds {what}. Return logits, values or "
            "distributions from forward, or name layers to read: heads={'actor.2': 'policy', 'critic.2': 'value'}."
        )
    example = ", ".join(f"'{part.name}': '{'value' if row_size(part, batch) == 1 else 'policy'}'" for part in found)
    shown = "heads='policy' (or 'q')" if len(found) == 1 else f"heads={{{example}}}"
    return (
        f"Which heads the module has was not understood: its output holds {_listed(found, batch)}, and no name says "
        f"what that is. Declare it: {shown}. Kinds: {', '.join(KINDS)}."
    )
