"""Trains an Atari agent, with emulators in processes of their own.

python train.py --agent breakout_dqn --out run --minutes 30
python train.py --agent breakout_dqn --out run --minutes 60 --resume run
python train.py --agent breakout_dqn --out run --minutes 25 --trail 24   # snapshots from the first second to the last
"""

from __future__ import annotations

import argparse
import functools
import logging
import os
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from innerview.errors import InnerviewError
from innerview_zoo.models.atari.checkpoints import Folder, Point, Progress, trail
from innerview_zoo.models.atari.games import AtariEmulator
from innerview_zoo.models.atari.plans import PLANS, Learner, Plan, plan_of
from innerview_zoo.models.atari.sampling import GROUPS, MakeEmulator, Sampler, Shape

log = logging.getLogger("innerview_zoo.models.atari")


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """How long to train and how often to report and to save, in seconds."""

    whole: float
    report_s: float = 15.0
    save_s: float = 60.0
    trail: int = 0
    """How many snapshots to leave behind beside the two with names, for curves over training."""

    def __post_init__(self) -> None:
        if self.whole <= 0:
            raise InnerviewError(f"minutes is how long to train: more than 0, not {self.whole / 60:g}.")
        if self.trail < 0:
            raise InnerviewError(f"trail is a number of snapshots: 0 or more, not {self.trail}.")


class Training:
    """One agent that learns while emulators play."""

    def __init__(self, learner: Learner, sampler: Sampler, folder: Folder, schedule: Schedule) -> None:
        self.learner, self.sampler, self.folder, self.schedule = learner, sampler, folder, schedule
        self._began = time.monotonic()
        self._before = Progress()
        self._points: list[Point] = []
        self._steps, self._games = 0, 0
        self._trail, self._left = trail(schedule.trail), 0
        self._scores: deque[float] = deque(maxlen=100)

    def resume(self, folder: Folder) -> None:
        """Go on where a training stopped."""
        self._before = folder.go_on(self.learner.network, self.learner.optimizer)
        self._points = folder.read_curve()
        self._left = sum(self._before.seconds / self.schedule.whole >= each for each in self._trail)
        self._steps, self.learner.updates = self._before.steps, self._before.updates
        self._games = self._points[-1].games if self._points else 0

    @property
    def seconds(self) -> float:
        """Since the training began, over all its parts."""
        return self._before.seconds + time.monotonic() - self._began

    def run(self) -> None:
        """Until the time is over or somebody presses Ctrl-C, and one round at least."""
        self.learner.prepare()
        try:
            self._play()
            self.folder.save_snapshots(self.learner.network, 1.0)
            self._leave(1.0)
        except KeyboardInterrupt:
            log.info("Stopped. Go on with --resume %s", self.folder.path)
        self._report(0.0, 0.0)
        self._save()

    def _play(self) -> None:
        keen = self.learner.keen_lanes()
        told, kept, steps_told, updates_told = self.seconds, self.seconds, self._steps, self.learner.updates
        share = 0.0
        while share < 1:
            now = self.seconds
            share = min(now / self.schedule.whole, 1.0)
            for group in range(GROUPS):
                self._round(group, share, keen)
            self._leave(share)
            if now - told >= self.schedule.report_s:
                span = now - told
                self._report((self._steps - steps_told) / span, (self.learner.updates - updates_told) / span)
                told, steps_told, updates_told = now, self._steps, self.learner.updates
                self.folder.save_snapshots(self.learner.network, share)
            if now - kept >= self.schedule.save_s:
                self._save()
                kept = now

    def _leave(self, share: float) -> None:
        """A snapshot of the trail where one is due; who comes late for several leaves one."""
        due = sum(share >= each for each in self._trail)
        if due > self._left:
            self.folder.save_step(self.learner.network, self._steps)
        self._left = due

    def _round(self, group: int, share: float, keen: np.ndarray) -> None:
        views = self.sampler.wait(group)
        for lane, score in self.sampler.finished(group):
            self._games += 1
            if keen[lane]:
                self._scores.append(score)
        self.sampler.send(group, self.learner.observe(group, views))
        self._steps += self.sampler.shape.group
        self.learner.learn(group, share)

    def _report(self, steps_per_s: float, updates_per_s: float) -> None:
        score = sum(self._scores) / max(len(self._scores), 1)
        point = Point(self.seconds / 60, self._steps, self.learner.updates, self._games, score)
        self._points.append(point)
        memory = torch.cuda.max_memory_allocated() / 2**30 if torch.cuda.is_available() else 0.0
        told = "  ".join(f"{name} {value:.4g}" for name, value in self.learner.losses().items())
        log.info(
            "%.1f min  %d steps (%.0f/s)  %d updates (%.0f/s)  %d games  score %.1f  %s  GPU %.1f GiB",
            *(point.minutes, point.steps, steps_per_s, point.updates, updates_per_s, point.games, score, told, memory),
        )

    def _save(self) -> None:
        self.folder.save_weights(self.learner.network)
        self.folder.save_curve(self._points)
        progress = Progress(self.seconds, self._steps, self.learner.updates)
        self.folder.save_all(self.learner.network, self.learner.optimizer, progress)


def train(
    plan: Plan,
    *,
    out: Path,
    schedule: Schedule,
    shape: Shape,
    device: torch.device,
    resume: Path | None = None,
    make: MakeEmulator | None = None,
    seed: int = 1,
) -> None:
    """Train one agent into a folder."""
    torch.manual_seed(seed)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    make = make or functools.partial(AtariEmulator, plan.game)
    with Sampler(make, shape, seed=seed) as sampler:
        learner = plan.learner(shape, device, small=device.type == "cpu")
        training = Training(learner, sampler, Folder(out), schedule)
        if resume is not None:
            training.resume(Folder(resume))
        training.run()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", choices=list(PLANS), required=True)
    parser.add_argument("--out", type=Path, default=Path("run"))
    parser.add_argument("--resume", type=Path, help="folder of a training to go on with")
    parser.add_argument("--minutes", type=float, default=30.0, help="in all; schedules follow it")
    parser.add_argument("--workers", type=int, help="processes with emulators")
    parser.add_argument("--lanes", type=int, help="emulators in all")
    parser.add_argument("--trail", type=int, default=0, help="how many snapshots to keep, for curves over training")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    torch.set_num_threads(2)
    plan = plan_of(args.agent)
    workers = args.workers or min(plan.workers, max((os.cpu_count() or 2) - 1, 1))
    shape = plan.shape(workers, args.lanes)
    log.info("%s: %d emulators in %d processes, %s", plan.title, shape.lanes, shape.workers, args.device)
    schedule = Schedule(whole=args.minutes * 60, trail=args.trail)
    device = torch.device(args.device)
    train(plan, out=args.out, schedule=schedule, shape=shape, device=device, resume=args.resume, seed=args.seed)


if __name__ == "__main__":
    main()
