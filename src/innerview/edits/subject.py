"""Makes a subject of its own from another one and edits, whatever they change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from innerview.edits.ablation import ablate
from innerview.errors import EditError, UnknownName
from innerview.schema import Edits, WeightEdit
from innerview.subjects import as_edits, checked

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.subjects import Subject


def edit(subject: Subject, edits: Edits, *, name: str | None = None) -> Subject:
    """The subject with edits made in their order: of its weights in a copy, of its sites and inputs in every run.

        quiet = iv.edit(agent, WeightEdit(op="zero", weight="conv1.weight", elements=(3,)), name="without filter 3")
        spread = iv.edit(model, SiteEdit(site="cross/attention[2]", op="uniform"))

    The subject given, and its module, stay as they are.
    """
    made = subject
    for one in as_edits(edits):
        if not isinstance(one, WeightEdit):
            made = made.with_edits(checked([one], made.info))
        elif one.op == "project out":
            made = ablate(made, one)
        else:
            made = made.copied({one.weight: changed_weight(made, one)}, name=made.info.name)
    return made.named(name or f"{subject.info.name} - edited")


def changed_weight(subject: Subject, edit: WeightEdit) -> Tensor:
    """A parameter or buffer as `zero`, `set` or `scale` makes it."""
    own: dict[str, Tensor] = {**dict(subject.module.named_parameters()), **dict(subject.module.named_buffers())}
    if edit.weight not in own:
        raise UnknownName("weight", edit.weight, own)
    value = own[edit.weight].detach().clone()
    size = value.shape[0] if value.ndim else 1
    wrong = [place for place in edit.elements if not 0 <= place < size]
    if wrong or (edit.elements and not value.ndim):
        there = f"places 0 to {size - 1} along its first axis" if value.ndim else "a single number and no places"
        raise EditError(f"'{edit.weight}' has {there}, not {', '.join(map(str, (wrong or edit.elements)[:3]))}.")
    if not value.is_floating_point() and edit.op == "scale" and not float(edit.value).is_integer():
        raise EditError(f"'{edit.weight}' holds whole numbers and cannot be multiplied by {edit.value:g}.")
    places = list(edit.elements) if edit.elements else ...
    value[places] = value[places] * edit.value if edit.op == "scale" else 0.0 if edit.op == "zero" else edit.value
    return value
