"""Makes edits to the state of many rows at once, each row with its own edits and at its own step."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from innerview.edits.validation import checked, described
from innerview.errors import EditError
from innerview.schema import MemoryEdit, MemorySite

_NEVER = 1 << 60
_SET, _FREEZE = 1, 2
Change = Callable[[str, Tensor], Tensor]


@dataclass(frozen=True)
class Level:
    """One edit of each program at one site, element by element: all [programs, elements]."""

    kind: Tensor
    """0 nothing, 1 set (zero is set to 0), 2 freeze."""
    value: Tensor
    start: Tensor
    stop: Tensor
    freezes: bool

    def rows(self, programs: Tensor) -> Level:
        """The same for rows, each with its program."""
        kind, value = self.kind[programs], self.value[programs]
        return Level(kind, value, self.start[programs], self.stop[programs], self.freezes)


def made(state: Tensor, before: Tensor, frozen: Tensor, *, level: Level, steps: Tensor) -> tuple[Tensor, Tensor]:
    """The state [rows, elements] with one level of edits made, and what frozen elements are held at."""
    step = steps[:, None]
    holds = (step >= level.start) & (step < level.stop)
    new = torch.where(holds & (level.kind == _SET), level.value.to(state), state)
    if not level.freezes:
        return new, frozen
    # Taken when the edit begins to hold; a replay that begins later takes what its rows were given.
    unknown = torch.isnan(frozen) | (step == level.start)
    frozen = torch.where((level.kind == _FREEZE) & holds & unknown, before, frozen)
    return torch.where(holds & (level.kind == _FREEZE), frozen, new), frozen


class Editor:
    """Edits compiled for a subject. A program is the edits of one reduction; none is an empty one.

    Between steps it holds nothing but the values at which elements are frozen, one set for each row.
    """

    def __init__(
        self,
        programs: Sequence[Sequence[MemoryEdit]],
        sites: Sequence[MemorySite],
        *,
        device: torch.device | str = "cpu",
    ) -> None:
        self.programs = tuple(checked(edits, sites) for edits in programs)
        self.sites = {site.name: site for site in sites}
        self._device = torch.device(device)
        self._levels = {name: self._compiled(site) for name, site in self.sites.items()}
        self._frozen: dict[tuple[str, int], Tensor] = {}

    def changing(self, before: Mapping[str, Tensor], steps: Sequence[int], programs: Sequence[int]) -> Change:
        """The change of one step: `before` is the carried state, `steps` and `programs` say where each row stands.

        It takes a state of these rows, or of all of them several times over, as integrated gradients run them.
        """
        at = torch.as_tensor(list(steps), device=self._device)
        which = torch.as_tensor(list(programs), device=self._device)

        def change(site: str, state: Tensor) -> Tensor:
            if not self._levels[site]:
                return state
            flat, times = state.reshape(len(state), -1), len(state) // len(at)
            carried = before[site].reshape(len(at), -1).repeat(times, 1)
            new = self._made(site, flat, carried, at.repeat(times), which.repeat(times))
            self._check(site, new, steps, programs)
            return new.reshape(state.shape)

        return change

    def _made(self, site: str, flat: Tensor, before: Tensor, steps: Tensor, programs: Tensor) -> Tensor:
        for number, level in enumerate(self._levels[site]):
            frozen = self._frozen.get((site, number))
            if frozen is None or frozen.shape != flat.shape:
                frozen = torch.full_like(flat, math.nan) if level.freezes else flat
            flat, frozen = made(flat, before, frozen, level=level.rows(programs), steps=steps)
            if level.freezes:
                self._frozen[site, number] = frozen
        return flat

    def _compiled(self, site: MemorySite) -> tuple[Level, ...]:
        mine = [[edit for edit in edits if edit.site == site.name] for edits in self.programs]
        depth = max((len(edits) for edits in mine), default=0)
        return tuple(self._level([edits[i] if i < len(edits) else None for edits in mine], site) for i in range(depth))

    def _level(self, edits: Sequence[MemoryEdit | None], site: MemorySite) -> Level:
        shape = (len(edits), math.prod(site.shape))
        kind, value = torch.zeros(shape, dtype=torch.uint8), torch.zeros(shape)
        start, stop = torch.zeros(shape, dtype=torch.int64), torch.full(shape, _NEVER, dtype=torch.int64)
        for row, edit in enumerate(edits):
            if edit is None:
                continue
            places = list(edit.elements)
            kind[row, places] = _FREEZE if edit.mode == "freeze" else _SET
            value[row, places] = edit.value if edit.mode == "set" else 0.0
            start[row, places] = edit.start
            stop[row, places] = _NEVER if edit.stop is None else edit.stop
        freezes = bool((kind == _FREEZE).any())
        on = self._device
        return Level(kind.to(on), value.to(on), start.to(on), stop.to(on), freezes)

    def _check(self, site: str, state: Tensor, steps: Sequence[int], programs: Sequence[int]) -> None:
        # A sum is the quickest test; where it overflows, the numbers themselves are looked at.
        if math.isfinite(state.sum().item()) or bool(torch.isfinite(state).all()):
            return
        for place, element in (~torch.isfinite(state)).nonzero().tolist():
            row = place % len(steps)
            edits = self.programs[programs[row]]
            if edits:
                what = "not a number" if bool(torch.isnan(state[place, element])) else "infinite"
                told = "; ".join(described(edit) for edit in edits[:3])
                raise EditError(
                    f"At step {steps[row]}, element {element} of '{site}' became {what} under the edit: {told}. "
                    "Set elements to values like those that were recorded."
                )
