"""Ablates directions of a layer from a subject, by projecting them out of the kernel that reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from innerview.errors import EditError, UnknownName
from innerview.schema import WeightEdit

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module

    from innerview.subjects import Subject

_ALIKE, _DRAWS = 0.9, 100
"""From this cosine on a direction counts as another one, and how often one is drawn anew; dense ones are all alike."""


def ablate(subject: Subject, edit: WeightEdit) -> Subject:
    """A copy of the subject that is without the directions; the original stays as it is."""
    after, weight = reader(subject, edit)
    kernels = {after: weight} | _beside(subject, edit.layer, after)
    _check_ways(subject, edit, tuple(kernels))
    channels = len(edit.directions[0])
    changed = {f"{name}.weight": projected_out(kernel, edit.directions, channels) for name, kernel in kernels.items()}
    return subject.copied(changed, name=f"{subject.info.name} - ablated")


def reader(subject: Subject, edit: WeightEdit) -> tuple[str, Tensor]:
    """The layer that reads the channels, and its kernel."""
    from torch import nn

    if not edit.directions or len({len(direction) for direction in edit.directions}) != 1:
        raise EditError("Ablation needs at least one direction, all of the same number of channels.")
    if edit.layer not in subject.info.layers:
        raise UnknownName("layer", edit.layer, subject.info.layers)
    channels = len(edit.directions[0])
    named = dict(subject.module.named_modules())
    made = getattr(named[edit.layer], "out_channels", channels)
    if made != channels:
        raise EditError(f"Layer '{edit.layer}' has {made} channels; the directions have {channels} numbers.")
    later = subject.info.layers[subject.info.layers.index(edit.layer) + 1 :]
    if edit.after and edit.after not in later:
        raise UnknownName("layer after " + edit.layer, edit.after, later)
    for name in (edit.after,) if edit.after else later:
        layer = named[name]
        if isinstance(layer, nn.Conv2d) and layer.groups == 1 and layer.in_channels == channels:
            return name, layer.weight
        if isinstance(layer, nn.Linear) and layer.in_features % channels == 0:
            return name, layer.weight
        # A normalisation stretches each channel its own way: what comes after it has other directions.
        if isinstance(layer, nn.Conv2d | nn.Linear) or "Norm" in type(layer).__name__:
            break
    raise EditError(
        f"No convolution or dense layer after '{edit.layer}' reads its {channels} channels directly, so they cannot be "
        "projected out of its kernel. Choose another layer, or name the one that reads it."
    )


def _check_ways(subject: Subject, edit: WeightEdit, readers: Sequence[str]) -> None:
    """What it does must depend on the layer, and on nothing of it but what these layers read."""
    from innerview.subjects import reaching_layers

    acting = subject.acting_head
    if acting and not reaching_layers(subject, acting, (edit.layer,)):
        others = [name for name in reaching_layers(subject, acting) if name != edit.layer]
        raise EditError(
            f"Ablation at '{edit.layer}' would change nothing that '{subject.info.name}' does: '{acting.name}' does "
            f"not depend on that layer. Convolutions that it depends on: {', '.join(others) or 'none'}."
        )
    around = [h.name for h in subject.info.heads if reaching_layers(subject, h, (edit.layer,), without=readers)]
    if around:
        raise EditError(
            f"Ablation takes directions out of what {', '.join(readers)} reads of '{edit.layer}', but "
            f"{', '.join(around)} also gets it another way, as a skip connection gives it on: it would still see. "
            "Choose a layer behind the place where both come together, or one inside the branch that is gone round."
        )


def _beside(subject: Subject, layer: str, after: str) -> dict[str, Tensor]:
    """Kernels that read the same as the one after a layer, beside it: as the two streams of a dueling network do."""
    import torch

    from innerview.subjects import blanks

    named = dict(subject.module.named_modules())
    alike = [n for n in subject.info.layers if n not in (layer, after) and _size(named[n]) == _size(named[after])]
    if not alike:
        return {}
    said = subject.run(blanks(subject, 1, grad=True), keep=(layer, after, *alike), grad=True).sites

    def follows(name: str, earlier: str) -> bool:
        whole, begin = said[name].sum(), said[earlier]
        if not whole.requires_grad or not begin.requires_grad:
            return False
        return torch.autograd.grad(whole, [begin], retain_graph=True, allow_unused=True)[0] is not None

    return {n: named[n].weight for n in alike if follows(n, layer) and not follows(n, after)}


def _size(layer: Module) -> tuple[str, int]:
    """What a layer can read: channels of a convolution, numbers of a dense layer."""
    from torch import nn

    if isinstance(layer, nn.Conv2d) and layer.groups == 1:
        return "convolution", layer.in_channels
    return ("dense", layer.in_features) if isinstance(layer, nn.Linear) else ("", 0)


def projected_out(weight: Tensor, directions: Sequence[Sequence[float]], channels: int) -> Tensor:
    """A kernel [out, channels · …] that no longer sees what lies along the directions."""
    import torch

    from innerview.subjects import basis_of

    q = basis_of(directions)
    grouped = weight.detach().cpu().double().reshape(weight.shape[0], channels, -1)
    along = torch.einsum("cd,ocx->odx", q, grouped)
    rest: Tensor = grouped - torch.einsum("cd,odx->ocx", q, along)
    return rest.reshape(weight.shape).to(weight.device, weight.dtype)


def random_directions(like: Sequence[Sequence[float]], *, seed: int) -> np.ndarray:
    """Directions for a control: as many, with the same numbers shuffled over the channels. [direction, channel]."""
    generator = np.random.default_rng(seed)
    others = [*np.asarray(like, float)]
    for shape in others[: len(like)]:
        drawn = generator.permutation(shape)
        # One that comes out as what it stands in for, or as another of the control, would be no control.
        for _ in range(_DRAWS):
            if not any(_alike(drawn, other) for other in others):
                break
            drawn = generator.permutation(shape)
        others.append(drawn)
    return np.stack(others[len(like) :])


def _alike(one: np.ndarray, other: np.ndarray) -> bool:
    return bool(abs(one @ other) > _ALIKE * np.linalg.norm(one) * np.linalg.norm(other))
