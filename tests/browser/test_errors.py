"""A folder of image pairs and two pose subjects: imported, predicted, opened, both errors on one map."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from playwright.sync_api import expect
from torch import Tensor, nn

import innerview as iv
from innerview.serve import Handle
from innerview.store import import_pairs

from .conftest import Visit
from .workbench import Workbench, box_of, canvas_of

COUNT, WIDTH, HEIGHT = 40, 16, 12
MAP_PX, SCALE, ORIGIN = (120, 80), 0.1, (-1.0, -1.0)
NUMBER = re.compile(r"[\d.,]+")


class PoseModel(nn.Module):
    """A place and a heading in degrees, read off the mean colour of a picture."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.pose = nn.Linear(3, 3)
        with torch.no_grad():
            self.pose.weight.mul_(8)
            self.pose.bias.copy_(torch.tensor([4.0, 3.0, 170.0 * (seed % 2)]))

    def forward(self, rgb: Tensor) -> dict[str, Tensor]:
        return {"pose": self.pose(rgb.mean((2, 3)))}


MODELS = {"sim net": (PoseModel(0), "sim.rgb"), "real net": (PoseModel(1), "real.rgb")}


def depth_mm(row: int) -> np.ndarray:
    """Far beyond what 8 bits hold."""
    return (np.arange(WIDTH * HEIGHT).reshape(HEIGHT, WIDTH) * 30 + 500 + row).astype(np.uint16)


def make_folder(folder: Path) -> None:
    random = np.random.default_rng(3)
    for kind in ("sim/rgb", "real/rgb", "real/depth"):
        (folder / kind).mkdir(parents=True)
    for row in range(COUNT):
        for side in ("sim", "real"):
            flat = np.full((HEIGHT, WIDTH, 3), random.integers(0, 255, 3), np.uint8)
            Image.fromarray(flat).save(folder / side / "rgb" / f"{row:04}.jpg")
        Image.fromarray(depth_mm(row)).save(folder / "real/depth" / f"{row:04}.png")
    places = random.uniform((0, 0, 0), (10, 6, 360), (COUNT, 3))
    lines = [f"{row:04}.jpg,{x:.4f},{y:.4f},{angle:.3f}" for row, (x, y, angle) in enumerate(places)]
    (folder / "poses.csv").write_text("\n".join(["file,x [m],y [m],angle [deg]", *lines]))
    floor = np.full((MAP_PX[1], MAP_PX[0], 3), 225, np.uint8)
    floor[:, :60] = (190, 220, 190)
    Image.fromarray(floor).save(folder / "map.png")
    described = {
        "units": {"depth": "mm"},
        "map": {"origin": ORIGIN, "scale": SCALE, "unit": "m"},
        "polygons": {"kitchen": [[0, 0], [4, 0], [4, 3], [0, 3]]},
    }
    (folder / "pairs.json").write_text(json.dumps(described))


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[iv.Study, Handle]]:
    folder = tmp_path_factory.mktemp("office")
    make_folder(folder / "rooms")
    study = iv.Study.create(folder / "office.study")
    import_pairs(study, folder / "rooms")
    for name, (module, array) in MODELS.items():
        example = {"rgb": torch.zeros(1, 3, HEIGHT, WIDTH)}
        subject = iv.subject(module.eval(), name=name, example=example, heads={"pose": "pose"})
        iv.predict(study, subject, "rooms", inputs={"rgb": array}, progress=False)
    with iv.show(study, open_browser=False) as handle:
        yield study, handle


def by_hand(study: iv.Study) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Predicted poses, position errors and heading errors from the modules themselves."""
    recording = study.recording("rooms")
    true = recording.columns(["x", "y", "angle"]).to_numpy()
    found = {}
    for name, (module, array) in MODELS.items():
        given = torch.from_numpy(recording.array(array, 0, COUNT)).permute(0, 3, 1, 2).float() / 255
        with torch.no_grad():
            said = module(given)["pose"].numpy()
        turned = np.abs(said[:, 2] - true[:, 2]) % 360
        found[name] = (said, np.linalg.norm(said[:, :2] - true[:, :2], axis=1), np.minimum(turned, 360 - turned))
    return found


def close(text: str, value: float) -> bool:
    found = NUMBER.search(text)
    return found is not None and bool(np.isclose(float(found[0].replace(",", "")), value, rtol=6e-3, atol=6e-4))


def screen(bench: Workbench, x: float, y: float) -> tuple[float, float]:
    """Where a place lies in the first map: the whole picture of the ground fits, with a margin."""
    box = box_of(bench.get("error-brush").first)
    width, height = MAP_PX[0] * SCALE, MAP_PX[1] * SCALE
    scale = min((box["width"] - 20) / width, (box["height"] - 20) / height)
    middle = box["width"] / 2 - (ORIGIN[0] + width / 2) * scale
    return middle + x * scale, 10 + (ORIGIN[1] + height) * scale - y * scale


def opened(visit: Visit, handle: Handle) -> Workbench:
    bench = visit(handle)
    bench.until(lambda: bench.get("error-median").count() == 2)
    expect(bench.get("error-median").first).to_contain_text("median")
    return bench


def test_both_errors_stand_on_one_map(visit: Visit, office: tuple[iv.Study, Handle]) -> None:
    study, handle = office
    bench = opened(visit, handle)
    wanted = by_hand(study)
    maps = bench.get("error-map")
    assert [each.get_attribute("data-subject") for each in maps.all()] == list(MODELS)
    for what, index, unit in (("position", 1, "m"), ("heading", 2, "°")):
        bench.get("error-what").locator(f"[data-value={what}]").click()
        for each, name in zip(maps.all(), MODELS, strict=True):
            median = each.get_by_test_id("error-median")
            expect(median).to_contain_text(re.compile(rf"^median [\d.,]+ {unit}, .*· {COUNT} pairs"))
            assert close(median.inner_text(), float(np.median(wanted[name][index])))
        both = np.concatenate([wanted[name][index] for name in MODELS])
        low, high = (text.inner_text() for text in bench.get("error-legend").locator("span").all())
        ends = np.sort(both)[np.rint(np.array([0.01, 0.99]) * (len(both) - 1)).astype(int)]
        assert close(low, ends[0]) and close(high, ends[1]) and high.endswith(unit)


def test_rows_lie_at_their_place_on_the_ground(visit: Visit, office: tuple[iv.Study, Handle]) -> None:
    study, handle = office
    bench = opened(visit, handle)
    canvas = bench.get("error-canvas").first
    bench.until(lambda: bool((canvas_of(canvas)[..., :3] == (190, 220, 190)).all(-1).sum() > 1000))
    pixels = canvas_of(canvas)
    green = (pixels[..., :3] == (190, 220, 190)).all(-1)
    left, right = np.flatnonzero(green.any(0))[[0, -1]]
    assert abs(left - screen(bench, ORIGIN[0], 0)[0]) < 2
    assert abs(right - screen(bench, ORIGIN[0] + 60 * SCALE, 0)[0]) < 2
    errors = by_hand(study)["sim net"][1]
    rows = study.recording("rooms").columns(["x", "y"]).to_numpy()
    bench.get("error-brush").first.scroll_into_view_if_needed()
    # Away from others, so that the row that is pointed at is the one that is meant.
    apart = [np.sort(np.linalg.norm(rows - row, axis=1))[1] for row in rows]
    row = int(np.argmax(apart))
    x, y = screen(bench, *rows[row])
    brush = bench.get("error-brush").first
    brush.hover(position={"x": x, "y": y})
    tips = bench.get("error-tip")
    expect(tips).to_have_count(2)
    expect(tips.first).to_contain_text(f"pair {row}: ")
    assert close(tips.first.inner_text().split(": ")[1], errors[row])
    brush.click(position={"x": x, "y": y})
    expect(bench.get("view-pair")).to_contain_text(f"row {row}")


def test_a_rectangle_selects_rows_and_gives_their_median(visit: Visit, office: tuple[iv.Study, Handle]) -> None:
    study, handle = office
    bench = opened(visit, handle)
    rows = study.recording("rooms").columns(["x", "y"]).to_numpy()
    bench.drag(bench.get("error-brush").first, screen(bench, -0.5, -0.5), screen(bench, 5, 6.5))
    inside = (rows[:, 0] >= -0.5) & (rows[:, 0] <= 5)
    bench.selected(int(inside.sum()))
    for name, words in zip(MODELS, bench.get("error-median-selected").all(), strict=True):
        assert close(words.inner_text(), float(np.median(by_hand(study)[name][1][inside])))


def test_depth_is_shown_with_its_own_scale(visit: Visit, office: tuple[iv.Study, Handle]) -> None:
    bench = opened(visit, office[1])
    values = depth_mm(0)
    expect(bench.get("pair-range")).to_have_text(f"black {values.min()}, white {values.max()} mm")
