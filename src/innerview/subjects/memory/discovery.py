"""Finds out how a module's author carries its state, and carries it so: in arguments, attributes or recurrent layers.

What is found is not believed until it gave, over several steps, what the module gives when its author calls it.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import nn

from innerview.subjects.memory.arguments import handed_in, refuse_unknown_state
from innerview.subjects.memory.attributes import first_trace, with_attributes
from innerview.subjects.memory.belief import believed, received_starts
from innerview.subjects.memory.carriers import LayerMemory, NoMemory, layer_slots
from innerview.subjects.memory.convention import Convention, Start
from innerview.subjects.memory.forms import same
from innerview.subjects.memory.probe import Found, Probe, remembers
from innerview.subjects.memory.state import Place
from innerview.subjects.structure import parts
from innerview.subjects.trace import RecurrentCall, Trace, recurrent_layers


def find_memory(probe: Probe, *, required: Sequence[str], optional: Sequence[str]) -> Found:
    """The memory of a module. `required` and `optional`: arguments of forward that no input fills."""
    names = [*required, *(name for name in optional if remembers(name))]
    handed = handed_in(probe, names, must=bool(required)) if names else None
    if handed is None:
        seen, begun = first_trace(probe)
        if not begun:
            refuse_unknown_state(probe, optional)
        convention = Convention()
    else:
        seen, begun, convention = handed.trace, {}, Convention(handed.places, handed.fresh)
    if seen.written:
        attributes = tuple(Place(item.title(probe.module), attribute=item) for item in seen.written)
        return with_attributes(probe, convention, attributes, seen, begun)
    if convention.places:
        return believed(probe, convention, seen)
    layers = in_layers(probe, only=None) if probe.time_axis is not None else None
    return layers if layers and layers.carrier.slots else Found(NoMemory(), seen, Convention())


def in_layers(probe: Probe, *, only: Sequence[str] | None) -> Found:
    """Memory of recurrent layers that the module itself gives no state from outside."""
    slots = {name: layer_slots(name, layer) for name, layer in recurrent_layers(probe.module).items()}
    seen = probe.trace()
    calls = {n: c for n, c in seen.recurrent.items() if _is_memory(c, probe.batch)}
    if only is None:
        calls = {n: c for n, c in calls.items() if not _reads_sequence(c, seen)}
    else:
        calls = {n: c for n, c in calls.items() if n in only}
    if not calls:
        return Found(NoMemory(), seen, Convention(apart=only is not None))
    carrier = LayerMemory(tuple((call.layer, slots[name]) for name, call in calls.items()))
    starts: dict[str, Start] = {}
    for name, call in calls.items():
        starts |= received_starts(probe.module, slots[name], call.received)
    states = [state for call in calls.values() for state in call.state]
    paths = tuple(part.path for part in parts(seen.result) if any(same(part.value, state) for state in states))
    whole = only is None and probe.time_axis is not None
    return Found(
        carrier, seen, Convention(time_axis=probe.time_axis if whole else None, apart=not whole), starts, paths
    )


def _reads_sequence(call: RecurrentCall, seen: Trace) -> bool:
    """Whether a cell is looped over a sequence that one call of the module holds, and carries nothing to the next."""
    return not isinstance(call.layer, nn.RNNBase) and call.calls > 1 and not seen.written


def _is_memory(call: RecurrentCall, batch: int) -> bool:
    shape, layer = tuple(call.input.shape), call.layer
    if not isinstance(layer, nn.RNNBase):
        return shape[0] == batch
    time, rows = (1, 0) if layer.batch_first else (0, 1)
    # A layer that reads a whole sequence within one call remembers nothing from call to call.
    return len(shape) == 3 and shape[rows] == batch and shape[time] == 1
