"""Explorable pages as files: what they hold, how large they are, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import innerview_zoo as zoo
import numpy as np
import pytest
import torch
from innerview_zoo.explorable.episode import matters, read_episode, run_recurrence
from innerview_zoo.explorable.grid import GridValues, squeeze
from innerview_zoo.explorable.page import MAX_BYTES, PARTS, SCRIPTS
from innerview_zoo.testing import COARSE, counted, counting, in_maze, mazed
from innerview_zoo.worlds.kitems import poses as kitems_poses
from innerview_zoo.worlds.kitems.poses import can_pose, look_around, pose_grid, sees_change
from torch import nn
from typer.testing import CliRunner

import innerview as iv
from innerview.cli import app
from innerview.errors import InnerviewError, JobError, NotAsRecorded, SubjectError
from innerview.subjects.memory.recurrence import fed, follow, take_apart

CELLS = {
    "gru": lambda: nn.GRUCell(12, 8),
    "lstm": lambda: nn.LSTMCell(12, 8),
}


def about(page: Path) -> dict:
    found = re.search(r'<script id="about" type="application/json">(.*?)</script>', page.read_text("utf-8"))
    assert found
    return json.loads(found[1])


def script(name: str) -> str:
    return (PARTS / name).read_text("utf-8")


def fields(interface: str) -> set[str]:
    """Names in an interface of the scripts' types."""
    body = re.search(rf"^interface {interface} \{{\n(.*?)^\}}", script("types.d.ts"), re.DOTALL | re.MULTILINE)
    assert body
    return set(re.findall(r"^  (\w+)\??:", body[1], re.MULTILINE))


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("deep", [False, True])
def test_the_parts_of_a_policy_compute_what_the_module_does(tmp_path: Path, kind: str, deep: bool) -> None:
    subject = counting(CELLS[kind](), deep=deep)
    study = counted(tmp_path / "a.study", subject)
    recording = study.recording("walks")
    played = read_episode(recording, subject, 1, max_steps=0)
    start, stop = recording.group_rows(1)
    states = run_recurrence(played.recurrence, played.arrays["gates"])
    name = "memory" if kind == "gru" else "memory.core.hidden"
    np.testing.assert_allclose(states, recording.array(name, start, stop), atol=1e-5)
    logits = follow(played.recurrence.policy, torch.from_numpy(states))
    chances = torch.softmax(logits, dim=1).numpy()
    np.testing.assert_allclose(chances, recording.array("probabilities", start, stop), atol=1e-5)


def test_the_random_numbers_are_those_that_were_drawn(tmp_path: Path) -> None:
    subject = counting(nn.GRUCell(12, 8))
    study = counted(tmp_path / "a.study", subject)
    played = read_episode(study.recording("walks"), subject, 2, max_steps=50)
    assert played.draws == "recorded" and len(played.arrays["draws"]) == 50
    total = np.cumsum(played.arrays["probabilities"], axis=1)
    chosen = (played.arrays["draws"][:30, None] >= total).sum(axis=1)
    np.testing.assert_array_equal(chosen, played.arrays["actions"])


def test_a_page_holds_its_data_as_data_and_asks_for_nothing(tmp_path: Path) -> None:
    subject = counting(nn.GRUCell(12, 8), name="</script><img src=x onerror=alert(1)>")
    study = counted(tmp_path / "a.study", subject)
    study.save_reduction(iv.EditSet(name="<b>half</b>", edits=(iv.SiteEdit(elements=(0, 1, 2, 3)),)))
    study.save_reduction(iv.EditSet(name="elsewhere", edits=(iv.SiteEdit(elements=(99,)),)))
    page = zoo.export_explorable(study, subject, tmp_path / "page.html", progress=False)
    text = page.read_text("utf-8")
    assert text.count("<script") == 3 and "<img" not in text and "<b>half" not in text
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", text) and "@import" not in text
    assert "default-src 'none'" in text and "unsafe" not in text.partition("</head>")[0]
    told = about(page)
    assert told["subject"] == subject.info.name and told["grid"] is None
    assert [each["name"] for each in told["reductions"]] == ["<b>half</b>"]
    assert len(text.encode()) < MAX_BYTES


def test_the_types_of_the_scripts_are_those_of_the_data(tmp_path: Path) -> None:
    study, subject = mazed(tmp_path / "m.study")
    study.save_reduction(iv.EditSet(name="half", edits=(iv.SiteEdit(elements=(0, 1)),)))
    data = about(zoo.export_explorable(study, subject, tmp_path / "page.html", fineness=COARSE, progress=False))
    assert fields("About") == set(data) and fields("Grid") == set(data["grid"])
    assert fields("PictureSheet") == set(data["pictures"])
    assert fields("Reduction") == set(data["reductions"][0])
    assert fields("Edit") <= set(data["reductions"][0]["edits"][0])
    types = {each["name"]: each["type"] for each in data["arrays"]}
    scripts = "".join(script(f"{name}.js") for name in SCRIPTS)
    read = re.findall(r"""arrays\.(?:get|find)\(["`]([\w${}]+)["`], (\w+)Array\)""", scripts)
    assert len(read) > 15
    for name, kind in read:
        if name != "start_1":
            assert types[name.replace("${i}", "0")] == kind.lower()


def test_the_scripts_know_the_parts_of_the_page() -> None:
    tags = {name: tag for tag, name in re.findall(r"""<(\w+)[^>]*? id="(\w+)\"""", script("page.html"))}
    named = dict(re.findall(r"^  (\w+): HTML(\w*)Element,$", script("markup.js"), re.MULTILINE))
    assert named and set(named) <= set(tags)
    assert not {name: tags[name] for name, kind in named.items() if kind and kind.lower() != tags[name]}


def test_the_most_rewarded_episode_is_reported_where_none_is_named(tmp_path: Path) -> None:
    subject = counting(nn.GRUCell(12, 8))
    study = counted(tmp_path / "a.study", subject)
    page = zoo.export_explorable(study, subject, tmp_path / "page.html", progress=False)
    groups = study.recording("walks").groups()
    assert about(page)["return"] == pytest.approx(groups["return"].max())


class TwoGates(nn.Module):
    """A policy that looks past its memory."""

    def __init__(self) -> None:
        super().__init__()
        self.core, self.policy = nn.GRUCell(8 * 8 * 3, 8), nn.Linear(8 + 192, 3)

    def forward(self, x: torch.Tensor, h: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        state = self.core(x.flatten(1), h)
        return self.policy(torch.cat([state, x.flatten(1)], dim=1)), state


def forgetful() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(8 * 8 * 3, 3))


@pytest.mark.parametrize(
    ("module", "said"),
    [
        (forgetful, "no memory"),
        (TwoGates, "cannot be seen how"),
        (lambda: _walker(nn.RNNCell(12, 8)), "GRU, GRUCell, LSTM"),
    ],
)
def test_agents_that_cannot_be_taken_apart_say_what_can(tmp_path: Path, module: object, said: str) -> None:
    made = iv.subject(
        module(),  # type: ignore[operator]
        name="odd one",
        example=torch.zeros(1, 3, 8, 8),
        actions=["left", "right", "forward"],
        heads="policy",
    )
    study = counted(tmp_path / "a.study", made)
    with pytest.raises(SubjectError, match=said) as caught:
        zoo.export_explorable(study, made, tmp_path / "page.html", progress=False)
    assert "LSTMCell" in str(caught.value) and not (tmp_path / "page.html").exists()


def _walker(core: nn.Module) -> nn.Module:
    return counting(core).module


def test_bad_requests_are_reported_what_would_be_right(tmp_path: Path) -> None:
    subject = counting(nn.GRUCell(12, 8))
    study = counted(tmp_path / "a.study", subject)

    def refused(message: str, out: str = "page.html", **settings: object) -> None:
        with pytest.raises(InnerviewError, match=message):
            zoo.export_explorable(study, subject, tmp_path / out, progress=False, **settings)  # type: ignore[arg-type]

    refused("Unknown episode '7'.*0, 1, 2", episode=7)
    refused("Unknown recording 'walk'.*Did you mean 'walks'", recording="walk")
    refused("Unknown file ending '.pdf'", out="page.pdf")
    refused("no folder", out="nowhere/page.html")
    refused("Unknown reduction 'half'", reductions=["half"])
    study.save_reduction(iv.EditSet(name="elsewhere", edits=(iv.SiteEdit(elements=(99,)),)))
    refused("element 99 of 8", reductions=["elsewhere"])
    torch.manual_seed(9)
    other = counting(nn.GRUCell(12, 8))
    with torch.no_grad():
        other.module.core.bias_hh += 0.1
    with pytest.raises(NotAsRecorded, match="weights of 'walker' changed"):
        zoo.export_explorable(study, other, tmp_path / "page.html", progress=False)


def test_a_reduced_recording_is_not_the_beginning_of_a_story(tmp_path: Path) -> None:
    subject = counting(nn.GRUCell(12, 8))
    study = counted(tmp_path / "a.study", subject, edits=[iv.SiteEdit(elements=(1,))])
    with pytest.raises(JobError, match="reduced memory"):
        zoo.export_explorable(study, subject, tmp_path / "page.html", progress=False)


def test_a_memory_that_does_not_fit_is_refused_with_numbers(tmp_path: Path) -> None:
    subject = counting(nn.GRUCell(12, 640))
    study = counted(tmp_path / "a.study", subject)
    with pytest.raises(JobError, match=r"pages stay under 3 MB.*640 elements"):
        zoo.export_explorable(study, subject, tmp_path / "page.html", progress=False)
    assert not (tmp_path / "page.html").exists()


def test_rounding_gets_finer_with_room_and_keeps_to_it() -> None:
    rng = np.random.default_rng(0)
    blocks = np.cumsum(rng.normal(size=(40, 16, 3)), axis=1) @ rng.normal(size=(3, 24))
    values = GridValues(None, np.arange(40)[None], blocks.astype(np.float16))  # type: ignore[arg-type]
    even = np.ones(24, np.float32)
    coarse, fine = squeeze(values, 1_500, even), squeeze(values, 3_000, even)
    assert fine.error < coarse.error < 0.5
    low, high = (fine.planes[name].astype(np.int32) for name in ("codes_low", "codes_high"))
    codes = np.cumsum(((high << 8) | low).astype(np.uint16).astype(np.int16), axis=2)
    back = fine.mean + fine.step * np.einsum("dbh,dg->bhg", codes, fine.basis)
    spread = np.sqrt(((blocks - fine.mean) ** 2).mean())
    assert np.sqrt(((back - blocks) ** 2).mean()) / spread == pytest.approx(fine.error, rel=0.1)


def test_what_matters_is_what_moves_the_next_state() -> None:
    subject = counting(nn.GRUCell(12, 8))
    recurrence = take_apart(subject, subject.inputs({"observation": np.zeros((1, 8, 8, 3), np.uint8)}))
    gates = np.random.default_rng(1).normal(size=(40, 24)).astype(np.float32)
    slope, states = matters(recurrence, gates), run_recurrence(recurrence, gates)
    moved = gates.copy()
    moved[-1, 16:] += 1e-3
    change = np.abs(run_recurrence(recurrence, moved)[-1] - states[-1]) / 1e-3
    assert slope.shape == (24,) and (slope > 0).all()
    assert np.corrcoef(slope[16:], change)[0, 1] > 0, "the new gate moves the state the more, the more it matters"


def test_poses_lie_where_a_player_can_stand_and_show_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    subject, world = in_maze()
    assert can_pose(world.info) and not can_pose(iv.world("doom:basic").info)
    grid = pose_grid(world.info, 1_000_003, lines_per_cell=2, headings=16)
    assert grid.places.min() == 16 and grid.places.max() == 2 * 160 - 16
    expected = sees_change(grid, 1)
    everything = np.ones_like(expected)
    monkeypatch.setattr(kitems_poses, "sees_change", lambda grid, gathered: everything)
    seen = {(each.gathered, each.place): each.frames for each in look_around(world.info, grid)}
    places = range(len(grid.places))
    changed = np.stack([(seen[0, place] != seen[1, place]).any(axis=(1, 2, 3)) for place in places])
    assert changed.any() and not (changed & ~expected).any(), "only where it is expected does the gathered item go"
    assert (changed & expected).sum() > expected.sum() / 2
    recurrence = take_apart(subject, subject.inputs({"observation": seen[0, 0][:1]}))
    assert fed(subject, recurrence, subject.inputs({"observation": seen[0, 0]})).shape == (16, 12)


def test_a_maze_gets_a_grid_that_is_looked_at_once(tmp_path: Path) -> None:
    study, subject = mazed(tmp_path / "m.study")
    page = zoo.export_explorable(study, subject, tmp_path / "page.html", fineness=COARSE, progress=False)
    told = about(page)
    assert told["grid"]["states"] == 2 and told["limit"] == 525 and len(told["items"]) == 2
    assert page.stat().st_size < MAX_BYTES
    kept = next((study.path / "cache").glob("poses-*.npy"))
    before = kept.stat().st_mtime_ns
    again = zoo.export_explorable(study, subject, tmp_path / "again.html", fineness=COARSE, progress=False)
    assert kept.stat().st_mtime_ns == before and again.read_bytes() == page.read_bytes()
    assert not iv.check(study.path)


def test_from_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    counted(tmp_path / "a.study", counting(nn.GRUCell(12, 8)))
    (tmp_path / "agent.py").write_text(
        "from torch import nn\nfrom innerview_zoo.testing import counting\n"
        "def make():\n    return counting(nn.GRUCell(12, 8))\n"
    )
    words = ["explorable", "a.study", "page.html", "--episode", "2", "--title", "A & <B>"]
    with pytest.raises(InnerviewError, match=r"no bundled model has them.*--subject"):
        CliRunner().invoke(app, words, catch_exceptions=False)
    done = CliRunner().invoke(app, [*words, "--subject", "agent.py:make"], catch_exceptions=False)
    assert done.exit_code == 0 and "page.html" in done.output
    assert about(tmp_path / "page.html")["episode"] == 2
    assert "<title>A &amp; &lt;B&gt;</title>" in (tmp_path / "page.html").read_text("utf-8")
    rows = CliRunner().invoke(app, ["export", "a.study", "rows.csv", "--episode", "1"], catch_exceptions=False)
    assert rows.exit_code == 0 and (tmp_path / "rows.csv").is_file()
