"""The maps of the grid as a video: a click, a job with progress, and a file that shows what the lenses give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from playwright.sync_api import expect

import innerview as iv
from innerview.lenses.video.colours import laid_over
from innerview.serve import Handle
from innerview.testing.worlds import CountingWorld
from tests.videos import decoded

from .conftest import Show, Visit
from .test_saliency import STEPS, at_row, opened, seer


def test_the_grid_is_exported_as_a_video(visit: Visit, show: Show, tmp_path: Path) -> None:
    study, subject = iv.Study.create(tmp_path / "a.study", "saliency"), seer("grown", 1)
    iv.record(study, subject, CountingWorld(length=STEPS), episodes=2, name="x", lanes=2, progress=False)
    handle: Handle = show(study, subject=subject)
    methods = "guided,gradcam,g2gradcam,gradient,occlusion,sarfa"
    bench = opened(visit, handle, f"&methods={methods}&targets=value&gain=2")
    at_row(bench, 3, 6)
    bench.get("saliency-video").click()
    expect(bench.page.get_by_text(f"6 maps beside the picture, over {STEPS} steps of this episode")).to_be_visible()
    with bench.page.expect_download() as download:
        bench.get("saliency-video-export").click()
    assert download.value.suggested_filename == f"x episode rows 0 to {STEPS - 1}.mp4"
    expect(bench.get("saliency-video-saved")).to_contain_text("rows 0 to 11.mp4")
    path = tmp_path / "grid.mp4"
    download.value.save_as(path)

    (line,) = study.results(kind="video")
    found = study.result(line.id).value
    frames = decoded(path, found["width"], found["height"])
    assert frames.shape == (STEPS, found["height"], found["width"], 3)
    assert [each["title"] for each in found["maps"]] == methods.split(",")
    made = iv.look(study, "guided", "x", rows=(0, STEPS), subject=subject, target="value", progress=False)
    heat = study.result_array(made.id, f"heat.{made.shown['inputs'][0]}")
    strongest = np.take_along_axis(heat, np.abs(heat).argmax(1)[:, None], 1)[:, 0]
    picture = study.recording("x").array("observation", 5, 6)[0]
    full = float(np.abs(heat).max()) / 2
    assert np.isclose(found["maps"][0]["full"], full, rtol=1e-5), "the gain of the grid holds here too"
    wanted = laid_over(picture, strongest[5], full, "blue and orange", 0.5).astype(float)
    left, top, width, height = found["maps"][0]["box"]
    shown = frames[5, top : top + height, left : left + width]
    off = np.abs(shown[height // 16 :: height // 8, width // 16 :: width // 8] - wanted)
    assert off.mean() < 5, off.mean()
