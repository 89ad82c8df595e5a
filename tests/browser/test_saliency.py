"""The Saliency workspace: a grid of maps of one step, which are what their lenses give when they are run by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import expect
from torch import Tensor, nn

import innerview as iv
from innerview.serve import Handle
from innerview.testing.worlds import CountingWorld

from .conftest import Show, Visit
from .workbench import Workbench

STEPS = 12


class Seer(nn.Module):
    """Two convolutions, a policy and a value."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(3, 6, 3, padding=1), nn.Conv2d(6, 8, 3, padding=1, stride=2)
        self.policy, self.value = nn.Linear(8 * 16, 3), nn.Linear(8 * 16, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        seen = torch.relu(self.conv2(torch.relu(self.conv1(x)))).flatten(1)
        return self.policy(seen), self.value(seen)


def seer(name: str, seed: int) -> iv.Subject:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return iv.subject(Seer(), name=name, example=torch.zeros(1, 3, 8, 8))


@pytest.fixture
def shown(show: Show, tmp_path: Path) -> tuple[iv.Study, Handle, list[iv.Subject]]:
    study = iv.Study.create(tmp_path / "a.study", "saliency")
    subjects = [seer("grown", 1), seer("young", 2)]
    iv.record(study, subjects[0], CountingWorld(length=STEPS), episodes=2, name="x", lanes=2, progress=False)
    return study, show(study, subject=subjects), subjects


def opened(visit: Visit, handle: Handle, more: str = "") -> Workbench:
    bench = visit(handle, f"#/saliency/x?episode=0&step=3{more}", ready=False)
    bench.get("saliency-cell").first.wait_for()
    return bench


def at_row(bench: Workbench, row: int, count: int) -> None:
    cells = bench.page.locator(f'[data-testid="saliency-cell"][data-row="{row}"]')
    expect(cells).to_have_count(count)


def drawn(bench: Workbench, place: str) -> tuple[np.ndarray, float]:
    """Opacity of each pixel of a cell's map [height, width], and what its scale says full colour is."""
    cell = bench.page.locator(f'[data-testid="saliency-cell"][data-place="{place}"]')
    pixels: list[Any] = cell.get_by_test_id("saliency-heat").evaluate(
        "c => [c.width, c.height, ...c.getContext('2d').getImageData(0, 0, c.width, c.height).data]"
    )
    width, height = pixels[:2]
    opacity = np.array(pixels[2:], np.float64).reshape(height, width, 4)[..., 3]
    return opacity, float(
        cell.get_by_test_id("saliency-scale").inner_text().strip().lstrip("±").split()[0].replace("−", "-")
    )


def by_hand(study: iv.Study, subject: iv.Subject, lens: str, row: int, **parameters: Any) -> np.ndarray:
    """The strongest channel of each pixel, by size."""
    made = iv.look(study, lens, "x", rows=np.array([row]), subject=subject, other=True, progress=False, **parameters)
    (name,) = made.shown["inputs"]
    return np.abs(study.result_array(made.id, f"heat.{name}")[0]).max(0)


def test_every_cell_is_what_its_lens_gives(visit: Visit, shown: tuple[iv.Study, Handle, list[iv.Subject]]) -> None:
    study, handle, (grown, _) = shown
    bench = opened(visit, handle, "&methods=guided,gradcam,occlusion&targets=action,value")
    at_row(bench, 3, 6)
    for target in ("action", "value"):
        for lens in ("guided", "gradcam", "occlusion"):
            more = {"layer": "conv1"} if lens == "gradcam" else {}
            wanted = by_hand(study, grown, lens, 3, target=target, **more)
            opacity, full = drawn(bench, f"{target} | {lens}")
            assert np.isclose(full, wanted.max(), rtol=0.01), (target, lens)
            strength = wanted / wanted.max()
            assert np.abs(opacity - 255 * np.minimum(0.85, 1.1 * strength)).max() < 2, (target, lens)


def test_cells_follow_the_step_and_keep_a_steady_scale(
    visit: Visit, shown: tuple[iv.Study, Handle, list[iv.Subject]]
) -> None:
    study, handle, (grown, _) = shown
    bench = opened(visit, handle, "&methods=gradient&targets=value")
    at_row(bench, 3, 1)
    bench.get("saliency-steady").click()
    sizes = [by_hand(study, grown, "gradient", 3, target="value").max()]
    for row in (4, 5, 6):
        bench.page.keyboard.press("ArrowRight")
        at_row(bench, row, 1)
        sizes.append(by_hand(study, grown, "gradient", row, target="value").max())
        assert np.isclose(drawn(bench, "value | gradient")[1], max(sizes), rtol=0.01)
    bench.get("saliency-steady").click()
    bench.until(lambda: bool(np.isclose(drawn(bench, "value | gradient")[1], sizes[-1], rtol=0.01)))
    assert np.isclose(drawn(bench, "value | gradient")[1], sizes[-1], rtol=0.01)


def test_subjects_stand_side_by_side_and_a_cell_is_enlarged(
    visit: Visit, shown: tuple[iv.Study, Handle, list[iv.Subject]]
) -> None:
    study, handle, subjects = shown
    bench = opened(visit, handle)
    bench.get("saliency-across").select_option("subject")
    bench.get("saliency-down").select_option("method")
    bench.get("saliency-choose").click()
    for method in ("gradcam", "integrated-input"):
        bench.get(f"saliency-method-{method}").uncheck()
    bench.page.keyboard.press("Escape")
    at_row(bench, 3, 2)
    found = [drawn(bench, f"guided | {subject.info.name}") for subject in subjects]
    for subject, (_, full) in zip(subjects, found, strict=True):
        assert np.isclose(full, by_hand(study, subject, "guided", 3).max(), rtol=0.01)
    assert bench.get("saliency-other").count() == 1, "the young one is asked about what the grown one saw"
    assert not np.array_equal(found[0][0], found[1][0])
    bench.page.locator('[data-place="guided | young"]').click()
    expect(bench.get("saliency-cell")).to_have_count(1)
    bench.until(lambda: "enlarged=" in bench.page.url)
    bench.page.reload()
    at_row(bench, 3, 1)
    bench.get("saliency-cell").click()
    expect(bench.get("saliency-cell")).to_have_count(2)


def test_what_a_method_cannot_do_is_said_in_its_cell(
    visit: Visit, shown: tuple[iv.Study, Handle, list[iv.Subject]]
) -> None:
    _, handle, _ = shown
    bench = opened(visit, handle, "&methods=blurring,guided&targets=action,value")
    at_row(bench, 3, 4)
    expect(bench.page.locator('[data-place="value | blurring"]')).to_contain_text("blurring takes no target")
    assert "blurring takes no" not in bench.page.locator('[data-place="value | guided"]').inner_text()
    settings = json.loads(
        bench.page.evaluate("JSON.stringify(Object.fromEntries(new URLSearchParams(location.hash.split('?')[1])))")
    )
    assert settings["methods"] == "blurring,guided"
