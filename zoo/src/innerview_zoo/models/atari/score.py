"""Scores Atari agents: full games with 5 % random actions, beside random play and published figures.

python -m innerview_zoo.models.atari.score breakout_dqn                 # the card's table anew, and its figures
python -m innerview_zoo.models.atari.score breakout_dqn --write         # and write figures.json
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from innerview.subjects import Subject
from innerview_zoo.episodes import Choice, play
from innerview_zoo.manifest import weights_file
from innerview_zoo.models.atari import FINAL, adapt, game_of, load_agent
from innerview_zoo.models.atari.plans import PLANS, Plan, plan_of
from innerview_zoo.report import Figure, Progress, Report, mean_figure, no_progress, write_figures

log = logging.getLogger("innerview_zoo.models.atari")
COUNT = 30
LANES = 15
NOISE = 0.05
MAX_STEPS = 27_000
"""Half an hour of play at four frames a decision, as published figures have it."""
FIRST_SEED = 1_000_000
"""Starts are told by seeds; training draws its own below 2**31 at random, and there are but 30 different ones."""
HEAD = ("who plays", "games", "mean score", "95 % interval", "how")


@dataclass(frozen=True)
class Published:
    """Figures that others report for a game."""

    who: str
    score: float
    how: str


_WANG = "Wang et al. 2016, no-op starts"
_MNIH = "Mnih et al. 2015, 5 % random actions, games cut at 5 minutes"
PUBLISHED = {
    "breakout": (
        Published("published: random play", 1.7, _WANG),
        Published("published: a human tester", 30.5, _WANG),
        Published("published: DQN, 200 M frames", 401.2, _MNIH),
        Published("published: dueling DQN, 200 M frames", 345.3, _WANG),
    ),
    "seaquest": (
        Published("published: random play", 68.4, _WANG),
        Published("published: a human tester", 42_054.7, _WANG),
        Published("published: DQN, 200 M frames", 5_286.0, _MNIH),
        Published("published: dueling DQN, 200 M frames", 50_254.2, _WANG),
    ),
}


def choice_of(plan: Plan) -> Choice:
    """A Q network takes what it holds best; an actor-critic draws from its policy, as it does in training."""
    return "greedy" if plan.learns_q else "sample"


def how_of(plan: Plan) -> str:
    """How games are played, in words."""
    chosen = "best action" if plan.learns_q else "actions drawn from the policy"
    return f"full games, {chosen}, 5 % random actions"


def score(
    plan: Plan, agent: Subject, *, name: str, count: int, noise: float = NOISE, progress: Progress = no_progress
) -> Figure:
    """The mean score over that many games."""
    seeds = range(FIRST_SEED, FIRST_SEED + count)
    played = play(
        agent,
        game_of(plan, picture=False),
        list(seeds),
        lanes=LANES,
        choose=choice_of(plan),
        noise=noise,
        max_steps=MAX_STEPS,
        progress=progress,
    )
    how = "full games, any action at random" if noise == 1 else how_of(plan)
    return mean_figure([each.total_reward for each in played], name=name, unit="points", how=how)


def figures(name: str, count: int | None = None, progress: Progress = no_progress) -> list[Figure]:
    """The final agent first, then its snapshots and random play."""
    plan, games = plan_of(name), count or COUNT
    found = []
    for snapshot in (FINAL, *reversed(plan.ages)):
        agent, _ = load_agent(name, snapshot)
        title = "mean score" if snapshot == FINAL else f"mean score, {snapshot} snapshot"
        found.append(score(plan, agent, name=title, count=games, progress=progress))
    found.append(score(plan, adapt(plan), name="mean score, random play", count=games, noise=1.0, progress=progress))
    return found


def report(name: str, found: Sequence[Figure]) -> Report:
    """The card's table."""
    plan = plan_of(name)
    mine = [(_who(figure), f"{figure.count}", _points(figure.value), _interval(figure), figure.how) for figure in found]
    theirs = [(each.who, "", _points(each.score), "", each.how) for each in PUBLISHED[plan.game]]
    return Report(plan.title, HEAD, (*mine, *theirs), found[0])


def evaluate_agent(name: str, count: int | None = None, progress: Progress = no_progress) -> Report:
    """The card's table anew."""
    return report(name, figures(name, count, progress))


def _who(figure: Figure) -> str:
    _, _, which = figure.name.partition(", ")
    return which or "the agent"


def _points(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}"


def _interval(figure: Figure) -> str:
    return f"{_points(figure.low)}–{_points(figure.high)}" if figure.count > 1 else ""


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agent", choices=list(PLANS))
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--write", action="store_true", help="write figures.json beside the weights")
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    found = figures(args.agent, args.count, lambda done, of, what: log.info("%d of %d %s", done, of, what))
    for row in report(args.agent, found).rows:
        log.info("| %s |", " | ".join(row))
    if args.write:
        write_figures(weights_file("atari", args.agent).with_name("figures.json"), found[0], found[1:])


if __name__ == "__main__":
    main()
