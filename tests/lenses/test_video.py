"""Videos of maps: decoded again, and compared with heat that is drawn by hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import innerview as iv
from innerview.errors import DamagedPart, LensError, NotAsRecorded, StoreError, UnknownName
from innerview.jobs.context import Context
from innerview.lenses.video.colours import MAX_OPACITY, SIGNS, STEEPNESS, TURBO
from innerview.lenses.video.job import VideoJob, VideoMap
from innerview.lenses.video.sheet import laid_out, shortened
from innerview.lenses.video.work import Film, VideoWork
from innerview.schema import ArraySpec, Ordering, unwatched
from innerview.store import Study, write_rows
from tests.store.samples import flip
from tests.videos import decoded

ROWS, SIZE, FRAMES = 12, 16, 4
SIX = ("guided", "gradcam", "g2gradcam", "gradient", "occlusion", "sarfa")
PAGE = Path(__file__).resolve().parents[2] / "web" / "src"


class Stack(nn.Module):
    """Four grey frames, two convolutions, a policy and a value."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(FRAMES, 6, 3, padding=1), nn.Conv2d(6, 4, 3, stride=2, padding=1)
        self.policy, self.value = nn.Linear(4 * 64, 3), nn.Linear(4 * 64, 1)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        seen = torch.relu(self.conv2(torch.relu(self.conv1(x / 255)))).flatten(1)
        return {"q": self.policy(seen), "value": self.value(seen)}


def player(name: str = "player", seed: int = 4) -> iv.Subject:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return iv.subject(
            Stack(), name=name, example=torch.zeros(1, FRAMES, SIZE, SIZE), actions=["left", "stay", "right"]
        )


def filled(study: Study, name: str = "run") -> None:
    """Two episodes of pictures, each a stack of four frames that differ."""
    frames = np.random.default_rng(7).integers(0, 256, (ROWS, SIZE, SIZE, FRAMES)).astype(np.uint8)
    axes = ("height", "width", "channel")
    spec = ArraySpec(name="observation", shape=frames.shape[1:], dtype="uint8", role="observation", axes=axes)
    columns = {"episode": [0] * 8 + [1] * 4, "step": [*range(8), *range(4)]}
    write_rows(study, name, columns=columns, arrays={"observation": frames}, specs=[spec], ordering=Ordering())


@pytest.fixture
def study(tmp_path: Path) -> Study:
    study = Study.create(tmp_path / "a.study")
    filled(study)
    return study


def drawn(study: Study, subject: iv.Subject | None, maps: Sequence[Any], **asked: Any) -> tuple[Film, list[np.ndarray]]:
    """Every frame as it goes to the encoder."""
    wanted = tuple(VideoMap(method=each) if isinstance(each, str) else each for each in maps)
    job = VideoJob(recording="run", maps=wanted, **asked)
    work = VideoWork(job, Context(study=study, subjects={subject.info.name: subject} if subject else {}))
    for part in work.parts(()):
        work.run(part, unwatched)
    film = Film(work)
    return film, list(film.frames(unwatched))


def by_hand(
    study: Study, subject: iv.Subject, method: str, rows: tuple[int, int], *, back: int = 0, **parameters: Any
) -> tuple[np.ndarray, bool]:
    """The map [row, height, width] of one frame of the stack, and whether it has a sign."""
    lens, more = {"g2gradcam": ("guided-gradcam", {"gradients": "guided"})}.get(method, (method, {}))
    made = iv.look(study, lens, "run", rows=rows, subject=subject, progress=False, **more, **parameters)
    heat = study.result_array(made.id, f"heat.{made.shown['inputs'][0]}")
    return heat[:, 0 if heat.shape[1] == 1 else FRAMES - 1 - back], made.shown["signed"]


def coloured(values: np.ndarray, full: float, picture: np.ndarray, signs: str | None) -> np.ndarray:
    """Heat over a picture at half its brightness, pixel by pixel, with the page's own numbers."""
    turbo = [
        [float(c) for c in found.split(",")] for found in re.findall(r"p\(([-\d., ]+)\)", page("colour/colour.ts"))
    ]
    made = np.zeros((*values.shape, 3))
    for at, value in np.ndenumerate(values):
        strength = min(1.0, abs(value) / full)
        if signs is None:
            colour = [255 * min(1.0, max(0.0, sum(c * strength**n for n, c in enumerate(each)))) for each in turbo]
        else:
            colour = list(SIGNS[signs][0 if value < 0 else 1])
        opacity = min(0.85, 1.1 * strength)
        made[at] = [c * opacity + 0.5 * picture[at] * (1 - opacity) for c in colour]
    return made


def page(path: str) -> str:
    return (PAGE / "marks" / path).read_text("utf-8")


def turbo_of_the_page() -> list[list[float]]:
    found = re.findall(r"p\(([-\d., ]+)\)", page("colour/colour.ts"))
    return [[float(number) for number in each.split(",")] for each in found]


def cells(frame: np.ndarray, box: Sequence[int]) -> np.ndarray:
    """The middle of each pixel of the picture [height, width, 3]."""
    left, top, width, height = box
    step = width // SIZE
    assert (width, height) == (step * SIZE, step * SIZE)
    shown = frame[top : top + height, left : left + width]
    return shown[step // 2 :: step, step // 2 :: step].astype(float)


def test_six_methods_side_by_side_are_decoded_again(study: Study, tmp_path: Path) -> None:
    subject, told = player(), list[tuple[int, int | None]]()
    path = iv.export_video(
        study,
        tmp_path / "six.mp4",
        maps=SIX,
        rows=(2, 8),
        subject=subject,
        progress=lambda done, total, message="": told.append((done, total)),
    )
    (line,) = study.results(kind="video")
    found = study.result(line.id).value
    frames = decoded(path, found["width"], found["height"])
    assert frames.shape == (6, found["height"], found["width"], 3)
    assert [each["title"] for each in found["maps"]] == list(SIX)
    boxes = [found["picture"], *(each["box"] for each in found["maps"])]
    assert len({tuple(box) for box in boxes}) == 7 and len({box[1] for box in boxes}) == 2, "two lines of panels"
    assert {total for _, total in told} == {6 * 7} and [done for done, _ in told] == sorted(done for done, _ in told)
    pictures = study.recording("run").array("observation", 2, 8)[..., -1].astype(float)
    assert np.abs(cells(frames[3], boxes[0]) - pictures[3][..., None]).mean() < 4
    for place, method in enumerate(SIX):
        heat, signed = by_hand(study, subject, method, (2, 8))
        full = float(np.abs(heat).max())
        said = found["maps"][place]
        assert said["signed"] == signed and np.isclose(said["full"], full)
        for row in (0, 5):
            wanted = coloured(heat[row], full, pictures[row], "blue and orange" if signed else None)
            off = np.abs(cells(frames[row], boxes[place + 1]) - wanted)
            assert off.mean() < 4 and np.quantile(off, 0.98) < 25, (method, row, off.mean(), off.max())


def test_frames_are_what_is_drawn_by_hand_to_the_last_bit(study: Study) -> None:
    subject = player()
    back = VideoMap(method="gradient", parameters={"target": "value"}, frame=2)
    film, frames = drawn(study, subject, ("gradcam", back), rows=((0, 5),), signs="green and red")
    pictures = study.recording("run").array("observation", 0, 5).astype(float)
    cam, _ = by_hand(study, subject, "gradcam", (0, 5))
    gradient, _ = by_hand(study, subject, "gradient", (0, 5), back=2, target="value")
    boxes = [[box.left, box.top, box.width, box.height] for box in film.layout.boxes]
    for row, frame in enumerate(frames):
        assert np.array_equal(cells(frame, boxes[0]), np.repeat(pictures[row, ..., -1:], 3, -1))
        over = coloured(cam[row], float(np.abs(cam).max()), pictures[row, ..., -1], None)
        assert np.abs(cells(frame, boxes[1]) - over).max() <= 0.51, "a map of all frames lies over the newest"
        over = coloured(gradient[row], float(np.abs(gradient).max()), pictures[row, ..., -3], "green and red")
        assert np.abs(cells(frame, boxes[2]) - over).max() <= 0.51, "a frame's map lies over that frame"
    about = [each["about"] for each in film.described()["maps"]]
    assert about == ["what it does · conv1 · by player", "value · frame t−2 · by player"]


def test_each_frame_can_have_a_scale_of_its_own_and_faint_maps_a_gain(study: Study) -> None:
    subject = player()
    heat, _ = by_hand(study, subject, "guided", (0, 5))
    pictures = study.recording("run").array("observation", 0, 5)[..., -1].astype(float)
    for asked, full in (
        ({"normalise": "frame"}, [float(np.abs(each).max()) for each in heat]),
        ({"gain": 4.0}, [float(np.abs(heat).max()) / 4] * 5),
    ):
        film, frames = drawn(study, subject, ("guided",), rows=((0, 5),), **asked)
        box = film.layout.boxes[1]
        for row, frame in enumerate(frames):
            wanted = coloured(heat[row], full[row], pictures[row], "blue and orange")
            assert np.abs(cells(frame, [box.left, box.top, box.width, box.height]) - wanted).max() <= 0.51


def test_a_gif_of_several_episodes_has_a_frame_for_each_row(study: Study, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"rows": (6, 10), "columns": 1, "scale": 4}
    path = iv.export_video(study, tmp_path / "a.gif", maps=["guided"], subject=player(), progress=False, **asked)
    (line,) = study.results(kind="video")
    found = study.result(line.id).value
    frames = decoded(path, found["width"], found["height"])
    assert frames.shape == (4, found["height"], found["width"], 3) and found["height"] > found["width"]


def test_what_is_stored_is_drawn_without_a_subject(study: Study, tmp_path: Path) -> None:
    with pytest.raises(LensError, match="no model is loaded to make one"):
        iv.export_video(study, tmp_path / "a.gif", maps=["guided"], episode=0, progress=False)
    made = iv.look(study, "guided", "run", subject=player(), progress=False)
    for maps in (["guided"], [made], [VideoMap(result=made.id)], [{"method": "guided"}]):
        assert iv.export_video(study, tmp_path / "a.gif", maps=maps, episode=0, progress=False).is_file()
    assert [line.id for line in study.results(kind="guided")] == [made.id], "a result of more rows holds these too"
    with pytest.raises(LensError, match="no model is loaded"):
        asked = VideoMap(method="guided", parameters={"target": "value"})
        iv.export_video(study, tmp_path / "b.gif", maps=[asked], episode=0, progress=False)


def test_maps_that_are_not_of_these_rows_or_this_subject_are_refused(study: Study, tmp_path: Path) -> None:
    filled(study, "other")
    made = iv.look(study, "guided", "run", rows=(0, 8), subject=player(), progress=False)
    elsewhere = iv.look(study, "guided", "other", subject=player(), progress=False)
    shares = iv.look(study, "region", "run", subject=player(), progress=False)

    def export(result: Any, **asked: Any) -> None:
        iv.export_video(study, tmp_path / "a.gif", "run", maps=[result], progress=False, scale=2, **asked)

    with pytest.raises(LensError, match="no map of rows 8 to 11 of 'run'"):
        export(made)
    with pytest.raises(LensError, match="is of 'other', and the video of 'run'"):
        export(elsewhere)
    with pytest.raises(LensError, match="holds no map, but per row"):
        export(shares)
    with pytest.raises(NotAsRecorded, match="maps of 'player', and this video is of 'novice'"):
        export(made, episode=0, subject=player("novice", 5))
    export(made, episode=0, subject=player("novice", 5), other=True)
    flip(next((study.path / "results" / made.id).glob("heat.*.npy")), 400)
    with pytest.raises(DamagedPart, match=made.id):
        export(made, episode=0)
    export("guided", episode=0, subject=player(), gain=2.0)
    study.check_result(made.id)  # what was damaged was made again


def test_mistakes_are_said(study: Study, tmp_path: Path) -> None:
    subject = player()

    def export(*maps: Any, to: str = "a.gif", recording: str = "run", **asked: Any) -> None:
        asked = {"subject": subject, "episode": 0, "progress": False, "scale": 2, **asked}
        iv.export_video(study, tmp_path / to, recording, maps=maps, **asked)

    with pytest.raises(UnknownName, match="Did you mean 'guided'"):
        export("guidd")
    with pytest.raises(UnknownName, match="Did you mean 'target'"):
        export(VideoMap(method="guided", parameters={"targt": "value"}))
    with pytest.raises(LensError, match=r"no frame 4 steps back .* 0 to 3"):
        export(VideoMap(method="guided", frame=4))
    with pytest.raises(LensError, match="counts back"):
        export(VideoMap(method="guided", frame=-2))
    with pytest.raises(UnknownName, match=r"\.mp4, \.gif"):
        export("guided", to="a.avi")
    with pytest.raises(StoreError, match="no folder"):
        export("guided", to="nowhere/a.gif")
    with pytest.raises(LensError, match="an episode or rows, not both"):
        export("guided", rows=(0, 2))
    with pytest.raises(UnknownName, match="Unknown episode '7'"):
        export("guided", episode=7)
    with pytest.raises(LensError, match="8192 is the most"):
        export(*["guided"] * 8, scale=64, columns=9)
    numbers = {"episode": [0, 0], "step": [0, 1], "health": [1.0, 2.0]}
    write_rows(study, "numbers", columns=numbers, ordering=Ordering())
    with pytest.raises(StoreError, match="no pictures to make a film of"):
        export("guided", recording="numbers")
    assert not [*tmp_path.glob("*.avi"), *tmp_path.glob("*.tmp")]


def test_panels_are_laid_out_to_be_read() -> None:
    assert len(set(laid_out(4, (84, 84)).boxes)) == 4
    seven = laid_out(7, (84, 84))
    assert [sum(box.top == top for box in seven.boxes) for top in sorted({b.top for b in seven.boxes})] == [4, 3]
    assert all(side % 2 == 0 for side in seven.size), "players want even sides"
    wide = laid_out(2, (64, 112), columns=2, scale=3)
    assert (wide.boxes[0].width, wide.boxes[0].height) == (336, 192)
    assert shortened("a" * 200, 12, 100).endswith("…") and shortened("t−1", 12, 100) == "t-1"


def test_colours_are_those_of_the_page() -> None:
    assert tuple(map(tuple, turbo_of_the_page())) == TURBO
    pairs = re.findall(r"(?:negative|positive): \[(\d+), (\d+), (\d+)\]", page("heatmap/diverging.ts"))
    assert tuple(tuple(map(int, each)) for each in pairs) == SIGNS["green and red"]
    dark = (PAGE / "app.css").read_text("utf-8").split('data-theme="dark"')[1]
    tokens = [re.search(rf"--{name}: #(\w\w)(\w\w)(\w\w)", dark) for name in ("neg", "pos")]
    assert tuple(tuple(int(part, 16) for part in each.groups()) for each in tokens if each) == SIGNS["blue and orange"]
    assert f"Math.min({MAX_OPACITY}, t * {STEEPNESS})" in page("heat.ts")
