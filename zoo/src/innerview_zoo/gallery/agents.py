"""The agents of the gallery: the paper's six rows, each in an episode of its own."""

from __future__ import annotations

from dataclasses import dataclass

import innerview as iv
from innerview.store import Recording, Study
from innerview.subjects import Subject

SEED = 3_000_000
"""Of the one game that each agent plays; training draws its own below 2**31 at random."""
STEPS = range(60, 124)
"""Those that are measured; the pictures show the one in their middle."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """An agent of the gallery beside the one of the paper that it stands for."""

    name: str
    title: str
    paper: str
    age: str = "final"
    streams: bool = False
    """Whether value and advantage are looked at on their own, and Grad-CAM at each convolution (table 2)."""
    back: tuple[int, ...] = ()
    """Frames before the last that are looked at (table 3)."""
    younger: tuple[str, ...] = ()
    """Ages to compare with."""

    @property
    def key(self) -> str:
        """Name of its recording."""
        return self.name if self.age == "final" else f"{self.name}.{self.age}"


ROWS = (
    Row(
        name="breakout_dqn",
        title="Breakout, dueling DQN",
        paper="DDDQN, Breakout",
        streams=True,
        back=(1, 2, 3),
        younger=("early", "middle"),
    ),
    Row(name="seaquest_dqn", title="Seaquest, dueling DQN", paper="DDDQN, Seaquest", younger=("early", "middle")),
    Row(
        name="seaquest_split",
        title="Seaquest, split attention",
        paper="Split. At. DDDQN (bi. LSTM), Seaquest",
        streams=True,
        back=(9,),
        younger=("middle",),
    ),
    Row(name="breakout_ac", title="Breakout, actor-critic", paper="A3C, Breakout", younger=("early", "middle")),
    Row(name="seaquest_ac", title="Seaquest, actor-critic", paper="A3C, Seaquest"),
    Row(
        name="seaquest_lstm",
        title="Seaquest, actor-critic with LSTM",
        paper="A3C with LSTM, Seaquest",
        younger=("early", "middle"),
    ),
)
YOUNG = Row(
    name="seaquest_split",
    title="Seaquest, split attention, young",
    paper="Split. At. DDDQN after 325 episodes",
    age="middle",
)
"""Of table 4."""


@dataclass(frozen=True, kw_only=True)
class RecordedAgent:
    """A row with the agent loaded and its episode recorded."""

    row: Row
    subject: Subject
    study: Study
    recording: Recording
    steps: range
    """Those that are measured."""

    @property
    def shown(self) -> int:
        """The step that is pictured, counted from the first that is measured."""
        return len(self.steps) // 2

    @property
    def pictured(self) -> range:
        """The row that is pictured."""
        step = self.steps[self.shown]
        return range(step, step + 1)

    @property
    def actions(self) -> tuple[str, ...]:
        """By name."""
        head = self.subject.acting_head
        assert head is not None  # Atari agents act
        return tuple(head.names)


def recorded(study: Study, row: Row, steps: range) -> RecordedAgent:
    """Load an agent and let it play, unless the study has its episode."""
    import innerview_zoo as zoo

    subject, world = zoo.load(row.name) if row.age == "final" else zoo.load(row.name, snapshot=row.age)
    if row.key not in study.recordings():
        iv.record(
            study,
            subject,
            world,
            episodes=1,
            seeds=SEED,
            max_steps=steps.stop,
            name=row.key,
            greedy=True,
            progress=False,
        )
    return RecordedAgent(row=row, subject=subject, study=study, recording=study.recording(row.key), steps=steps)
