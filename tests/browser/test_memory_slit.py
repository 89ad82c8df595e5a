"""A slit through the pictures shows the pixels that numpy cuts out of the recording."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import expect

import innerview as iv
from innerview.schema import ArraySpec, Ordering
from innerview.serve import Handle

from .conftest import Show, Visit
from .memory_study import LINK, STEPS
from .workbench import Workbench, box_of, canvas_of

EPISODE = 2


@pytest.fixture
def bench(visit: Visit, shown_kitems: Handle) -> Workbench:
    return visit(shown_kitems, f"{LINK}?episode={EPISODE}&side=slit")


def frames(study: iv.Study) -> np.ndarray:
    """The pictures of the episode, [steps, height, width, 3]."""
    return study.recording("k-items").array("observation", EPISODE * STEPS, (EPISODE + 1) * STEPS).astype(np.float64)


def drawn(bench: Workbench) -> np.ndarray:
    """What there is of the slit over time, [along, steps, 4]."""
    return canvas_of(bench.get("slit-canvas"))


def unrolled(bench: Workbench, expected: np.ndarray, *, atol: float = 0) -> None:
    """The slit over time is this once it is read, [along, steps, 3], and every step is there."""
    opaque = np.concatenate([expected, np.full((*expected.shape[:2], 1), 255)], axis=2)

    def same() -> bool:
        seen = drawn(bench)
        return seen.shape == opaque.shape and np.allclose(seen, opaque, rtol=0, atol=atol)

    bench.until(same)
    np.testing.assert_allclose(drawn(bench), opaque, rtol=0, atol=atol)


def place(bench: Workbench, **parts: int) -> None:
    for part, value in parts.items():
        bench.get(f"slit-{part}").fill(str(value))
        bench.get(f"slit-{part}").press("Enter")
    told = ",".join(str(parts[part]) for part in ("x", "y", "width", "height"))
    bench.settled(f"slit={told}")


def test_it_is_the_mean_over_the_rectangle_step_by_step(bench: Workbench, still_kitems: iv.Study) -> None:
    place(bench, x=30, y=10, width=9, height=40)
    cut = frames(still_kitems)[:, 10:50, 30:39]
    unrolled(bench, cut.mean(axis=2).transpose(1, 0, 2), atol=0.51)
    bench.get("slit-how").locator("[data-value=line]").click()
    bench.settled("line")
    unrolled(bench, cut[:, :, 4].transpose(1, 0, 2))
    bench.get("slit-axis").locator("[data-value=across]").click()
    bench.settled("across")
    unrolled(bench, cut[:, 20].transpose(1, 0, 2))


def test_a_rectangle_is_drawn_on_the_picture(bench: Workbench, still_kitems: iv.Study) -> None:
    box = box_of(bench.get("slit-brush"))
    scale = box["width"] / 112
    bench.drag(bench.get("slit-brush"), (20.5 * scale, 8.5 * scale), (50.5 * scale, 40.5 * scale))
    bench.settled("slit=20,8,31,33,down,mean")
    unrolled(bench, frames(still_kitems)[:, 8:41, 20:51].mean(axis=2).transpose(1, 0, 2), atol=0.51)
    bench.page.mouse.click(box["x"] + 70.5 * scale, box["y"] + 30)
    bench.settled("slit=70,0,1,64,down,mean")
    bench.page.reload()
    bench.ready()
    unrolled(bench, frames(still_kitems)[:, :, 70].transpose(1, 0, 2))


def test_time_is_selected_as_everywhere(bench: Workbench) -> None:
    bench.until(lambda: bool((drawn(bench)[..., 3] == 255).all()))
    bench.brush_steps("slit-overlay", 10, 24, of=STEPS)
    bench.selected(15)


def test_time_is_zoomed_as_everywhere(visit: Visit, shown_kitems: Handle, still_kitems: iv.Study) -> None:
    bench = visit(shown_kitems, f"{LINK}?episode={EPISODE}&side=slit&window=20-40")
    middle = frames(still_kitems)[20:40, :, 52:59].mean(axis=2).transpose(1, 0, 2)
    assert middle.shape[1] == 20, "only what is shown is read"
    unrolled(bench, middle, atol=0.51)


def test_a_recording_without_pictures_says_so(
    visit: Visit, show: Show, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("plain") / "plain.study"
    study = iv.Study.create(folder, "plain")
    iv.write_rows(
        study,
        "plain",
        columns={"episode": [0] * 30, "step": list(range(30))},
        arrays={"memory": np.random.default_rng(0).standard_normal((30, 8)).astype(np.float32)},
        ordering=Ordering(),
        specs=[ArraySpec(name="memory", shape=(8,), dtype="float32", role="memory")],
    )
    bench = visit(show(study), "#/memory/plain?side=slit", ready=False)
    expect(bench.get("view-slit-empty")).to_contain_text("no pictures")
