"""Scores platformer agents: levels completed, and what the others failed at, beside the paper's figures.

python -m innerview_zoo.models.platformer.score weights.safetensors                 # 10,000 levels never trained on
python -m innerview_zoo.models.platformer.score weights.safetensors --levels 1000   # and 10,000 times one of its own
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor

from innerview.errors import InnerviewError
from innerview.worlds.crowds import lanes_of_crowd
from innerview_zoo.models.platformer.agent import ACTION_COUNT, Agent, as_input
from innerview_zoo.models.platformer.ppo import draw
from innerview_zoo.report import Figure, Progress, Report, no_progress, share_figure
from innerview_zoo.worlds.platformer import FIRST_TEST_LEVEL, OUTCOMES, Platformer, PlatformerSettings

COUNT = 10_000
COUNT_WITHOUT_GPU = 2_000  # some minutes on two cores
AT_ONCE = 32  # frames whose layers fit a processor's cache
COIN = OUTCOMES.index("coin")
FAILURES = OUTCOMES[COIN + 1 :]
HEAD = ("trained on", "own, %", "paper", "unseen, %", "paper", *(cause.replace("moving ", "") for cause in FAILURES))


@dataclass(frozen=True)
class Member:
    """One agent of the family, and what the paper's agent of the same number of levels completed (footnote 10)."""

    name: str
    levels: int | None
    paper_own: str = ""
    paper_unseen: str = ""

    @property
    def called(self) -> str:
        """Its number of training levels, for people."""
        return "without limit" if self.levels is None else f"{self.levels:,}"


FAMILY = (
    Member("platformer_100", 100, "99.96, 99.97", "61.81, 64.13"),
    Member("platformer_1k", 1_000, "99.67, 99.70", "74.93, 73.46"),
    Member("platformer_10k", 10_000, "99.47, 99.39", "97.53, 97.44"),
    Member("platformer_100k", 100_000, "99.57, 99.37", "99.25, 99.35"),
    Member("platformer", None, "", "99.27"),  # footnote 7: what the original model did not fail at
)
OTHERS = (Member("platformer_sparse", None), Member("platformer_disentangled", None))
"""Agents made from the unlimited one, which are no part of the paper's experiment."""


@dataclass(frozen=True)
class Score:
    """How episodes on some levels ended."""

    endings: tuple[int, ...]
    """By outcome, in the order of OUTCOMES."""
    steps: float
    """Mean length of an episode."""

    @property
    def count(self) -> int:
        """Episodes."""
        return sum(self.endings)

    def completed(self, how: str) -> Figure:
        """The share that ended at the coin."""
        return share_figure(self.endings[COIN], self.count, name="levels completed", how=how)

    def failed(self) -> tuple[str, ...]:
        """The share that each failure ended, in per cent."""
        return tuple(f"{100 * number / self.count:.2f}" for number in self.endings[COIN + 1 :])


def unseen_levels(count: int) -> Tensor:
    """Seeds that no training draws."""
    return torch.arange(FIRST_TEST_LEVEL, FIRST_TEST_LEVEL + count)


def own_levels(count: int, levels: int) -> Tensor:
    """Training levels drawn with replacement, as the paper counts."""
    return torch.randint(0, levels, (count,), generator=torch.Generator().manual_seed(levels))


@torch.no_grad()
def complete(
    agent: Agent | None,
    seeds: Tensor,
    *,
    settings: PlatformerSettings | None = None,
    device: str = "cpu",
    lanes: int | None = None,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Score:
    """Play each level once with actions drawn from the policy; without an agent, at random."""
    if not len(seeds):
        raise InnerviewError("There are no levels to play: give at least one seed.")
    lanes = min(lanes or lanes_of_crowd(device), len(seeds))
    settings = settings or PlatformerSettings(auto_reset=False)
    game = Platformer(lanes, settings=settings, device=device, seed=seed)
    queue = _Queue(seeds.to(device), lanes)
    frames = game.reset(level_seeds=queue.begin())
    noise = torch.Generator(device).manual_seed(seed)
    logits = torch.zeros(lanes, ACTION_COUNT, device=device)
    while queue.playing.any():
        if agent is not None:
            parts = torch.split(frames[queue.playing], AT_ONCE if frames.device.type == "cpu" else lanes)
            logits[queue.playing] = torch.cat([agent(as_input(part))[0] for part in parts])
        turn = game.step(draw(torch.log_softmax(logits, -1), noise))
        fresh = queue.note(turn.ended, turn.outcome)
        frames = turn.frames if fresh is None else game.reset(where=fresh[0], level_seeds=fresh[1])
        progress(queue.done, len(seeds), f"{100 * queue.share():.1f} % completed")
    return Score(tuple(int(n) for n in queue.endings), queue.steps / len(seeds))


class _Queue:
    """Gives lanes their next levels and counts how they ended."""

    def __init__(self, seeds: Tensor, lanes: int) -> None:
        self.seeds, self.next = seeds, lanes
        self.playing = torch.ones(lanes, dtype=torch.bool, device=seeds.device)
        self.endings = torch.zeros(len(OUTCOMES), dtype=torch.int64)
        self.steps = self.done = 0

    def begin(self) -> Tensor:
        """The first level of each lane."""
        return self.seeds[: len(self.playing)].clone()

    def share(self) -> float:
        """Of the episodes that ended, how many at the coin."""
        return int(self.endings[COIN]) / max(1, self.done)

    def note(self, ended: Tensor, outcome: Tensor) -> tuple[Tensor, Tensor] | None:
        """Count what ended; which lanes begin anew, and every lane's level, where any does."""
        self.steps += int(self.playing.sum())
        over = (ended & self.playing).nonzero()[:, 0]
        if not len(over):
            return None
        self.endings += torch.bincount(outcome[over].long(), minlength=len(OUTCOMES)).cpu()
        self.done += len(over)
        following = self.seeds[self.next : self.next + len(over)]
        self.next += len(following)
        self.playing[over[len(following) :]] = False
        again = over[: len(following)]
        if not len(again):
            return None
        where = torch.zeros_like(self.playing)
        where[again] = True
        levels = torch.zeros(len(where), dtype=torch.int64, device=where.device)
        levels[again] = following
        return where, levels


def load_agent(weights: Path, device: str = "cpu") -> Agent:
    """An agent with the weights of a file."""
    from innerview.subjects.weights import load_weights

    agent = Agent()
    load_weights(agent, weights)
    return agent.to(device)


def weights_of(name: str) -> Path:
    """Where a member's weights lie."""
    return Path(__file__).parent / name / "weights.safetensors"


def member(name: str) -> Member:
    """An agent by the name of its folder."""
    return next(each for each in (*FAMILY, *OTHERS) if each.name == name)


@dataclass(frozen=True)
class Scored:
    """A member's scores on levels never trained on, and on its own where their number is limited."""

    member: Member
    unseen: Score
    own: Score | None = None

    def row(self) -> tuple[str, ...]:
        """A line of the family's table."""
        own = _cell(self.own.completed("")) if self.own else "–"
        of_paper = self.member.paper_own or "–", self.member.paper_unseen or "–"
        unseen = _cell(self.unseen.completed(""))
        return (self.member.called, own, of_paper[0], unseen, of_paper[1], *self.unseen.failed())

    def figures(self) -> tuple[Figure, ...]:
        """The main figure first: unseen levels."""
        main = self.unseen.completed("unseen levels, sampled actions")
        if self.own is None:
            return (main,)
        return main, self.own.completed("own training levels drawn with replacement, sampled actions")


def score(
    who: Member, agent: Agent, *, count: int = COUNT, device: str = "cpu", progress: Progress = no_progress
) -> Scored:
    """Both scores of a member."""
    unseen = complete(agent, unseen_levels(count), device=device, progress=progress)
    if who.levels is None:
        return Scored(who, unseen)
    own = complete(agent, own_levels(count, who.levels), device=device, seed=1, progress=progress)
    return Scored(who, unseen, own)


def random_row(count: int, device: str = "cpu") -> tuple[str, ...]:
    """What actions drawn at random complete, as a line of the table."""
    by_chance = complete(None, unseen_levels(count), device=device)
    return ("random actions", "–", "–", _cell(by_chance.completed("")), "–", *by_chance.failed())


def report(scored: Sequence[Scored], *, title: str, random: tuple[str, ...] | None = None) -> Report:
    """A table of one member or more, whose last one's figure stands for it."""
    rows = [each.row() for each in scored]
    if random:
        rows.append(random)
    return Report(title, HEAD, tuple(rows), scored[-1].figures()[0])


def evaluate_member(name: str, count: int | None = None, progress: Progress = no_progress) -> Report:
    """A member's line of the card's table, worked out anew."""
    wanted = count or _bearable()
    scored = _score_bundled(member(name), wanted, progress)
    return report([scored], title=_title(wanted), random=random_row(min(wanted, 500), device=_device()))


def family_table(count: int | None = None, progress: Progress = no_progress) -> Report:
    """Every member that has weights, beside footnote 10 of the paper."""
    wanted = count or _bearable()
    scored = [_score_bundled(who, wanted, progress) for who in FAMILY if weights_of(who.name).exists()]
    if not scored:
        raise InnerviewError("No platformer agent has weights here: train one with zoo/platformer/train.py.")
    return report(scored, title=_title(wanted), random=random_row(min(wanted, 500), device=_device()))


def _score_bundled(who: Member, count: int, progress: Progress) -> Scored:
    def named(done: int, of: int, what: str) -> None:
        progress(done, of, f"{who.name}: {what}")

    agent = load_agent(weights_of(who.name), _device())
    return score(who, agent, count=count, device=_device(), progress=named)


def _device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def _bearable() -> int:
    return COUNT if torch.cuda.is_available() else COUNT_WITHOUT_GPU


def _title(count: int) -> str:
    return f"Own and unseen levels completed, {count:,} episodes each; what ended the others on unseen levels, %"


def _cell(figure: Figure) -> str:
    return f"{figure.value:.2f} ({figure.low:.2f}–{figure.high:.2f})"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=Path)
    parser.add_argument("--levels", type=int, default=None, help="how many levels it was trained on")
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--device", default=_device())
    parser.add_argument("--json", type=Path, default=None, help="where to write the numbers too")
    args = parser.parse_args()
    who = next((each for each in FAMILY if each.levels == args.levels), Member("", args.levels))
    agent = load_agent(args.weights, args.device)
    scored = score(who, agent, count=args.count, device=args.device)
    for name, cell in zip(HEAD, scored.row(), strict=True):
        os.write(1, f"{name}: {cell}\n".encode())
    if args.json:
        args.json.write_text(json.dumps(asdict(scored)) + "\n")


if __name__ == "__main__":
    main()
