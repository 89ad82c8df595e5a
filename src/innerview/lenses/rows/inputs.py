"""The one way from rows of a recording to what a subject is given: inputs, and the memory it comes with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from innerview.capture import GivenRows, Stepper
from innerview.errors import RequestError
from innerview.jobs.recorded import differences
from innerview.lenses.rows.filters import RowFilters
from innerview.schema import (
    PICTURE_FILTERS,
    ArraySpec,
    Binding,
    Edit,
    InputBinding,
    InputSpec,
    SiteEdit,
    Step,
    bind,
    counterpart,
    domains_of,
    is_depth,
    units_per,
)
from innerview.store import Recording
from innerview.subjects import Output, Subject


class RowInputs:
    """Any rows of a recording as one subject takes them, read when they are asked for.

    Where rows have no time, or begin a group, memory is fresh. Where they have, it is what was recorded for this very
    subject; for any other, the subject is run over the rows of the group that come before. The edits that a recording
    was made with go for the subject that recorded it alone. Not `as_recorded`, it is taken for any other.
    """

    def __init__(
        self,
        subject: Subject,
        recording: Recording,
        binding: Binding | Mapping[str, str] | None = None,
        *,
        as_recorded: bool = True,
        differs: Sequence[str] | None = None,
    ) -> None:
        """`differs`: how the subject differs from the one that recorded, where that was looked up already."""
        self.subject, self.recording = subject, recording
        self._as_recorded, self._differs = as_recorded, differs
        info = recording.info
        if not isinstance(binding, Binding):
            binding = bind(subject.info.inputs, info.arrays, binding, where=recording.name)
        self.binding = binding
        self._filters = RowFilters(recording)
        self._arrays = {spec.name: spec for spec in info.arrays}
        self._specs = {spec.name: spec for spec in subject.info.inputs}

    def read(self, rows: np.ndarray) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Inputs and the memory before them, both with the batch first."""
        return self.inputs(rows), self.memory_before(rows)

    def inputs(self, rows: np.ndarray | range) -> dict[str, Tensor]:
        """[rows, *shape] by name of the input, normalised as the subject was adapted."""
        wanted = np.asarray(rows, np.int64)
        with torch.no_grad():
            given = {name: self._given(items, wanted) for name, items in self.binding.by_input.items()}
            return self.subject.inputs(given)

    def done(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What was done and earned in these rows, as they are recorded."""
        columns = self.recording.info.columns
        acted = [column.name for column in columns if column.kind == "action"]
        earned = next((column.name for column in columns if column.kind == "reward"), "")
        if not acted or not earned:
            raise RequestError(
                f"'{self.subject.info.name}' is told what was done and earned a step ago; '{self.recording.name}' does "
                "not say it."
            )
        low, high = int(rows.min()), int(rows.max()) + 1
        table = self.recording.columns([*acted, earned], low, high)[(rows - low).tolist()]
        actions = table.select(acted).to_numpy()
        return actions[:, 0] if len(acted) == 1 else actions, table[earned].to_numpy()

    def memory_before(self, rows: np.ndarray | range) -> dict[str, Tensor]:
        """[rows, *shape] by name of the memory site: what the subject remembers when it comes to each row."""
        wanted = np.asarray(rows, np.int64)
        fresh = self.subject.initial_memory(len(wanted))
        if not fresh or self.recording.info.ordering is None or not len(wanted):
            return fresh
        begun = self.recording.group_starts(wanted) < wanted
        if not begun.any():
            return fresh
        if self.has_recorded_memory:
            found = {site: self._recorded(site, wanted).to(state) for site, state in fresh.items()}
        else:
            found = self._carried(wanted)
        shown = torch.as_tensor(begun)
        return {
            site: torch.where(shown.view(-1, *[1] * (state.ndim - 1)).to(state.device), found[site], state)
            for site, state in fresh.items()
        }

    def run(self, rows: np.ndarray, keep: Sequence[str] = ()) -> Output:
        """What the subject says in these rows, edited as it was, with the sites `keep`."""
        inputs, memory = self.read(rows)
        return self._stepper(memory, keep).step(inputs, steps=self._steps(rows))

    @cached_property
    def edits(self) -> tuple[Edit, ...]:
        """What the subject was changed by when it made the recording; nothing of any other."""
        return self.recording.info.edits if self._recorded_by_it and self.recording.info.ordering else ()

    @property
    def edits_vary(self) -> bool:
        """Whether the edits hold in some rows of a group only."""
        sites = [edit for edit in self.edits if isinstance(edit, SiteEdit)]
        return any(edit.start or edit.stop is not None for edit in sites)

    @cached_property
    def edited(self) -> Subject:
        """The subject as it was in every row; without edits that hold in some only."""
        return self.subject.with_edits(self.edits) if self.edits and not self.edits_vary else self.subject

    def edited_in(self, row: int) -> Subject:
        """The subject as it was in that row."""
        place = np.array([row])
        return self.subject.with_edits(self._stepper(self.memory_before(place)).changes(self._steps(place)))

    def extremes(self) -> dict[str, tuple[Tensor, Tensor]]:
        """Black and white by name of the input, where every picture is recorded as bytes."""
        pictures = [i for i in self.binding.inputs if self._specs[i.input].kind == "image"]
        if any(self._arrays[i.array].dtype != "uint8" and not _is_bounded(i) for i in pictures):
            return {}
        black, white = (self.subject.inputs(self._filled(whole)) for whole in (False, True))
        return {item.input: (black[item.input][0], white[item.input][0]) for item in pictures}

    @cached_property
    def domains(self) -> dict[str, RowInputs]:
        """Of paired rows, by domain: the same rows as it shows them. Filters stay with the domain they are on."""
        arrays, found = self.recording.info.arrays, {}
        bound = {item.domain for item in self.binding.inputs} - {""}
        for domain in domains_of(arrays) if bound else ():
            try:
                binding = counterpart(self.binding, arrays, domain)
            except RequestError:
                continue  # it has no picture for some input
            if domain not in bound:
                kept = [tuple(s for s in item.steps if s.kind not in PICTURE_FILTERS) for item in binding.inputs]
                items = tuple(replace(i, steps=steps) for i, steps in zip(binding.inputs, kept, strict=True))
                binding = Binding(inputs=items)
            found[domain] = RowInputs(
                self.subject, self.recording, binding, as_recorded=self._as_recorded, differs=self._differs
            )
        return found

    @property
    def channels(self) -> dict[str, tuple[str, ...]]:
        """What each channel of a picture holds, "colour" or "depth", by name of the input."""
        found: dict[str, tuple[str, ...]] = {}
        for name, items in self.binding.by_input.items():
            if self._specs[name].kind == "image":
                single = ("colour",) * self._specs[name].shape[0] if len(items) == 1 else ()
                each = (channels_of(self._arrays[item.array]) or single for item in items)
                found[name] = tuple(channel for channels in each for channel in channels)
        return {name: own for name, own in found.items() if len(own) == self._specs[name].shape[0]}

    @cached_property
    def has_recorded_memory(self) -> bool:
        """Whether the recording keeps the memory of this subject, as far as can be told."""
        shapes = {site.name: site.shape for site in self.subject.info.memory}
        kept = {name: self._arrays.get(array) for name, array in self.subject.info.memory_arrays.items()}
        if any(spec is None or spec.shape != shapes[name] for name, spec in kept.items()):
            return False
        return self._recorded_by_it

    @cached_property
    def _recorded_by_it(self) -> bool:
        if not self._as_recorded:
            return False
        known = self._differs
        return not (differences(self.recording.info, subject=self.subject) if known is None else known)

    def _stepper(self, before: Mapping[str, Tensor], keep: Sequence[str] = ()) -> Stepper[Mapping[str, Tensor]]:
        memory = {site.address for site in self.subject.info.memory}
        for edit in self.edits:
            if isinstance(edit, SiteEdit) and edit.op == "freeze" and edit.site not in ("", *memory):
                raise RequestError(
                    f"'{self.recording.name}' was made with '{edit.site}' frozen at what it was in an earlier row, "
                    "which was not recorded: its rows cannot be run again. Choose a recording without that edit."
                )
        return Stepper(self.subject, before, programs=[self.edits], keep=keep)

    def _steps(self, rows: np.ndarray) -> list[int]:
        """How far into its group each row is; only edits ask."""
        steps: list[int] = (rows - self.recording.group_starts(rows)).tolist() if self.edits else [0] * len(rows)
        return steps

    def _recorded(self, site: str, rows: np.ndarray) -> Tensor:
        before = self.recording.array_rows(self.subject.info.memory_arrays[site], np.maximum(rows - 1, 0))
        return torch.from_numpy(np.array(before))

    def _carried(self, rows: np.ndarray) -> dict[str, Tensor]:
        """The subject is run over what comes before in each group, once for all rows that are wanted of it."""
        starts = self.recording.group_starts(rows)
        given, fresh = (
            GivenRows(self.subject, self.inputs, edits=self.edits, done=self.done),
            self.subject.initial_memory(1),
        )
        before = dict.fromkeys(starts.tolist(), fresh)
        for start in np.unique(starts[starts < rows]).tolist():
            later = rows[(starts == start) & (rows > start)]
            said = given.carried(start, (later - 1).tolist())
            before |= {row: said[row - 1].memory for row in later.tolist()}
        return {site: torch.cat([before[row][site] for row in rows.tolist()]) for site in fresh}

    def _given(self, items: Sequence[InputBinding], rows: np.ndarray) -> np.ndarray:
        """What feeds one input: an array, or several pictures as one [row, channel, height, width]."""
        parts = [self._values(item, rows) for item in items]
        return parts[0] if len(parts) == 1 else _joined(parts)

    def _values(self, item: InputBinding, rows: np.ndarray) -> np.ndarray:
        spec = self._arrays[item.array]
        stack = next((int(step.values[0]) for step in item.steps if step.kind == "stack"), 1)
        if stack == 1:
            return self._prepared(item, spec, rows)
        if self.recording.info.ordering is None:
            raise RequestError(f"Rows of '{self.recording.name}' have no time: '{item.array}' cannot be stacked.")
        starts = self.recording.group_starts(rows)
        # Before a group's first row there is nothing: the first frame stands in, as a frame stack begins.
        frames = [self._prepared(item, spec, np.maximum(rows - back, starts)) for back in range(stack - 1, -1, -1)]
        return np.stack(frames, axis=1)

    def _prepared(self, item: InputBinding, spec: ArraySpec, rows: np.ndarray) -> np.ndarray:
        target = self._specs[item.input]
        if spec.kind == "ragged":
            return self._padded(item, target, rows)
        values = self._filters.apply(item.steps, spec, rows, self.recording.array_rows(spec.name, rows))
        for step in item.steps:
            values = _apply(step, values, spec)
        return values

    def _padded(self, item: InputBinding, target: InputSpec, rows: np.ndarray) -> np.ndarray:
        values, lengths = self.recording.ragged_rows(item.array, rows)
        room = target.shape[0] if target.shape else 0
        if lengths.size and int(lengths.max()) > room:
            worst = int(rows[int(lengths.argmax())])
            raise RequestError(
                f"Row {worst} of '{item.array}' has {int(lengths.max())} entries; input '{target.name}' takes {room}."
            )
        if any(step.kind == "mask" for step in item.steps):
            return (np.arange(room) < lengths[:, None]).astype(np.float32)
        padded = np.zeros((len(rows), room, *values.shape[2:]), values.dtype)
        padded[:, : values.shape[1]] = values
        for step in item.steps:
            padded = _apply(step, padded, self._arrays[item.array])
        return padded

    def _filled(self, whole: bool) -> dict[str, np.ndarray]:
        """One row with every picture black, or as full as it can be, and zeros elsewhere."""
        return {
            name: _joined(parts) if len(parts := [self._blank(item, whole) for item in items]) > 1 else parts[0]
            for name, items in self.binding.by_input.items()
        }

    def _blank(self, item: InputBinding, whole: bool) -> np.ndarray:
        spec, target = self._arrays[item.array], self._specs[item.input]
        if spec.kind == "ragged":
            return np.zeros((1, *target.shape), spec.dtype)
        stack = next((int(step.values[0]) for step in item.steps if step.kind == "stack"), 0)
        full = np.iinfo(spec.dtype).max if np.dtype(spec.dtype).kind in "iu" else np.finfo(spec.dtype).max
        blank: Any = np.full((1, *spec.shape), full if whole and target.kind == "image" else 0, spec.dtype)
        for step in item.steps:
            blank = _apply(step, blank, spec)
        return np.stack([blank] * stack, axis=1) if stack else np.asarray(blank)


def channels_of(spec: ArraySpec) -> tuple[str, ...]:
    """What each channel of a picture holds, "colour" or "depth"; nothing where an array has no channels."""
    if not spec.is_image or len(spec.shape) not in (2, 3):
        return ()
    if is_depth(spec):
        return ("depth",)
    count = spec.shape[2] if len(spec.shape) == 3 else 1
    named = spec.elements if len(spec.elements) == count else ("",) * count
    return tuple("depth" if name.lower() == "depth" else "colour" for name in named)


def _is_bounded(item: InputBinding) -> bool:
    """Whether what an array holds comes out between 0 and 1."""
    return any(step.kind == "depth" for step in item.steps)


def _joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Pictures [row, height, width] or [row, height, width, channel] as one [row, channel, height, width].

    Bytes stay bytes where there is nothing else; beside other numbers they go from 0 to 1.
    """
    first = [part[:, None] if part.ndim == 3 else np.moveaxis(part, -1, 1) for part in parts]
    if all(part.dtype == np.uint8 for part in first):
        return np.concatenate(first, axis=1)
    plain = [part.astype(np.float32) / (255.0 if part.dtype == np.uint8 else 1.0) for part in first]
    return np.concatenate(plain, axis=1, dtype=np.float32)


def _apply(step: Step, values: np.ndarray, spec: ArraySpec) -> np.ndarray:
    if step.kind == "resize":
        width, height = (int(value) for value in step.values)
        # Between a wall and a hole there is nothing: what is measured is not mixed.
        way = Image.Resampling.NEAREST if is_depth(spec) else Image.Resampling.BILINEAR
        return np.stack([_resized(value, width, height, way) for value in values]) if len(values) else values
    if step.kind == "channels first":
        return np.moveaxis(values, -1, 1)
    if step.kind == "divide":
        return np.asarray(values.astype(np.float32) / step.values[0])
    if step.kind == "depth":
        metres = units_per(spec.unit, "m")
        assert metres is not None  # The binding was checked.
        shares = np.nan_to_num(values.astype(np.float32), nan=0.0) * np.float32(metres / step.values[0])
        return np.asarray(np.clip(shares, 0, 1))
    return values


def _resized(value: np.ndarray, width: int, height: int, way: Image.Resampling) -> np.ndarray:
    """One picture [height, width] or with channels; each channel by itself, as Pillow takes a fourth for opacity.

    No value is rounded that was not.
    """
    if value.ndim == 3:
        return np.stack([_resized(value[..., c], width, height, way) for c in range(value.shape[-1])], axis=-1)
    plane = value if value.dtype == np.uint8 else value.astype(np.float32)
    done = np.asarray(Image.fromarray(plane).resize((width, height), way))
    return done if value.dtype.kind == "f" else np.rint(done).astype(value.dtype)
