"""A study opens, lists its episodes and plays."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image
from playwright.sync_api import expect

import innerview as iv
from innerview.serve import Handle
from innerview.testing.worlds import episode_length

from .conftest import Visit
from .studies import EPISODES


def test_the_printed_address_opens_the_page_with_its_episodes(
    visit: Visit, shown_walks: Handle, walks: iv.Study
) -> None:
    bench = visit(shown_walks)
    assert "code" not in bench.page.url, "the code must not stay in the address"
    groups = walks.recording("first").groups()
    lines = bench.get("episode")
    expect(lines).to_have_count(EPISODES)
    for line, told in zip(lines.all(), groups.iter_rows(named=True), strict=True):
        cells = line.locator("span").all_inner_texts()
        assert cells[:3] == [str(told["episode"]), told["outcome"], str(told["length"])]
        assert float(cells[3]) == told["return"]
    assert set(groups["outcome"]) == {"died", "time limit"}
    assert groups["length"][3] == episode_length(3)


def test_it_plays_and_shows_the_recorded_pixels(visit: Visit, shown_walks: Handle, walks: iv.Study) -> None:
    bench = visit(shown_walks, "#/episodes/first?speed=0.25")  # slow enough for a slow machine to see six steps
    recorded = walks.recording("first").array("observation", 0, episode_length(0))
    bench.get("play").click()
    shown: dict[int, np.ndarray] = {}
    while len(shown) < 6:
        row, pixels = bench.drawn()
        shown.setdefault(row, pixels)
    bench.page.keyboard.press("Space")
    expect(bench.get("play")).to_have_attribute("aria-label", "Play")
    stopped = bench.step
    for row, pixels in shown.items():
        assert np.array_equal(pixels, recorded[row]), f"row {row} is not what was recorded"
    assert len({pixels.tobytes() for pixels in shown.values()}) == len(shown), "the picture changes with every step"
    assert np.array_equal(bench.at_row(stopped), recorded[stopped])


def test_it_plays_to_the_end_of_the_episode_and_stops_there(visit: Visit, shown_walks: Handle) -> None:
    bench = visit(shown_walks, "#/episodes/first?episode=2&step=15&speed=4")
    bench.page.keyboard.press("Space")
    bench.at_step(episode_length(2) - 1)
    expect(bench.get("play")).to_have_attribute("aria-label", "Play")


def test_keys_step_through_time(visit: Visit, shown_walks: Handle, walks: iv.Study) -> None:
    bench = visit(shown_walks, "#/episodes/first?episode=1&step=4")
    recording = walks.recording("first")
    start, last = recording.groups()["start"][1], episode_length(1) - 1
    for key, step in (("ArrowRight", 5), ("ArrowLeft", 4), ("ArrowLeft", 3), ("End", last), ("Home", 0)):
        bench.page.keyboard.press(key)
        bench.at_step(step)
        row = start + step
        assert np.array_equal(bench.at_row(row), recording.array("observation", row, row + 1)[0])


def test_pixels_are_enlarged_without_blur(visit: Visit, shown_walks: Handle, walks: iv.Study) -> None:
    bench = visit(shown_walks, "#/episodes/first?episode=0&step=7&boxes=off")
    bench.at_row(7)
    seen = np.asarray(Image.open(io.BytesIO(bench.get("observation-canvas").screenshot())).convert("RGB"))
    recorded = walks.recording("first").array("observation", 7, 8)[0]
    scale = seen.shape[0] // 8
    assert scale >= 10
    enlarged = recorded.repeat(scale, axis=0).repeat(scale, axis=1)
    # The screenshot is a pixel larger where the picture begins between two pixels.
    margins = [
        (up, left) for up in range(seen.shape[0] - 8 * scale + 1) for left in range(seen.shape[1] - 8 * scale + 1)
    ]
    assert any(np.array_equal(seen[up : up + 8 * scale, left : left + 8 * scale], enlarged) for up, left in margins)


def test_another_recording_opens_from_the_picker(visit: Visit, shown_walks: Handle, walks: iv.Study) -> None:
    bench = visit(shown_walks)
    bench.get("recording-picker").select_option("second")
    bench.settled("#/episodes/second")
    bench.get("episode").nth(2).click()
    start = walks.recording("second").groups()["start"][2]
    assert np.array_equal(bench.at_row(start), walks.recording("second").array("observation", start, start + 1)[0])
