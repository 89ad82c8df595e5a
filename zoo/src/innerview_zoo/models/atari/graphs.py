"""Work that is repeated on a GPU with nothing but other numbers: recorded once, then started as a whole."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable

import torch
from torch import Tensor
from torch.optim import Optimizer

log = logging.getLogger(__name__)
_WARM_UPS = 3
_TIMED = 10


def recorded(work: Callable[[], None], device: torch.device, *, changes: Iterable[Tensor] = ()) -> Callable[[], None]:
    """The same work as a CUDA graph; on a CPU the work itself. `changes` are put back after the trial runs.

    The work takes its numbers from tensors that stay where they are and leaves its results in such tensors.
    """
    if device.type != "cuda":
        return work
    kept = [(tensor, tensor.detach().clone()) for tensor in changes]
    side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(_WARM_UPS):
            work()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            work()
    except RuntimeError as error:
        log.warning("No CUDA graph, each step is started piece by piece: %s", error)
        _put_back(kept)
        return work
    log.info("%s takes %.2f ms", getattr(work, "__name__", "a decision"), 1000 * _seconds(graph.replay))
    _put_back(kept)
    return graph.replay


def prepared(optimizer: Optimizer) -> list[Tensor]:
    """An optimizer's tensors, made now if they are not there yet, so that trial runs can be undone."""
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            state = optimizer.state[parameter]
            if not state:
                state["step"] = torch.zeros((), dtype=torch.float32, device=parameter.device)
                state["exp_avg"] = torch.zeros_like(parameter, memory_format=torch.preserve_format)
                state["exp_avg_sq"] = torch.zeros_like(parameter, memory_format=torch.preserve_format)
    return [value for state in optimizer.state.values() for value in state.values() if isinstance(value, Tensor)]


def _seconds(work: Callable[[], None]) -> float:
    torch.cuda.synchronize()
    began = time.monotonic()
    for _ in range(_TIMED):
        work()
    torch.cuda.synchronize()
    return (time.monotonic() - began) / _TIMED


def _put_back(kept: list[tuple[Tensor, Tensor]]) -> None:
    with torch.no_grad():
        for tensor, before in kept:
            tensor.copy_(before)
