"""What the k-items agent learns from: windows of steps, memory over them, and what memory is asked for."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from innerview_zoo.models.doom.kitems.agent import INPUT_HW, Agent
from innerview_zoo.models.doom.kitems.lessons import NOTES, TOLD
from innerview_zoo.models.doom.kitems.teacher import KNOWN
from innerview_zoo.worlds.kitems.mazes import ITEMS


class Trainer(nn.Module):
    """The agent with what only training needs: a critic that is told the maze, and a guess of what was seen."""

    def __init__(self, memory: int) -> None:
        super().__init__()
        self.agent = Agent(memory)
        self.critic = nn.Sequential(nn.Linear(memory + TOLD, 128), nn.Tanh(), nn.Linear(128, 1))
        self.guess = nn.Linear(memory, KNOWN)

    def judge(self, memory: Tensor, told: Tensor) -> Tensor:
        """How much reward is to come, knowing the maze."""
        value: Tensor = self.critic(torch.cat([memory.detach(), told], -1))[..., 0]
        return value


def half_precision(device: torch.device) -> torch.autocast:
    """For the convolutions on a GPU; nothing is cached, as two threads are at work."""
    return torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda", cache_enabled=False)


def remember(cell: nn.GRUCell, features: Tensor, memory: Tensor, fresh: Tensor) -> Tensor:
    """Memory [steps, n, memory] over a window, empty wherever a step is fresh; all steps in one call of the GPU."""
    steps, n, _ = features.shape
    begins = fresh.clone()
    begins[0] = True
    first, game = begins.nonzero(as_tuple=True)
    order = torch.arange(steps, device=fresh.device)[:, None]
    # A stretch ends where the next of the same game begins.
    following = torch.where(begins, order, steps).flip(0).cummin(0).values.flip(0)
    following = torch.cat([following[1:], torch.full_like(following[:1], steps)])
    length = following[first, game] - first
    length, longest_first = length.sort(descending=True, stable=True)
    first, game = first[longest_first], game[longest_first]
    runs = order[: int(length[0])] < length
    places = ((first + order[: len(runs)]) * n + game)[runs]
    start = torch.where(((first == 0) & ~fresh[0, game])[:, None], memory[game], 0.0)
    weights = [cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh]
    packed = features.flatten(0, 1)[places]
    told, _ = torch._VF.gru(packed, runs.sum(1).cpu(), start[None], weights, True, 1, 0.0, True, False)
    back = torch.empty_like(places)
    back[places] = torch.arange(len(places), device=places.device)
    states: Tensor = told[back].view(steps, n, -1)
    return states


def compare(guess: Tensor, seen: Tensor) -> Tensor:
    """How far a guess from memory is from what was seen: which items and where, how many gathered, what is unseen."""
    k = len(ITEMS)
    items, guessed = (x[..., : 3 * k].reshape(*x.shape[:-1], k, 3) for x in (seen, guess))
    there, where = items[..., 0], (guessed[..., 1:] - items[..., 1:]).square().sum(-1)
    loss: Tensor = 0.5 * F.binary_cross_entropy_with_logits(guessed[..., 0], there)
    loss = loss + 0.5 * (where * there).sum() / there.sum().clamp(min=1)
    gathered = -(F.log_softmax(guess[..., 3 * k : 4 * k], -1) * seen[..., 3 * k : 4 * k]).sum(-1)
    loss = loss + gathered.mean() + 0.5 * F.mse_loss(guess[..., 4 * k :], seen[..., 4 * k :])
    return loss


class Rollout:
    """A window of steps of all games, on the GPU."""

    def __init__(self, steps: int, games: int, memory: int, device: torch.device) -> None:
        self.frames = torch.zeros(steps, games, 3, *INPUT_HW, dtype=torch.uint8, device=device)
        self.fresh = torch.zeros(steps, games, device=device)  # 1 where the step is the first of an episode
        self.actions = torch.zeros(steps, games, dtype=torch.int64, device=device)
        self.notes = torch.zeros(steps, games, NOTES, device=device)  # of the state that was decided in
        self.log_probs, self.values, self.rewards, self.done = (
            torch.zeros(steps, games, device=device) for _ in range(4)
        )
        self.memory = torch.zeros(games, memory, device=device)
        self.last_values = torch.zeros(games, device=device)

    def advantages(self, gamma: float, lam: float) -> Tensor:
        """Generalised advantage estimates [steps, games]."""
        result, following = torch.zeros_like(self.rewards), self.last_values
        running = torch.zeros_like(following)
        for t in reversed(range(len(self.rewards))):
            alive = 1.0 - self.done[t]
            delta = self.rewards[t] + gamma * alive * following - self.values[t]
            running = delta + gamma * lam * alive * running
            result[t], following = running, self.values[t]
        return result
