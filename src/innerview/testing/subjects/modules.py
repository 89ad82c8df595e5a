"""Tiny modules of every shape people write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.distributions import Categorical, Normal


class Network(nn.Module):
    """A module made of named layers and a function that runs them."""

    def __init__(self, run: Callable[..., Any], **layers: nn.Module) -> None:
        super().__init__()
        for name, layer in layers.items():
            self.add_module(name, layer)
        self._run = run

    def forward(self, x: Any) -> Any:
        """Whatever the function makes of it."""
        return self._run(self, x)


class Both(NamedTuple):
    """An actor-critic's output with names."""

    policy: Categorical
    value: Tensor


class TwoArguments(nn.Module):
    """An image and a vector as two arguments."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, stride=2)
        self.mix = nn.Linear(4 * 9 + 5, 8)
        self.policy = nn.Linear(8, 3)

    def forward(self, image: Tensor, goal: Tensor) -> Tensor:
        """Logits."""
        seen = torch.relu(self.conv(image)).flatten(1)
        logits: Tensor = self.policy(torch.relu(self.mix(torch.cat([seen, goal], dim=1))))
        return logits


class ArgumentRecurrent(nn.Module):
    """Takes its state as an argument and returns the new one last."""

    def __init__(self, core: nn.Module) -> None:
        super().__init__()
        self.encode = nn.Linear(6, 5)
        self.core = core
        self.policy = nn.Linear(8, 3)
        self.value = nn.Linear(8, 1)

    def forward(self, x: Tensor, h: Any = None) -> tuple[Tensor, Tensor, Any]:
        """Logits, value, state."""
        code = torch.relu(self.encode(x))
        if isinstance(self.core, nn.RNNBase):
            out, state = self.core(code.unsqueeze(1 if self.core.batch_first else 0), h)
            out = out.squeeze(1 if self.core.batch_first else 0)
        else:
            state = self.core(code, h)
            out = state[0] if isinstance(state, tuple) else state
        return self.policy(out), self.value(out), state


class TwoStates(nn.Module):
    """An LSTM cell whose two states are arguments that must be given."""

    def __init__(self) -> None:
        super().__init__()
        self.core = nn.LSTMCell(6, 8)
        self.policy = nn.Linear(8, 3)
        self.value = nn.Linear(8, 1)

    def forward(self, x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor]]:
        """Logits, value, both states."""
        h, c = self.core(x, (h, c))
        return self.policy(h), self.value(h), (h, c)


class InnerRecurrent(nn.Module):
    """Starts its recurrent layer afresh at each call and returns no state: only hooks can make it remember."""

    def __init__(self, core: nn.RNNBase) -> None:
        super().__init__()
        self.core = core
        self.policy = nn.Linear(8, 3)
        self.value = nn.Linear(8, 1)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        """Logits and value for a sequence."""
        out, _ = self.core(x)
        return {"policy": self.policy(out), "value": self.value(out)}


class LoopedCell(nn.Module):
    """Loops a cell over a sequence, time first or rows first, and starts it afresh at each call."""

    def __init__(self, core: nn.Module, *, batch_first: bool) -> None:
        super().__init__()
        self.core, self.batch_first = core, batch_first
        self.policy = nn.Linear(8, 3)
        self.value = nn.Linear(8, 1)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        """Logits and value for a sequence."""
        axis, state, seen = 1 if self.batch_first else 0, None, []
        for step in x.unbind(axis):
            state = self.core(step, state)
            seen.append(state[0] if isinstance(state, tuple) else state)
        out = torch.stack(seen, dim=axis)
        return {"policy": self.policy(out), "value": self.value(out)}


class StatefulRecurrent(nn.Module):
    """Keeps its state as an attribute between calls."""

    def __init__(self) -> None:
        super().__init__()
        self.core = nn.GRUCell(6, 8)
        self.policy = nn.Linear(8, 3)
        self.hidden: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        """Logits."""
        self.hidden = self.core(x, self.hidden)
        logits: Tensor = self.policy(self.hidden)
        return logits


class DictState(nn.Module):
    """Takes its state as a dict, makes the first one itself and returns the new one beside its heads."""

    def __init__(self) -> None:
        super().__init__()
        self.core = nn.LSTMCell(6, 8)
        self.policy = nn.Linear(8, 3)
        self.value = nn.Linear(8, 1)

    def initial_state(self, batch: int) -> dict[str, Tensor]:
        """Zeros."""
        return {"h": torch.zeros(batch, 8), "c": torch.zeros(batch, 8)}

    def forward(self, x: Tensor, state: dict[str, Tensor]) -> dict[str, Any]:
        """Logits, value and state."""
        h, c = self.core(x, (state["h"], state["c"]))
        return {"policy": self.policy(h), "value": self.value(h), "state": {"h": h, "c": c}}


class LearnedStart(nn.Module):
    """A GRU cell whose first state is learned."""

    def __init__(self) -> None:
        super().__init__()
        self.core = nn.GRUCell(6, 8)
        self.start = nn.Parameter(torch.linspace(-1, 1, 8))
        self.q_values = nn.Linear(8, 3)

    def forward(self, x: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Q values and state."""
        state = self.start.expand(len(x), -1) if state is None else state
        state = self.core(x, state)
        return self.q_values(state), state


class HomeMade(nn.Module):
    """A recurrence torch does not know as one: its memory must be declared."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(6 + 4, 4)
        self.policy = nn.Linear(4, 3)

    def forward(self, x: Tensor, carry: Tensor) -> dict[str, Tensor]:
        """Logits and state."""
        carry = torch.tanh(self.mix(torch.cat([x, carry], dim=1)))
        return {"carry": carry, "policy": self.policy(carry)}


class Gaussian(nn.Module):
    """A continuous action whose spread is a parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(6, 8)
        self.mean = nn.Linear(8, 2)
        self.value = nn.Linear(8, 1)
        self.log_std = nn.Parameter(torch.tensor([-0.5, -1.0]))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and value."""
        code = torch.tanh(self.body(x))
        return self.mean(code), self.value(code)


class Dueling(nn.Module):
    """Q values from a value and advantages."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Linear(6, 8)
        self.value = nn.Linear(8, 1)
        self.advantage = nn.Linear(8, 3)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        """Q, advantage and value."""
        code = torch.relu(self.trunk(x))
        value, advantage = self.value(code), self.advantage(code)
        return {"q": value + advantage - advantage.mean(dim=1, keepdim=True), "advantage": advantage, "value": value}


def cnn() -> Network:
    """A small convolutional actor-critic that returns a tuple; its ReLUs work in place."""
    conv = nn.Sequential(nn.Conv2d(3, 4, 3, stride=2), nn.ReLU(inplace=True), nn.Conv2d(4, 4, 3), nn.ReLU(inplace=True))
    return Network(
        lambda m, x: (m.head(m.conv(x).flatten(1)), m.score(m.conv(x).flatten(1))),
        conv=conv,
        head=nn.Linear(4, 3),
        score=nn.Linear(4, 1),
    )


def mlp() -> nn.Module:
    """An MLP that ends in a softmax: its output is probabilities, not logits."""
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3), nn.Softmax(dim=1))


def shared_trunk() -> Network:
    """An actor and a critic on one trunk; the policy is a distribution in a named tuple."""
    return Network(
        lambda m, x: Both(Categorical(logits=m.actor(m.trunk(x))), m.critic(m.trunk(x)).squeeze(1)),
        trunk=nn.Sequential(nn.Linear(6, 8), nn.ReLU()),
        actor=nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 3)),
        critic=nn.Linear(8, 1),
    )


def dict_observations() -> Network:
    """One argument: a dict with an image and a vector."""
    return Network(
        lambda m, x: {"logits": m.out(torch.cat([m.see(x["camera"]).flatten(1), m.feel(x["speed"])], dim=1))},
        see=nn.Conv2d(3, 2, 4, stride=4),
        feel=nn.Linear(2, 3),
        out=nn.Linear(2 * 4 + 3, 3),
    )


def normal() -> Network:
    """A continuous action as a normal distribution."""
    return Network(
        lambda m, x: Normal(m.mu(x), torch.nn.functional.softplus(m.spread(x))),
        mu=nn.Linear(6, 2),
        spread=nn.Linear(6, 2),
    )
