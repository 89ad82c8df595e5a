"""Finds state that a module takes as an argument and returns, whatever its structure and its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from innerview.errors import SubjectError
from innerview.subjects.isolation import FAILURES
from innerview.subjects.memory.carriers import Slot, layer_slots
from innerview.subjects.memory.convention import Fresh, difference, nothing
from innerview.subjects.memory.forms import same
from innerview.subjects.memory.probe import Probe, layout_problem, remembers, words_of
from innerview.subjects.memory.state import Place
from innerview.subjects.structure import Path, leaves, mapped, nodes, parts, pick
from innerview.subjects.trace import Trace, recurrent_layers, trace

_OTHER_WORDS = frozenset(
    {"mask", "masks", "action", "actions", "done", "dones", "noise", "goal", "task", "deterministic"}
)
"""Arguments that may be left out and are no memory."""
_HEAD_WORDS = frozenset(
    {
        "policy",
        "logits",
        "logit",
        "value",
        "values",
        "q",
        "pi",
        "probs",
        "mean",
        "std",
        "log",
        "prob",
        "entropy",
        "action",
    }
)
_START_METHODS = ("initial_state", "get_initial_state", "init_state", "initial_memory", "init_hidden", "initial_hidden")


@dataclass(frozen=True)
class Handed:
    """State that is handed in as arguments, and the run that showed it."""

    places: tuple[Place, ...]
    fresh: Fresh
    trace: Trace


@dataclass(frozen=True)
class Given:
    """A fresh state that is given as it is, for any number of rows."""

    trees: Mapping[str, Any]
    batch: int

    def __call__(self, batch: int) -> Mapping[str, Any]:
        """With zeros in its tensors."""
        return {name: mapped(tree, lambda _, item: self._zeros(item, batch)) for name, tree in self.trees.items()}

    def _zeros(self, item: Any, batch: int) -> Any:
        if not isinstance(item, Tensor):
            return item
        return item.new_zeros([batch if size == self.batch else size for size in item.shape])


@dataclass(frozen=True)
class StartMethod:
    """The module's own way to make a fresh state for a batch."""

    module: nn.Module
    title: str
    names: tuple[str, ...]
    device: torch.device

    def __call__(self, batch: int) -> Mapping[str, Any]:
        """By name of the argument."""
        made = trace(self.module, lambda: getattr(self.module, self.title)(batch), device=self.device).result
        return {self.names[0]: made} if len(self.names) == 1 else dict(zip(self.names, made, strict=True))


def handed_in(probe: Probe, names: Sequence[str], *, must: bool) -> Handed | None:
    """Arguments that take what the module returned a step before; an error where they must be given and do not."""
    problems: list[str] = []
    ran = False
    for arguments, fresh in _candidates(probe, names, must=must):
        try:
            seen = probe.trace(arguments)
        except FAILURES as error:
            problems.append(str(error).split("\n")[0])
            continue
        if not layout_problem(seen, probe.batch):
            places = places_of(probe, names, arguments, seen)
            if places:
                return Handed(places, fresh, seen)
        ran = True
        problems.append("forward ran, but its output holds no new state of the same shape")
    if not must:
        return None
    given = ", ".join(f"'{name}'" for name in names)
    tried = f" Tried: {'; '.join(dict.fromkeys(problems))}." if problems else ""
    first = "" if ran else "forward failed whatever it was given there: check the shape of the example as well. "
    raise SubjectError(
        f"forward needs the argument {given}, which was not understood. {first}If it is an input, add it to example "
        f"(example={{…, '{names[0]}': tensor}}). If it is memory, return the new state from forward and declare its "
        f"shape for one row: memory={{'{names[0]}': (size,)}}, or a dict or tuple of shapes.{tried}"
    )


def _candidates(probe: Probe, names: Sequence[str], *, must: bool) -> Iterator[tuple[dict[str, Any], Fresh]]:
    """What may be given to these arguments, and what stands there at the first step."""
    for title in _START_METHODS:
        method = StartMethod(probe.module, title, tuple(names), probe.device)
        try:
            made = dict(method(probe.batch)) if callable(getattr(probe.module, title, None)) else {}
        except FAILURES:
            continue
        if parts(made) and all(probe.batch in part.value.shape for part in parts(made)):
            yield made, method
    if not must and len(names) == 1:
        yield {}, nothing
    layers = recurrent_layers(probe.module)
    states = [layer_slots(name, layer) for name, layer in layers.items()]
    for layout in ("own", "rows first", "flat"):
        trees = [_random_state(slots, probe, layout) for slots in states]
        if trees and all(tree is not None for tree in trees):
            for arguments in _assignments(names, trees):
                yield arguments, nothing if not must else Given(arguments, probe.batch)
    if not must and len(names) > 1:
        yield {}, nothing
    if must:
        none = dict.fromkeys(names)
        yield none, Given(none, probe.batch)


def places_of(probe: Probe, names: Sequence[str], given: Mapping[str, Any], seen: Trace) -> tuple[Place, ...]:
    """Where the new state of each argument stands in the output."""
    paths = returned(given, seen)
    if len(names) > 1 and paths is not None:
        return _in_pieces(given, paths)
    found: dict[str, Place] = {}
    for name in names:
        for path in _nodes(probe, name, given.get(name), seen):
            tree = pick(seen.result, path)
            so_far = {n: place.read(seen.result) for n, place in found.items()}
            if _is_taken(probe, {**given, **so_far, name: tree}, path, tree):
                found[name] = Place(name, (path,))
                break
    if len(found) == len(names):
        return tuple(found[name] for name in names)
    if paths is not None:
        return _in_pieces(given, paths)
    return () if given else tuple(found.values())


def _in_pieces(given: Mapping[str, Any], paths: Sequence[Path]) -> tuple[Place, ...]:
    """A place for each argument, whose parts stand one after the other in the output."""
    rest = list(paths)
    pieces = []
    for name, tree in given.items():
        count = len(parts(tree))
        pieces.append(Place(name, tuple(rest[:count]), None if isinstance(tree, Tensor) else tree))
        rest = rest[count:]
    return tuple(pieces)


def _nodes(probe: Probe, name: str, given: Any, seen: Trace) -> list[Path]:
    """Parts of the output that may be the new state of an argument, the likeliest first."""
    states = [state for call in seen.recurrent.values() for state in call.state]
    ranked: list[tuple[int, Path]] = []
    for place, (path, tree) in enumerate(nodes(seen.result)):
        if not path or not _alike(given, tree):
            continue
        words = words_of(".".join(map(str, path)))
        held = [part.value for part in parts(tree)]
        if path[-1] == name:
            rank = 0
        elif isinstance(path[-1], str) and remembers(path[-1]) and words_of(name) & words:
            rank = 1
        elif all(any(same(value, state) for state in states) for value in held) and states:
            rank = 2
        elif remembers(str(path[-1])):
            rank = 3
        elif any(any(same(value, state) for state in states) for value in held):
            rank = 4
        elif words & _HEAD_WORDS or path == (0,):
            continue
        else:
            rank = 5
        ranked.append((rank * 1000 + (-place if rank == 5 else place), path))
    return [path for _, path in sorted(ranked, key=lambda item: item[0])]


def _alike(given: Any, tree: Any) -> bool:
    """Whether a part of the output has the structure of what was given; nothing was given that says it."""
    if given is None:
        return True
    here, there = list(leaves(given)), list(leaves(tree))
    return len(here) == len(there) and all(
        (a.shape == b.shape if isinstance(a, Tensor) and isinstance(b, Tensor) else type(a) is type(b))
        for (_, a), (_, b) in zip(here, there, strict=True)
    )


def _is_taken(probe: Probe, arguments: Mapping[str, Any], path: Path, tree: Any) -> bool:
    """Whether the module takes a part of its output back, and gives one of the same kind again."""
    if not any(probe.batch in part.value.shape for part in parts(tree)):
        return False
    try:
        again = trace(probe.module, lambda: probe.calls[-1](arguments), device=probe.device)
        new = pick(again.result, path)
    except FAILURES:
        return False
    if layout_problem(again, probe.batch):
        return False
    here, there = list(leaves(tree)), list(leaves(new))
    return [p for p, _ in here] == [p for p, _ in there] or (bool(here) and _grows(here, there))


def _grows(here: Sequence[tuple[Path, Any]], there: Sequence[tuple[Path, Any]]) -> bool:
    """Whether a history got another entry."""
    return len(there) > len(here) and {path for path, _ in here} <= {path for path, _ in there}


def refuse_unknown_state(probe: Probe, optional: Sequence[str]) -> None:
    """An error for an argument that may be left out, where handing back a part of the output changes what is said."""
    names = [name for name in optional if not (words_of(name) & _OTHER_WORDS)]
    if not names:
        return
    try:
        seen = probe.trace()
        plain = trace(probe.module, lambda: probe.calls[-1]({}), device=probe.device).result
    except FAILURES:
        return
    for name in names:
        for path in _nodes(probe, name, None, seen):
            tree = pick(seen.result, path)
            if not _is_taken(probe, {name: tree}, path, tree):
                continue
            said = trace(probe.module, lambda n=name, t=tree: probe.calls[-1]({n: t}), device=probe.device).result  # type: ignore[misc]
            if difference(said, plain):
                shapes = mapped(tree, lambda _, v: tuple(v.shape[1:]) if isinstance(v, Tensor) else v)
                raise SubjectError(
                    f"forward takes '{name}' and returns '{'.'.join(map(str, path))}', and given back it changes what "
                    f"the module says: is it a state? Declare it as memory={{'{name}': {shapes}}}, or memory=False "
                    "where nothing is carried."
                )


def returned(arguments: Mapping[str, Any], seen: Trace) -> tuple[Path, ...] | None:
    """Where parts of these shapes stand one after the other in the output."""
    wanted = [part.value.shape for part in parts(dict(arguments))]
    found = parts(seen.result)
    states = [state for call in seen.recurrent.values() for state in call.state]
    fits = []
    for start in range(len(found) - len(wanted) + 1) if wanted else ():
        window = found[start : start + len(wanted)]
        if [part.value.shape for part in window] == wanted:
            known = sum(any(same(part.value, state) for state in states) for part in window)
            named = sum(str(part.path[0]) in arguments for part in window if part.path)
            fits.append((known, named, start))
    if not fits:
        return None
    start = max(fits)[2]
    return tuple(part.path for part in found[start : start + len(wanted)])


def _assignments(names: Sequence[str], trees: list[Any]) -> Iterator[dict[str, Any]]:
    if len(trees) == 1 and len(names) == 1:
        yield {names[0]: trees[0]}
    if len(trees) == 1 and isinstance(trees[0], tuple) and len(names) == len(trees[0]):
        yield dict(zip(names, trees[0], strict=True))
    if len(trees) > 1 and len(names) == 1:
        yield {names[0]: tuple(trees)}
        yield {names[0]: list(trees)}
        if all(isinstance(tree, Tensor) and tree.shape == trees[0].shape for tree in trees):
            yield {names[0]: torch.stack(trees)}
            yield {names[0]: torch.stack(trees, dim=1)}
    if len(trees) > 1 and len(names) == len(trees):
        yield dict(zip(names, trees, strict=True))


def _random_state(slots: tuple[Slot, ...], probe: Probe, layout: str) -> Any:
    """A state that can be told from any other, in one of the layouts people use."""
    generator = torch.Generator().manual_seed(20_260)
    state = []
    for slot in slots:
        shape = slot.site.shape
        if layout == "rows first" and slot.batch_axis == 1:
            shape = (1, *shape) if slot.single_layer else shape
        rows = torch.randn((probe.batch, *shape), generator=generator).mul(0.1).to(probe.device)
        if layout == "flat" and not slot.single_layer:
            return None
        state.append(slot.pack(rows) if layout == "own" else rows)
    return tuple(state) if len(state) > 1 else state[0]
