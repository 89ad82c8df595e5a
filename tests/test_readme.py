"""The examples of the README run as they are written."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import gymnasium
import httpx
import numpy as np
import pytest
import sb3_contrib
import stable_baselines3

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
EXAMPLES = [code for code in re.findall(r"```python[^\n]*\n(.*?)```", README, re.DOTALL) if "iv.record" in code]
KINDS = ("stable_baselines3", "sb3_contrib", "nn.GRUCell")


class Lights(gymnasium.Env[np.ndarray, int]):
    """A picture with a bright side; going there is right."""

    def __init__(self) -> None:
        self.observation_space = gymnasium.spaces.Box(0, 255, (36, 36, 3), np.uint8)
        self.action_space = gymnasium.spaces.Discrete(2)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.steps = 0
        return self._look(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        reward = float(action == self.bright)
        self.steps += 1
        return self._look(), reward, False, self.steps >= 12, {}

    def _look(self) -> np.ndarray:
        self.bright = int(self.np_random.integers(2))
        picture = np.zeros((36, 36, 3), np.uint8)
        picture[:, 18 * self.bright : 18 * self.bright + 18] = 200
        return picture


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Training ends after the first few steps: how well an agent plays is no matter here, and minutes are."""

    def briefly(algorithm: type[Any]) -> None:
        learn = algorithm.learn

        def learn_briefly(self: Any, total_timesteps: int, **rest: Any) -> Any:
            self.n_epochs = 1
            return learn(self, min(total_timesteps, 1), **rest)

        monkeypatch.setattr(algorithm, "learn", learn_briefly)

    briefly(stable_baselines3.PPO)
    briefly(sb3_contrib.RecurrentPPO)


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("kind", KINDS)
def test_the_example_runs_as_written(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = [example for example in EXAMPLES if kind in example]
    monkeypatch.chdir(tmp_path)
    *lines, last = ast.parse(code).body
    assert isinstance(last, ast.Expr), "the example ends by showing the study"
    names: dict[str, Any] = {"env": Lights()}
    stable_baselines3.PPO("CnnPolicy", Lights()).save("agent.zip")
    exec(compile(ast.Module(lines, []), "README.md", "exec"), names)
    handle = eval(compile(ast.Expression(last.value), "README.md", "eval"), names)
    try:
        head = {"Authorization": f"Bearer {handle.token}"}
        study = httpx.get(f"{handle.address}api/study", headers=head, timeout=60).raise_for_status().json()
    finally:
        handle.close()
    (recording,) = study["recordings"]
    assert len(study["live_subjects"]) == len(study["live_worlds"]) == 1, "there is something to look into and to play"
    assert (recording["rows"], recording["groups"], recording["complete"]) == (120, 10, True)


def test_there_is_an_example_of_each_kind() -> None:
    assert len(EXAMPLES) == len(KINDS)
    five = next(code for code in EXAMPLES if KINDS[0] in code)
    assert len(five.strip().splitlines()) == 5
