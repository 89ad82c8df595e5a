"""Modules as people write them, small: what they take, keep and return."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.distributions import Bernoulli, Categorical, Independent, MultivariateNormal, Normal


class Both(NamedTuple):
    policy: Categorical
    value: Tensor


@dataclass
class Out:
    logits: Tensor
    value: Tensor


class Base(nn.Module):
    """An actor and a critic on six numbers, or on eight that are remembered."""

    def __init__(self, size: int = 6, actions: int = 3) -> None:
        super().__init__()
        self.actor, self.critic = nn.Linear(size, actions), nn.Linear(size, 1)

    def said(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        return self.actor(hidden), self.critic(hidden)


class Tuple(Base):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.said(x)


class Named(Base):
    def forward(self, x: Tensor) -> Both:
        logits, value = self.said(x)
        return Both(Categorical(logits=logits), value[:, 0])


class Dataclass(Base):
    def forward(self, x: Tensor) -> Out:
        return Out(*self.said(x))


class Plain:
    """What a module returns need be no dataclass."""

    def __init__(self, logits: Tensor, value: Tensor) -> None:
        self.logits, self.value = logits, value


class ObjectOut(Base):
    def forward(self, x: Tensor) -> Plain:
        return Plain(*self.said(x))


class DictInput(Base):
    def __init__(self) -> None:
        super().__init__(4)

    def forward(self, x: dict[str, Tensor]) -> dict[str, Tensor]:
        logits, value = self.said(torch.cat([x["place"], x["speed"]], 1))
        return {"logits": logits, "value": value}


class TupleInput(Base):
    def __init__(self) -> None:
        super().__init__(4)

    def forward(self, both: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        return self.said(torch.cat(both, 1))


class ManyInputs(Base):
    def __init__(self) -> None:
        super().__init__(4)

    def forward(self, *parts: Tensor) -> tuple[Tensor, Tensor]:
        return self.said(torch.cat(parts, 1))


class KeywordInputs(Base):
    def __init__(self) -> None:
        super().__init__(4)

    def forward(self, *, place: Tensor, speed: Tensor) -> tuple[Tensor, Tensor]:
        return self.said(torch.cat([place, speed], 1))


class Image(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.policy = nn.Conv2d(3, 4, 3, stride=2), nn.Linear(4 * 9, 3)

    def forward(self, image: Tensor) -> Tensor:
        return self.policy(torch.relu(self.conv(image)).flatten(1))


class Tokens(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.policy = nn.Embedding(7, 5), nn.Linear(15, 3)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.policy(self.words(tokens).flatten(1))


class Masked(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.policy = nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.policy(x).masked_fill(x[:, :3] > 0.9, -torch.inf)


class Normals(nn.Module):
    """A continuous action as a distribution, in three ways to write it."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind, self.mu, self.log_spread = kind, nn.Linear(6, 2), nn.Linear(6, 2)

    def forward(self, x: Tensor) -> Any:
        mean, std = self.mu(x), self.log_spread(x).exp()
        if self.kind == "normal":
            return Normal(mean, std)
        return (
            Independent(Normal(mean, std), 1)
            if self.kind == "independent"
            else MultivariateNormal(mean, torch.diag_embed(std**2))
        )


class Switches(nn.Module):
    """Three decisions between yes and no."""

    def __init__(self) -> None:
        super().__init__()
        self.bits = nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Any:
        return Independent(Bernoulli(logits=self.bits(x)), 1)


class Several(nn.Module):
    """Two decisions among three."""

    def __init__(self) -> None:
        super().__init__()
        self.choices = nn.Linear(6, 6)

    def forward(self, x: Tensor) -> Any:
        return Independent(Categorical(logits=self.choices(x).reshape(-1, 2, 3)), 1)


class Recurrent(Base):
    """Takes its state, or makes one, and returns the new one."""

    def __init__(self, core: nn.Module) -> None:
        super().__init__(8)
        self.core = core

    def forward(self, x: Tensor, state: Any = None) -> tuple[Tensor, Tensor, Any]:
        if isinstance(self.core, nn.RNNBase):
            out, state = self.core(x.unsqueeze(0), state)
            return (*self.said(out.squeeze(0)), state)
        state = self.core(x, state)
        return (*self.said(state[0] if isinstance(state, tuple) else state), state)


class Required(Base):
    def __init__(self) -> None:
        super().__init__(8)
        self.core = nn.LSTMCell(6, 8)

    def forward(self, x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor]]:
        h, c = self.core(x, (h, c))
        return (*self.said(h), (h, c))


class Whole(Base):
    """A state of two tensors in a dict: the cell's, and a running mean that is carried beside it."""

    def __init__(self) -> None:
        super().__init__(14)
        self.core = nn.GRUCell(6, 8)

    def forward(self, x: Tensor, state: dict[str, Tensor] | None = None) -> dict[str, Any]:
        h, mean = (None, torch.zeros_like(x)) if state is None else (state["h"], state["mean"])
        h, mean = self.core(x, h), 0.5 * mean + x
        logits, value = self.said(torch.cat([h, mean], 1))
        return {"logits": logits, "value": value, "state": {"h": h, "mean": mean}}


class Begun(Whole):
    """The same, which makes its first state in a method of its own, not of zeros."""

    def initial_state(self, batch: int) -> dict[str, Tensor]:
        return {"h": torch.full((batch, 8), 0.3), "mean": torch.full((batch, 6), -0.2)}


@dataclass
class Kept:
    slow: Tensor
    fast: list[Tensor]


class DataclassState(Base):
    def __init__(self) -> None:
        super().__init__(18)

    def forward(self, x: Tensor, memory: Kept | None = None) -> tuple[Tensor, Tensor, Kept]:
        memory = memory or Kept(torch.zeros_like(x), [torch.zeros_like(x), torch.zeros_like(x)])
        new = Kept(0.9 * memory.slow + x, [x, memory.fast[0]])
        return (*self.said(torch.cat([new.slow, memory.fast[0], memory.fast[1]], 1)), new)


class Attribute(Base):
    def __init__(self) -> None:
        super().__init__(8)
        self.core, self.hidden = nn.GRUCell(6, 8), None

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self.hidden = self.core(x, self.hidden)
        return self.said(self.hidden)


class NestedAttribute(Base):
    """Holds its state in a dict of an object, changed in place."""

    def __init__(self) -> None:
        super().__init__(6)
        self.kept = Plain(torch.zeros(1, 6), {"sum": torch.zeros(1, 6)})  # type: ignore[arg-type]

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self.kept.value["sum"] = self.kept.value["sum"] + x  # type: ignore[index,call-overload]
        self.kept.logits = 0.5 * self.kept.logits + self.kept.value["sum"]  # type: ignore[index,call-overload]
        return self.said(self.kept.logits)


class ListAttribute(Base):
    """Remembers in a Python list, whose first entry goes when there are four."""

    def __init__(self) -> None:
        super().__init__(6)
        self.seen: list[Tensor] = []

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self.seen.append(x)
        if len(self.seen) > 3:
            self.seen.pop(0)
        return self.said(sum(self.seen) / len(self.seen))  # type: ignore[arg-type]


class Window(Base):
    """A window of history in a deque that fills up, with a reset."""

    def __init__(self) -> None:
        super().__init__(6)
        self.frames: deque[Tensor] = deque(maxlen=4)

    def reset(self) -> None:
        self.frames.clear()

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self.frames.append(x)
        return self.said(torch.stack(list(self.frames), 1).amax(1))


class Repeated(Window):
    """A window that is filled with the first frame: a fresh one is not of zeros."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        while len(self.frames) < 4:
            self.frames.append(x)
        self.frames.append(x)
        return self.said(torch.stack(list(self.frames), 1).mean(1))


class WindowArgument(Base):
    def __init__(self) -> None:
        super().__init__(18)

    def forward(self, x: Tensor, history: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
        history = x.new_zeros(len(x), 3, 6) if history is None else history
        history = torch.cat([history[:, 1:], x[:, None]], 1)
        return (*self.said(history.flatten(1)), history)


class SecondStep(Base):
    """Moves its state at every second step alone."""

    def __init__(self) -> None:
        super().__init__(8)
        self.core, self.hidden, self.count = nn.GRUCell(6, 8), None, 0

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        if self.count % 2 == 0:
            self.hidden = self.core(x, self.hidden)
        self.count += 1
        return self.said(self.hidden)


class Ripens(Base):
    """Another one from the third call on."""

    def __init__(self) -> None:
        super().__init__(6)
        self.calls = 0

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self.calls += 1
        return self.said(-x if self.calls > 2 else x)


class OtherKey(Base):
    """Returns its state detached, and calls it otherwise than it takes it."""

    def __init__(self) -> None:
        super().__init__(8)
        self.core = nn.GRUCell(6, 8)

    def forward(self, x: Tensor, carry: Tensor | None = None) -> dict[str, Tensor]:
        hidden = self.core(x, carry)
        logits, value = self.said(hidden)
        return {"next": (hidden * 1.0).detach(), "logits": logits, "value": value}


class Sequence(Base):
    def __init__(self) -> None:
        super().__init__(8)
        self.core = nn.GRU(6, 8, batch_first=True)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        out, _ = self.core(x)
        return {"policy": self.actor(out), "value": self.critic(out)}


class Forgets(Base):
    """Starts its cell afresh in each call: it remembers nothing."""

    def __init__(self) -> None:
        super().__init__(8)
        self.core = nn.GRUCell(6, 8)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.said(self.core(x))


class PerRowCounter(Base):
    """A state of whole numbers, one for each row."""

    def __init__(self) -> None:
        super().__init__(6)

    def forward(self, x: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
        state = torch.zeros(len(x), dtype=torch.int64) if state is None else state
        return (*self.said(x * (state[:, None] % 3)), state + 1)


class Agent(Base):
    """As CleanRL writes it: no forward."""

    def get_value(self, x: Tensor) -> Tensor:
        return self.critic(x)

    def get_action_and_value(self, x: Tensor, action: Tensor | None = None) -> Any:
        decided = Categorical(logits=self.actor(x))
        action = decided.sample() if action is None else action
        return action, decided.log_prob(action), decided.entropy(), self.critic(x)


class MaskedAgent(Base):
    """The same with an action that is never taken."""

    def get_action_and_value(self, x: Tensor, action: Tensor | None = None) -> Any:
        decided = Categorical(logits=self.actor(x) - torch.tensor([0.0, 5.0, 0.0]))
        action = decided.sample() if action is None else action
        return action, decided.log_prob(action), decided.entropy(), self.critic(x)


class ContinuousAgent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.actor_mean, self.critic = nn.Linear(6, 2), nn.Linear(6, 1)
        self.actor_logstd = nn.Parameter(torch.tensor([[-0.5, -1.0]]))

    def get_action_and_value(self, x: Tensor, action: Tensor | None = None) -> Any:
        mean = self.actor_mean(x)
        decided = Normal(mean, self.actor_logstd.expand_as(mean).exp())
        action = decided.sample() if action is None else action
        return action, decided.log_prob(action).sum(1), decided.entropy().sum(1), self.critic(x)


class LstmAgent(Base):
    """As CleanRL's agents with memory: an LSTM over the steps, its state a tuple, and `done`."""

    def __init__(self) -> None:
        super().__init__(8)
        self.lstm = nn.LSTM(6, 8)

    def get_states(self, x: Tensor, lstm_state: Any, done: Tensor) -> Any:
        batch = lstm_state[0].shape[1]
        hidden, done, new = x.reshape((-1, batch, 6)), done.reshape((-1, batch)), []
        for h, d in zip(hidden, done, strict=True):
            state = ((1.0 - d).view(1, -1, 1) * lstm_state[0], (1.0 - d).view(1, -1, 1) * lstm_state[1])
            h, lstm_state = self.lstm(h.unsqueeze(0), state)
            new.append(h)
        return torch.flatten(torch.cat(new), 0, 1), lstm_state

    def get_action_and_value(self, x: Tensor, lstm_state: Any, done: Tensor, action: Any = None) -> Any:
        hidden, lstm_state = self.get_states(x, lstm_state, done)
        decided = Categorical(logits=self.actor(hidden))
        action = decided.sample() if action is None else action
        return action, decided.log_prob(action), decided.entropy(), self.critic(hidden), lstm_state


class TwoMethods(Base):
    def act(self, x: Tensor) -> Tensor:
        return self.actor(x)

    def get_value(self, x: Tensor) -> Tensor:
        return self.critic(x)


class Decides(Base):
    """Its forward is for training; acting is another method."""

    def forward(self, x: Tensor) -> Tensor:
        return self.actor(x) * 0

    def decide(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.said(x)


class Told(Base):
    """Is told what it did and earned a step ago."""

    def __init__(self) -> None:
        super().__init__(8)
        self.core = nn.GRUCell(6 + 3 + 1, 8)

    def forward(self, x: Tensor, prev_action: Tensor, prev_reward: Tensor, h: Tensor | None = None) -> Any:
        h = self.core(torch.cat([x, prev_action, prev_reward], 1), h)
        return (*self.said(h), h)


class ToldByNumber(Base):
    """Is told the number of its action, and calls it otherwise."""

    def __init__(self) -> None:
        super().__init__(8)
        self.did = nn.Embedding(3, 2)

    def forward(self, x: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
        return self.said(torch.cat([x, self.did(a)], 1))
