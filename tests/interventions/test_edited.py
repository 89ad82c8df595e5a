"""A recording with edits is what one computes by hand: changed before the heads read it and before it is carried."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import innerview as iv
from innerview.errors import CaptureError, EditError, StoreError
from innerview.schema import EditSet, SiteEdit
from innerview.testing.worlds import CountingWorld

SIZE = 8
HALF = (0, 2, 5, 7)


class Agent(nn.Module):
    """As the bundled Doom agents, for pictures of 8 × 8."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 3, 2)
        self.conv2 = nn.Conv2d(6, 4, 2)
        self.dense = nn.Linear(4 * 2 * 2, SIZE)
        self.gru = nn.GRUCell(SIZE, SIZE)
        self.policy = nn.Linear(SIZE, 3)
        self.value = nn.Linear(SIZE, 1)

    def forward(self, frame: Tensor, memory: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        seen = F.relu(self.conv2(F.relu(self.conv1(frame))))
        memory = self.gru(F.relu(self.dense(seen.flatten(1))), memory)
        return self.policy(memory), self.value(memory), memory


@pytest.fixture(scope="module")
def subject() -> iv.Subject:
    with torch.random.fork_rng():
        torch.manual_seed(3)
        agent = Agent()
    with torch.no_grad():
        for layer in (agent.gru, agent.policy):  # an agent that makes much of what it remembers
            for weight in layer.parameters():
                weight.mul_(2.5)
    return iv.subject(agent, name="agent", example=torch.zeros(1, 3, 8, 8))


@torch.no_grad()
def by_hand(weights: dict[str, Tensor], frames: np.ndarray, edit: SiteEdit) -> tuple[np.ndarray, ...]:
    """Memory, probabilities and value of one episode, written out: no layer of torch and no hook."""
    w = {name: value.double() for name, value in weights.items()}
    h, before = torch.zeros(SIZE, dtype=torch.float64), torch.zeros(SIZE, dtype=torch.float64)
    memory, chances, values = [], [], []
    for step, frame in enumerate(frames):
        x = torch.from_numpy(frame).double().permute(2, 0, 1)[None] / 255
        x = F.relu(F.conv2d(x, w["conv1.weight"], w["conv1.bias"], stride=2))
        x = F.relu(F.conv2d(x, w["conv2.weight"], w["conv2.bias"]))
        x = F.relu(w["dense.weight"] @ x.flatten() + w["dense.bias"])
        gi, gh = w["gru.weight_ih"] @ x + w["gru.bias_ih"], w["gru.weight_hh"] @ h + w["gru.bias_hh"]
        reset, update = torch.sigmoid(gi[:SIZE] + gh[:SIZE]), torch.sigmoid(gi[SIZE:-SIZE] + gh[SIZE:-SIZE])
        new = torch.tanh(gi[-SIZE:] + reset * gh[-SIZE:])
        before, h = h, (1 - update) * new + update * h
        if edit.start <= step < (edit.stop or 10**9):
            for element in edit.elements:
                h[element] = {"zero": 0.0, "set": edit.value, "freeze": before[element]}[edit.op]
        memory.append(h.clone())
        chances.append(torch.softmax(w["policy.weight"] @ h + w["policy.bias"], 0))
        values.append(w["value.weight"] @ h + w["value.bias"])
    return tuple(torch.stack(part).numpy() for part in (memory, chances, values))


EDITS = {
    "zero": SiteEdit(elements=HALF),
    "zero for a while": SiteEdit(elements=HALF, start=4, stop=11),
    "freeze": SiteEdit(elements=HALF, op="freeze", start=5),
    "freeze from the start": SiteEdit(elements=(1, 2), op="freeze"),
    "set": SiteEdit(elements=(3, 4), op="set", value=-1.5, start=2),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_recording_equals_the_one_computed_by_hand(name: str, subject: iv.Subject, tmp_path: Path) -> None:
    edit = EDITS[name]
    made = iv.record(
        tmp_path / "a.study", subject, CountingWorld(), episodes=5, seeds=3, lanes=3, edits=edit, progress=False
    )
    weights = dict(subject.module.named_parameters())
    for start, stop in made.groups()["start", "stop"].iter_rows():
        memory, chances, values = by_hand(weights, made.array("observation", start, stop), edit)
        np.testing.assert_allclose(made.array("memory", start, stop), memory, atol=1e-5)
        np.testing.assert_allclose(made.array("probabilities", start, stop), chances, atol=1e-5)
        np.testing.assert_allclose(made.columns(["value"], start, stop)["value"], values[:, 0], atol=1e-5)


def test_an_edit_of_the_carried_state_alone_would_be_found_out(subject: iv.Subject, tmp_path: Path) -> None:
    """At the first step nothing was carried yet: what the heads say already differs, and by far more than 1e-5."""
    full = iv.record(tmp_path / "a.study", subject, CountingWorld(), episodes=1, name="full", progress=False)
    edit = SiteEdit(elements=tuple(range(SIZE)))
    none = iv.record(
        tmp_path / "a.study", subject, CountingWorld(), episodes=1, name="none", edits=edit, progress=False
    )
    assert np.array_equal(full.array("observation", 0, 1), none.array("observation", 0, 1))
    assert np.abs(full.array("probabilities", 0, 1) - none.array("probabilities", 0, 1)).max() > 1e-2
    bias = subject.module.policy.bias.detach().softmax(0).numpy()  # type: ignore[union-attr,operator]
    np.testing.assert_allclose(none.array("probabilities", 0, none.rows), np.tile(bias, (none.rows, 1)), atol=1e-6)
    assert not none.array("memory", 0, none.rows).any()


def test_edits_distinguish_recordings_and_continue_only_with_the_same(subject: iv.Subject, tmp_path: Path) -> None:
    study = tmp_path / "a.study"
    reduction = EditSet(name="half", edits=(SiteEdit(elements=HALF),))
    made = iv.record(study, subject, CountingWorld(), episodes=2, name="x", edits=reduction, progress=False)
    (kept,) = made.info.edits
    assert kept == SiteEdit(elements=HALF, site="gru/h", op="zero")
    again = iv.record(study, subject, CountingWorld(), episodes=2, name="x", edits=reduction, progress=False)
    assert again.rows == made.rows
    with pytest.raises(StoreError, match="edits"):
        iv.record(study, subject, CountingWorld(), episodes=2, name="x", progress=False)
    plain = iv.record(study, subject, CountingWorld(), episodes=2, name="y", progress=False)
    assert plain.info.edits == ()


def test_edits_that_do_not_fit_are_refused_before_anything_is_made(subject: iv.Subject, tmp_path: Path) -> None:
    with pytest.raises(EditError, match="elements 0 to 7"):
        iv.record(tmp_path / "a.study", subject, CountingWorld(), edits=SiteEdit(elements=(8,)), progress=False)
    forgetful = iv.subject(
        nn.Sequential(nn.Flatten(), nn.Linear(192, 3)), example=torch.zeros(1, 3, 8, 8), heads="policy"
    )
    with pytest.raises(EditError, match="no memory"):
        iv.record(tmp_path / "a.study", forgetful, CountingWorld(), edits=SiteEdit(elements=(0,)), progress=False)
    assert not (tmp_path / "a.study").exists()


@pytest.mark.parametrize(
    ("reads", "said"), [(0.0, r"At step 4, element \d of 'gru/h' became not"), (1.0, "Head 'policy'")]
)
def test_an_edit_that_makes_no_number_stops_the_recording(reads: float, said: str, tmp_path: Path) -> None:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        agent = Agent()
    with torch.no_grad():
        agent.gru.weight_hh.fill_(9.0)
        agent.gru.weight_hh[:SIZE].fill_(-9.0)  # the reset gate closes on an infinite candidate: 0 times infinity
        agent.policy.weight.fill_(9.0 * reads)
        agent.value.weight.zero_()
    subject = iv.subject(agent, name="agent", example=torch.zeros(1, 3, 8, 8))
    edit = SiteEdit(elements=(0, 1), op="set", value=3e38, start=3)
    with pytest.raises(CaptureError, match=rf"episode 0: {said}.*(Set elements|and the edits)"):
        iv.record(tmp_path / "a.study", subject, CountingWorld(), episodes=1, edits=edit, progress=False)
    kept = iv.Study.open(tmp_path / "a.study").recording("agent in counting")
    assert kept.rows >= 3, "what was played before is there to be looked at"


def test_an_interrupted_edited_recording_goes_on_as_it_would_have(subject: iv.Subject, tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    def stopping(done: int, total: int | None, message: str = "") -> None:
        if done >= 2:
            raise Stop

    edit = SiteEdit(elements=HALF, op="freeze", start=3)
    given = {"episodes": 4, "name": "x", "edits": edit, "block_rows": 16, "lanes": 2}
    whole = iv.record(tmp_path / "a.study", subject, CountingWorld(), progress=False, **given)  # type: ignore[arg-type]
    with pytest.raises(Stop):
        iv.record(tmp_path / "b.study", subject, CountingWorld(), progress=stopping, **given)  # type: ignore[arg-type]
    rest = iv.record(tmp_path / "b.study", subject, CountingWorld(), progress=False, **given)  # type: ignore[arg-type]
    assert np.array_equal(whole.array("memory", 0, whole.rows), rest.array("memory", 0, rest.rows))
