"""Snapshots during training: the weights and a short recording every so many steps, and subjects made of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from innerview.errors import StoreError, SubjectError
from innerview.jobs.recorded import differences
from innerview.rollouts.learning.ages import OF
from innerview.rollouts.learning.curve import SCORE
from innerview.rollouts.learning.tensorboard import check_tensorboard
from innerview.rollouts.record import check_subject, record
from innerview.store import Snapshot, Study
from innerview.subjects import Subject, from_sb3, tensors_of
from innerview.worlds import world as as_world

if TYPE_CHECKING:
    from stable_baselines3.common.callbacks import BaseCallback


def snapshot(
    study: Study | str | Path,
    subject: Subject,
    world: Any = None,
    *,
    step: int,
    run: str = "training",
    episodes: int = 2,
    seeds: int = 0,
    max_steps: int | None = 1000,
    facts: Mapping[str, Any] | None = None,
    tensorboard: str | Path | None = None,
    observations: str | None = None,
) -> Snapshot:
    """Keep the weights as they are now and, with a world, a short recording of how it plays.

    `facts` are kept with them, such as {"score": …}, the mean return at this step. With `tensorboard`, the folder of
    its logs, health and learning signal are written there as scalars; they are of the recording `observations`, that of
    the run's first snapshot unless said.

    In a plain loop:

        if step % 10_000 == 0:
            iv.snapshot("my.study", subject, world, step=step)
    """
    check_subject(subject)
    if tensorboard is not None:
        check_tensorboard()
    opened = study if isinstance(study, Study) else Study.open_or_create(study)
    kept = {OF: subject.info.name, **(facts or {})}
    taken = Snapshot(run=run, step=step, recording="" if world is None else f"{run} {step:010d}", facts=kept)
    if world is not None:
        _check_free(opened, taken.recording, subject, run)
        record(
            opened,
            subject.named(taken.subject),
            world,
            episodes=episodes,
            seeds=seeds,
            name=taken.recording,
            max_steps=max_steps,
            note=f"Snapshot of '{run}' after {step:,} steps.",
            progress=False,
        )
    opened.save_snapshot(taken, tensors_of(subject.module))
    if tensorboard is not None:
        from innerview.rollouts.learning.scalars import write_scalars  # which loads snapshots

        write_scalars(opened, subject, taken, Path(tensorboard), observations=observations)
    return taken


def _check_free(study: Study, name: str, subject: Subject, run: str) -> None:
    if name not in study.recordings():
        return
    if differences(study.recording(name).info, subject=subject):
        raise StoreError(
            f"'{name}' is there already, from another training. Give this one a name of its own: run='{run} 2'."
        )


def snapshot_callback(
    study: Study | str | Path,
    world: Any = None,
    *,
    every: int = 10_000,
    run: str = "training",
    episodes: int = 2,
    tensorboard: str | Path | None = None,
    observations: str | None = None,
) -> BaseCallback:
    """A callback for stable-baselines3: `model.learn(…, callback=iv.snapshot_callback("my.study", env, every=…))`.

    Give it an environment of its own: the one being trained in must not be played by two at once. The mean return of
    the last training episodes is kept with each snapshot. `tensorboard` and `observations` are as in `iv.snapshot`.
    """
    try:
        from stable_baselines3.common.callbacks import BaseCallback
    except ImportError as error:
        raise SubjectError("snapshot_callback needs stable-baselines3: pip install 'innerview[sb3]'.") from error
    if every < 1:
        raise SubjectError(f"every is a number of steps, 1 or more, not {every}.")
    if tensorboard is not None:
        check_tensorboard()
    opened = study if isinstance(study, Study) else Study.open_or_create(study)
    played = None if world is None else as_world(world)

    class Snapshots(BaseCallback):
        """Takes a snapshot at the start and whenever `every` more steps were made."""

        _next = 0

        def _on_training_start(self) -> None:
            self._next = self.num_timesteps
            if self.num_timesteps and self.num_timesteps in {taken.step for taken in opened.snapshots(run)}:
                self._next += every  # a second learn() goes on from a step that has its snapshot
            else:
                self._take()

        def _on_step(self) -> bool:
            if self.num_timesteps >= self._next:
                self._take()
            return True

        def _take(self) -> None:
            self._next += every
            adapted = from_sb3(self.model)
            returns = [float(each["r"]) for each in self.model.ep_info_buffer or ()]
            snapshot(
                opened,
                adapted,
                played,
                step=self.num_timesteps,
                run=run,
                episodes=episodes,
                facts={SCORE: sum(returns) / len(returns)} if returns else None,
                tensorboard=tensorboard,
                observations=observations,
            )

    return Snapshots()
