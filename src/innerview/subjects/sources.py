"""Where the numbers of a head come from, and whether what a module returns contradicts that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from innerview.schema import Head
from innerview.subjects.structure import Part, Path, lists, parts, pick

CLOSE = 1e-4


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
    action: Path | None = None
    """The part of the output that is an action chosen from this head, where that is all the module returns of it."""
    follows: tuple[Path, ...] = ()
    """Parts that are the log probability of that action, and the entropy; without, it is the best one."""

    def read(self, result: Any, module: nn.Module, layers: Mapping[str, Tensor], batch: int) -> Tensor:
        """[batch, size]; more rows than `batch` where an activation with more was put into a layer."""
        if self.parameter:
            value = module.get_parameter(self.parameter).reshape(1, -1).expand(batch, -1)
        else:
            value = layers[self.layer] if self.layer else pick(result, self.path)
            value = value.reshape(-1, self.head.size)
        value = value if value.dtype in (torch.float32, torch.float64) else value.float()
        return self.transform(value) if self.transform else value


def row_size(part: Part, batch: int) -> int:
    """Numbers in one row."""
    return part.value.numel() // batch


def per_row(value: Tensor, batch: int) -> bool:
    """Whether a tensor has something for each row."""
    return value.ndim > 0 and batch in value.shape[:2] and value.numel() >= batch


def actions_in(result: Any, batch: int) -> Iterator[tuple[Path, Any]]:
    """Whole numbers of an output, one for each row: tensors, and lists of them."""
    for part in parts(result):
        if not part.value.is_floating_point() and part.value.dtype is not torch.bool and part.value.numel() == batch:
            yield part.path, part.value
    for path, item in lists(result):
        if len(item) == batch and all(type(number) is int for number in item):
            yield path, item


def equal(value: Tensor, wanted: Tensor) -> bool:
    """Whether two tensors hold nearly the same numbers in the same order."""
    if value.numel() != wanted.numel():
        return False
    return bool(torch.allclose(value.flatten().float(), wanted.flatten().float(), atol=CLOSE, rtol=CLOSE))


def contradiction(sources: Sequence[HeadSource], result: Any, heads: Mapping[str, Tensor], batch: int) -> str:
    """How what a module returns differs from a head that is read off a layer, in words; nothing where it does not."""
    if not any(source.layer for source in sources):
        return ""
    claimed = {source.path for source in sources if not source.layer and not source.parameter}
    free = [
        part
        for part in parts(result)
        if part.path not in claimed and per_row(part.value, batch) and part.value.is_floating_point()
    ]
    for source in sources:
        head = source.head
        if not source.layer:
            continue
        if source.action is not None and not source.follows:
            best = heads[head.name].argmax(dim=1).tolist()
            if torch.as_tensor(pick(result, source.action)).flatten().tolist() != best:
                return (
                    f"head '{head.name}' is read off layer '{source.layer}', and the action that the module returns is "
                    "not the best of it: it is masked or changed after that layer. Return what the action is chosen "
                    "from, the logits or Q values."
                )
        elif source.action is not None:
            told = told_by(head.kind, heads, head.name, pick(result, source.action))
            if not all(any(equal(pick(result, path), number) for number in told) for path in source.follows):
                return (
                    f"head '{head.name}' is read off layer '{source.layer}', and the log probability that the module "
                    "returns is another one: it is masked or scaled after that layer. Return the logits."
                )
        elif head.kind in ("policy", "q", "advantage", "gaussian", "value"):
            rivals = [part for part in free if row_size(part, batch) == head.size]
            if rivals and not any(_says_the_same(head.kind, heads[head.name], part.value, batch) for part in rivals):
                name = rivals[0].name
                return (
                    f"head '{head.name}' is read off layer '{source.layer}', but what the module returns as '{name}' "
                    "is something else: it is masked, scaled or mixed after that layer. Name the part of the output "
                    f"instead: heads={{'{name}': '{head.kind}'}}, or heads='{head.kind}' where it is the only one."
                )
    return ""


def told_by(kind: str, heads: Mapping[str, Tensor], name: str, action: Tensor) -> tuple[Tensor, ...]:
    """The log probability of an action and the entropy, as a head has them."""
    if kind == "policy":
        decided: Any = torch.distributions.Categorical(logits=heads[name].float())
        return decided.log_prob(action.reshape(len(action))), decided.entropy()
    mean = heads[name].float()
    normal: Any = torch.distributions.Normal(mean, heads[f"{name}.log_std"].float().exp().expand_as(mean))
    return normal.log_prob(action.reshape(mean.shape)).sum(1), normal.entropy().sum(1)


def are_probabilities(rows: Tensor) -> bool:
    """Whether each row adds up to 1 and has several numbers, none below 0."""
    summed = rows.sum(dim=1)
    return rows.shape[1] > 1 and bool((rows >= 0).all()) and torch.allclose(summed, torch.ones_like(summed), atol=CLOSE)


def log_probabilities(value: Tensor) -> Tensor:
    """Of probabilities."""
    return value.clamp_min(torch.finfo(value.dtype).tiny).log()


def _says_the_same(kind: str, head: Tensor, value: Tensor, batch: int) -> bool:
    rows, mine = value.detach().reshape(batch, -1).float(), head.detach().float()
    if kind == "policy":
        rows = log_probabilities(rows) if are_probabilities(rows) else rows
        mine, rows = torch.log_softmax(mine, 1), torch.log_softmax(rows, 1)
    return equal(mine, rows)
