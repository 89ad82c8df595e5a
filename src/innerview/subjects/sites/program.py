"""Makes edits in many rows at once, each row with its own edits and at its own step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from innerview.errors import EditError
from innerview.schema import Edit, InputEdit, InputSpec, Site, SiteEdit, SubjectInfo
from innerview.subjects.sites.change import Change, Changes
from innerview.subjects.sites.operations import changed_input, changed_whole
from innerview.subjects.sites.validation import checked, described

_NEVER = 1 << 60
_SET, _FREEZE, _SCALE = 1, 2, 3
_KINDS = {"zero": _SET, "set": _SET, "freeze": _FREEZE, "scale": _SCALE}


@dataclass(frozen=True)
class Level:
    """One edit of each program at one site, element by element: all [programs, elements]."""

    kind: Tensor
    """0 nothing, 1 set (zero is set to 0), 2 freeze, 3 scale."""
    value: Tensor
    start: Tensor
    stop: Tensor
    freezes: bool
    scales: bool
    whole: tuple[tuple[int, SiteEdit], ...] = ()
    """Edits that look at more than one element at a time, by program."""

    def rows(self, programs: Tensor) -> Level:
        """The same for rows, each with its program."""
        kind, value = self.kind[programs], self.value[programs]
        return Level(kind, value, self.start[programs], self.stop[programs], self.freezes, self.scales)


def made(state: Tensor, before: Tensor, frozen: Tensor, *, level: Level, steps: Tensor) -> tuple[Tensor, Tensor]:
    """The state [rows, elements, …] with one level of edits made, and what frozen elements are held at."""
    step, apart = steps[:, None], (..., *[None] * (state.ndim - 2))
    holds = (step >= level.start) & (step < level.stop)
    new = torch.where((holds & (level.kind == _SET))[apart], level.value.to(state)[apart], state)
    if level.scales:
        new = torch.where((holds & (level.kind == _SCALE))[apart], state * level.value.to(state)[apart], new)
    if not level.freezes:
        return new, frozen
    # Taken when the edit begins to hold; a replay that begins later takes what its rows were given.
    freezes = (level.kind == _FREEZE) & holds
    unknown = torch.isnan(frozen) | (step == level.start)[apart]
    frozen = torch.where(freezes[apart] & unknown, before, frozen)
    return torch.where(freezes[apart], frozen, new), frozen


class Editor:
    """Edits compiled for a subject. A program is the edits of one set; none is an empty one.

    Between steps it holds nothing but the values at which elements are frozen, one set for each row.
    """

    def __init__(
        self, programs: Sequence[Sequence[Edit]], info: SubjectInfo, *, device: torch.device | str = "cpu"
    ) -> None:
        self.programs = tuple(checked(edits, info) for edits in programs)
        self._device = torch.device(device)
        sites = {site.address: site for site in info.sites}
        names = {site.address: site.name for site in info.memory}
        used = dict.fromkeys(e.site for edits in self.programs for e in edits if isinstance(e, SiteEdit))
        self._sites = {address: sites[address] for address in used}
        self._memory = {address: names[address] for address in used if address in names}
        self._levels = {address: self._compiled(site) for address, site in self._sites.items()}
        given = dict.fromkeys(e.input for edits in self.programs for e in edits if isinstance(e, InputEdit))
        self._inputs = {spec.name: spec for spec in info.inputs if spec.name in given}
        self._frozen: dict[tuple[str, int], Tensor] = {}

    def changes(self, before: Mapping[str, Tensor], steps: Sequence[int], programs: Sequence[int]) -> Changes:
        """The changes of one step: `before` is the carried memory, `steps` and `programs` say where each row stands.

        They take values of these rows, or of all of them several times over, as integrated gradients run them.
        """
        at = torch.as_tensor(list(steps), device=self._device)
        which = torch.as_tensor(list(programs), device=self._device)
        sites = {a: self._site_change(a, before, at, which) for a in self._sites}
        return Changes(sites, {n: self._input_change(spec, which) for n, spec in self._inputs.items()})

    def stay(self, rows: Tensor) -> None:
        """Only these rows go on, with what they are frozen at."""
        self._frozen = {key: frozen[rows.to(frozen.device)] for key, frozen in self._frozen.items()}

    def join(self, rows: int) -> None:
        """Further rows behind those there are, frozen at nothing yet."""
        for key, frozen in self._frozen.items():
            fresh = torch.full((rows, *frozen.shape[1:]), math.nan, dtype=frozen.dtype, device=frozen.device)
            self._frozen[key] = torch.cat((frozen, fresh))

    def _site_change(self, address: str, before: Mapping[str, Tensor], at: Tensor, which: Tensor) -> Change:
        site = self._sites[address]

        def change(value: Tensor) -> Tensor:
            if len(value) < len(at):
                return value  # a blank row before the place where many are put in: nothing reads it
            times = len(value) // len(at)
            carried = value
            if address in self._memory:
                held = before[self._memory[address]]
                carried = held.repeat(times, *[1] * (held.ndim - 1))
            new = self._made(site, value, carried, at.repeat(times), which.repeat(times))
            self._check(site, new, at.tolist(), which.tolist())
            return new

        return change

    def _made(self, site: Site, value: Tensor, before: Tensor, steps: Tensor, programs: Tensor) -> Tensor:
        for number, level in enumerate(self._levels[site.address]):
            flat, carried = _by_element(site, value), _by_element(site, before)
            frozen = self._frozen.get((site.address, number))
            if frozen is None or frozen.shape != flat.shape:
                frozen = torch.full_like(flat, math.nan) if level.freezes else flat
            flat, frozen = made(flat, carried, frozen, level=level.rows(programs), steps=steps)
            if level.freezes:
                self._frozen[site.address, number] = frozen
            value = _as_before(site, flat, value)
            for program, edit in level.whole:
                holds = (programs == program) & (steps >= edit.start)
                holds = holds if edit.stop is None else holds & (steps < edit.stop)
                here = holds.view(-1, *[1] * (value.ndim - 1))
                value = torch.where(here, changed_whole(edit, site, value), value)
        return value

    def _compiled(self, site: Site) -> tuple[Level, ...]:
        mine = [[e for e in edits if isinstance(e, SiteEdit) and e.site == site.address] for edits in self.programs]
        depth = max((len(edits) for edits in mine), default=0)
        return tuple(self._level([edits[i] if i < len(edits) else None for edits in mine], site) for i in range(depth))

    def _level(self, edits: Sequence[SiteEdit | None], site: Site) -> Level:
        shape = (len(edits), site.elements)
        kind, value = torch.zeros(shape, dtype=torch.uint8), torch.zeros(shape)
        start, stop = torch.zeros(shape, dtype=torch.int64), torch.full(shape, _NEVER, dtype=torch.int64)
        whole = []
        for row, edit in enumerate(edits):
            if edit is None:
                continue
            if edit.op not in _KINDS:
                whole.append((row, edit))
                continue
            places = list(edit.elements)
            kind[row, places] = _KINDS[edit.op]
            value[row, places] = 0.0 if edit.op == "zero" else edit.value
            start[row, places] = edit.start
            stop[row, places] = _NEVER if edit.stop is None else edit.stop
        on, freezes, scales = self._device, bool((kind == _FREEZE).any()), bool((kind == _SCALE).any())
        return Level(kind.to(on), value.to(on), start.to(on), stop.to(on), freezes, scales, tuple(whole))

    def _input_change(self, spec: InputSpec, which: Tensor) -> Change:
        def change(value: Tensor) -> Tensor:
            rows = which.repeat(max(1, len(value) // len(which)))[: len(value)]
            for program, edits in enumerate(self.programs):
                here = (rows == program).view(-1, *[1] * (value.ndim - 1))
                for edit in edits:
                    if isinstance(edit, InputEdit) and edit.input == spec.name:
                        value = torch.where(here, changed_input(edit, value), value)
            return value

        return change

    def _check(self, site: Site, value: Tensor, steps: Sequence[int], programs: Sequence[int]) -> None:
        # A sum is the quickest test; where it overflows, the numbers themselves are looked at.
        if math.isfinite(value.sum().item()) or bool(torch.isfinite(value).all()):
            return
        flat = _by_element(site, value)
        for place, element, *_ in (~torch.isfinite(flat)).nonzero().tolist():
            row = place % len(steps)
            edits = self.programs[programs[row]]
            if edits:
                what = "not a number" if bool(torch.isnan(flat[place, element]).any()) else "infinite"
                told = "; ".join(described(edit) for edit in edits[:3])
                raise EditError(
                    f"At step {steps[row]}, element {element} of '{site.address}' became {what} under the edit: "
                    f"{told}. Set elements to values like those that were recorded."
                )


def _by_element(site: Site, value: Tensor) -> Tensor:
    """[rows, elements, the rest]."""
    if site.kind == "memory" or site.element_axis is None:
        return value.reshape(len(value), -1, 1)
    return value.movedim(site.element_axis + 1, 1).flatten(2) if value.ndim > 2 else value.unsqueeze(2)


def _as_before(site: Site, flat: Tensor, like: Tensor) -> Tensor:
    if site.kind == "memory" or site.element_axis is None or like.ndim <= 2:
        return flat.reshape(like.shape)
    axis = site.element_axis + 1
    return flat.reshape(like.movedim(axis, 1).shape).movedim(1, axis)
