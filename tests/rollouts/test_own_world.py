"""The examples of docs/worlds.md by which a world of one's own hides, moves and removes things."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch

import innerview as iv
from innerview.errors import WorldError
from innerview.schema import Moment
from innerview.testing.crossing import SIZE, Walker
from innerview.worlds.crowds import hiding

PAGE = (Path(__file__).parents[2] / "docs" / "worlds.md").read_text(encoding="utf-8")


class Orchard(gymnasium.Env[np.ndarray, int]):
    """A bomb in red at a place that stays, and an apple in green."""

    def __init__(self, hidden: tuple[str, ...] = ()) -> None:
        self.observation_space = gymnasium.spaces.Box(0, 255, (SIZE, SIZE, 3), np.uint8)
        self.action_space = gymnasium.spaces.Discrete(2)
        self.hidden = hidden

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.at: dict[str, tuple[int, int]] = {"bomb": (4, 0), "apple": (0, 4)}
        self.steps = 0
        return self.picture(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        return self.picture(), 0.0, self.steps == 4, False, {}

    def picture(self) -> np.ndarray:
        seen: np.ndarray = np.zeros((SIZE, SIZE, 3), np.uint8)
        for name, (x, y) in self.at.items():
            if name not in self.hidden:
                seen[y : y + 4, x : x + 4, 0 if name == "bomb" else 1] = 255
        return seen

    def box_px(self, name: str) -> dict[str, int]:
        x, y = self.at[name]
        return {"x_px": x, "y_px": y, "width_px": 4, "height_px": 4}

    def moved(self, thing: str, by: tuple[float, float]) -> Moment:
        x, y = self.at[thing]
        self.at[thing] = (x + round(4 * by[0]), y - round(4 * by[1]))
        return Moment(observation={"observation": self.picture()})

    def without(self, thing: str) -> Moment:
        del self.at[thing]
        return Moment(observation={"observation": self.picture()})


def written(heading: str) -> dict[str, Any]:
    """What the example below a heading leaves behind."""
    code = re.findall(r"```python[^\n]*\n(.*?)```", PAGE.partition(f"### {heading}\n")[2], re.DOTALL)[0]
    names: dict[str, Any] = {"iv": iv, "Orchard": Orchard}
    exec(compile(code, "worlds.md", "exec"), names)
    return names


def test_a_world_hides_things_as_the_page_says() -> None:
    made = written("Things that can be hidden")["world"]()
    with hiding(made, "bomb").open(1) as games:
        seen = games.reset(0, 0).observation["observation"]
    assert not seen[..., 0].any() and seen[..., 1].any()


def test_a_world_that_hides_under_the_same_name_is_refused() -> None:
    made = iv.world(Orchard)
    made.hidable, made.hiding = ("bomb",), lambda name: iv.world(lambda: Orchard((name,)))  # type: ignore[attr-defined]
    with pytest.raises(WorldError, match="called the same with 'bomb' invisible"):
        hiding(made, "bomb")


def test_things_are_moved_and_removed_as_the_page_says(tmp_path: Path) -> None:
    names = written("Things that can be moved or taken away")
    agent = iv.subject(Walker(), example=torch.zeros(1, 3, SIZE, SIZE), actions=["stay", "jump"])
    iv.record(tmp_path / "a.study", agent, names["world"], episodes=1, name="x", progress=False)
    study = iv.Study.open(tmp_path / "a.study")
    with iv.what_if(study, "x", row=1, subject=agent, world=names["world"]) as rollout:
        assert [(thing.id, thing.x_px) for thing in rollout.things(0)] == [("bomb", 4)]
        lower = rollout.play([iv.Move(do="move", thing="bomb", by=(0.0, -1.0))])[1].seen.get("observation")
        assert lower[4:, 4:, 0].all() and not lower[:4, :, 0].any()
        gone = rollout.play([iv.Move(do="remove", thing="bomb")])[1].seen.get("observation")
        assert not gone[..., 0].any() and gone[..., 1].any()
