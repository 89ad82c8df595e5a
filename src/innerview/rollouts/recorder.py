"""Records somebody's own loop: for people who keep their environment to themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from innerview.capture import Piece, group_line
from innerview.capture.logged import LoggedStep, NotBelieved, StepLog
from innerview.errors import CaptureError, SubjectError, WorldError
from innerview.rollouts.jobs import BLOCK_ROWS
from innerview.rollouts.record import check_subject
from innerview.schema import LoggedWith, Origin, RecordingInfo
from innerview.store import Recording, RecordingWriter, Study
from innerview.store.paths import free_name, plain_name
from innerview.subjects import Subject
from innerview.worlds.gym.calls import checked_reward

OVER, CUT, LEFT_OFF = "ended", "time limit", "left off"


class Recorder:
    """Takes steps one by one, as `iv.recorder` gives it. Rows become safe on disk a block at a time."""

    def __init__(
        self,
        study: Study,
        subject: Subject | None,
        *,
        name: str,
        actions: Sequence[str] | None,
        keep: Sequence[str],
        note: str,
        block_rows: int,
        overwrite: bool,
    ) -> None:
        self.study, self.name = study, name
        self._subject, self._actions, self._keep, self._note = subject, actions, keep, note
        self._block_rows, self._overwrite = block_rows, overwrite
        self._log: StepLog | None = None
        self._writer: RecordingWriter | None = None
        self._group_columns: tuple[str, ...] = ()
        self._rows = self._start = 0
        self._held: list[Piece] = []
        """The first rows, until what the subject says of them was replayed."""
        self._over = ""

    @property
    def recording(self) -> Recording:
        """What was recorded, as far as it is on disk."""
        return self.study.recording(self.name)

    def step(
        self,
        observation: Any,
        action: Any,
        *,
        reward: float = 0.0,
        done: bool | str = False,
        truncated: bool = False,
        probabilities: Any = None,
        value: Any = None,
        memory: Any = None,
        **facts: Any,
    ) -> None:
        """One step: what was seen, what was done, what that earned, and what was true when it was seen.

        `done` says that the episode is over after this step, or in words why ("died"); `truncated` that it is cut short
        here and would have gone on, as at a time limit. Without a subject the model's
        own `probabilities`, `value` and `memory` (after it saw the observation) can be given. Anything else is a fact
        by name.
        """
        if self._over:
            raise CaptureError(f"'{self.name}' takes no more steps: {self._over}")
        said = {"probabilities": probabilities, "value": value, "memory": memory}
        if self._subject is not None and (given := [name for name, each in said.items() if each is not None]):
            raise CaptureError(
                f"{', '.join(given)} come from '{self._subject.info.name}', which is asked at each step. Leave them "
                "out, or the subject."
            )
        outcome = done if isinstance(done, str) else CUT if truncated else OVER if done else ""
        cut = bool(truncated) and bool(outcome)
        step = LoggedStep(observation=observation, action=action, outcome=outcome, cut=cut, said=said, facts=facts)
        try:
            step = replace(step, reward=checked_reward(reward))
            if self._log is None:
                self._begin(step)
            assert self._log is not None, "it has begun"
            self._take(self._log.add(step))
        except NotBelieved as problem:
            self._refuse(problem)
            raise
        except (CaptureError, WorldError, SubjectError, ValueError, KeyError, TypeError, IndexError) as problem:
            where = self._log.where if self._log else "step 0 of episode 0"
            raise CaptureError(f"'{self.name}' cannot take {where}: {problem}") from problem

    def close(self, outcome: str = LEFT_OFF) -> None:
        """Write what is in hand; an episode that is not over ends here, with that outcome."""
        self._over = self._over or "it is closed. Begin another with iv.recorder(…)."
        if self._writer is None or self._log is None:
            return
        try:
            self._take(self._log.end(outcome))
        except NotBelieved as problem:
            self._refuse(problem)
            raise
        writer, self._writer = self._writer, None
        if self._rows:
            writer.finish()
        else:
            writer.close()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(LEFT_OFF if kind is None else f"stopped: {kind.__name__}")

    def _begin(self, first: LoggedStep) -> None:
        self._log = StepLog(first, self._subject, actions=self._actions, keep=self._keep)
        form, subject = self._log.form, self._subject
        info = RecordingInfo(
            name=self.name,
            origin=Origin(kind="logged", by=subject.info.name if subject else "", source="a loop of one's own"),
            row=form.row,
            ordering=form.ordering,
            columns=form.columns,
            arrays=form.arrays,
            group_columns=form.group_columns,
            subject=replace(subject.info, identity=subject.identity()) if subject else None,
            note=self._note,
            arguments=LoggedWith(keep=form.sites.keep),
        )
        self._group_columns = tuple(column.name for column in form.group_columns)
        self._writer = self.study.writer(info, block_rows=self._block_rows, overwrite=self._overwrite)

    def _take(self, piece: Piece | None) -> None:
        self._held += [piece] if piece is not None else []
        if self._log is not None and self._log.believed:
            held, self._held = self._held, []
            for each in held:
                self._write(each)

    def _refuse(self, problem: NotBelieved) -> None:
        """Keep nothing."""
        self._over, self._held = f"nothing was recorded. {problem}", []
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()

    def _write(self, piece: Piece) -> None:
        assert self._writer is not None, "it has begun"
        self._writer.append(piece.rows, piece.arrays)
        self._rows += len(piece.rows["episode"])
        if (summary := piece.summary) is not None:
            line = group_line(piece.episode, self._start, summary, cut=piece.cut, scene="")
            self._writer.end_group({column: line[column] for column in self._group_columns})
            self._start = self._rows


def recorder(
    study: Study | str | Path,
    subject: Subject | None = None,
    *,
    name: str | None = None,
    actions: Sequence[str] | None = None,
    keep: Sequence[str] = (),
    note: str = "",
    block_rows: int = BLOCK_ROWS,
    overwrite: bool = False,
) -> Recorder:
    """Record a loop of your own, step by step, without giving away the environment.

        with iv.recorder("my.study", agent, actions=["left", "right"]) as r:
            for _ in range(10):
                observation, done = env.reset(), False
                while not done:
                    action = choose(observation)
                    after, reward, done = env.step(action)
                    r.step(observation, action, reward=reward, done=done, x=env.x)
                    observation = after

    A subject is asked what it says of each observation, with its memory carried along each episode; without one, what
    is given is kept. `block_rows` rows at a time become safe on disk; whoever is killed loses the block in hand. A name
    that is taken gets a number ("name no 2"), unless `overwrite=True`.
    """
    if subject is not None:
        check_subject(subject)
    opened = study if isinstance(study, Study) else Study.open_or_create(study)
    taken = set(opened.recordings())
    wanted = name or plain_name(f"{subject.info.name} logged" if subject else "logged")
    return Recorder(
        opened,
        subject,
        name=wanted if overwrite else free_name(wanted, lambda name: name not in taken),
        actions=actions,
        keep=(keep,) if isinstance(keep, str) else tuple(keep),
        note=note,
        block_rows=block_rows,
        overwrite=overwrite,
    )
