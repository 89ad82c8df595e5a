"""News: drops of colour where factors raise or lower the value, alone or together, scaled by episode or step."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, Route, expect

import innerview as iv
from innerview.serve import Handle
from tests.copies import copied

from .conftest import Show, Visit
from .vision_study import FACTORS, LINK, STEPS, find, opened, player
from .workbench import Workbench, box_of, canvas_of

COLOURS = ("#2549af", "#948905", "#7e221d", "#07948f", "#dc4987")


def overlay(bench: Workbench, name: str) -> np.ndarray:
    """Pixels of what lies over a picture, [height, width, 4]."""
    return canvas_of(bench.get(f"attribution-{name}-overlay"))


def amounts(study: iv.Study) -> np.ndarray:
    """What the lens found, [row, factor, height, width]."""
    found = study.results(kind="factors")[0].id
    small = study.result_array(found, "amounts").astype(np.float32)
    return small * study.result_array(found, "scale")[:, 0][:, None, None, None] / 127


def rgb(colour: str) -> list[int]:
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def card(bench: Workbench, factor: int) -> Locator:
    return bench.page.locator(f'[data-testid="factor"][data-factor="{factor}"]')


def strongest(study: iv.Study, sign: int) -> tuple[int, int, float, float]:
    """Row and factor of the strongest amount of a sign, and where it is, as shares of the picture."""
    found = sign * amounts(study)
    row, factor, y, x = np.unravel_index(found.argmax(), found.shape)
    return int(row), int(factor), (x + 0.5) / found.shape[3], (y + 0.5) / found.shape[2]


@pytest.mark.parametrize(("name", "sign"), [("good", 1), ("bad", -1)])
def test_a_factor_is_drawn_where_it_is_strong(
    visit: Visit, shown_levels: Handle, still_levels: iv.Study, name: str, sign: int
) -> None:
    row, factor, x, y = strongest(still_levels, sign)
    bench = opened(visit(shown_levels, f"{LINK}?episode={row // STEPS}&step={row % STEPS}", ready=False))
    card(bench, factor).hover()
    expect(bench.get(f"attribution-{name}")).to_have_attribute("data-row", str(row))

    def at_strongest() -> np.ndarray:
        seen = overlay(bench, name)
        return seen[int(y * seen.shape[0]), int(x * seen.shape[1])]

    bench.until(lambda: np.allclose(at_strongest()[:3], rgb(COLOURS[factor]), atol=3))
    at, seen = at_strongest(), overlay(bench, name)
    assert at[3] > 100 and np.allclose(at[:3], rgb(COLOURS[factor]), atol=3)
    drawn = seen[seen[..., 3] > 60][:, :3].astype(int)
    assert np.abs(drawn - rgb(COLOURS[factor])).max() <= 6, "the factor is alone"


def test_the_picture_is_what_it_saw(visit: Visit, shown_levels: Handle, still_levels: iv.Study) -> None:
    bench = opened(visit(shown_levels, f"{LINK}?episode=1&step=7", ready=False))
    seen = still_levels.recording("levels").array("observation", STEPS + 7, STEPS + 8)[0]
    for name in ("seen", "good", "bad"):
        assert np.array_equal(canvas_of(bench.get(f"attribution-{name}-picture"))[..., :3], seen)


def test_pointing_at_a_drop_names_its_factor_and_a_click_pins_it(
    visit: Visit, shown_levels: Handle, still_levels: iv.Study
) -> None:
    row, factor, x, y = strongest(still_levels, 1)
    bench = opened(visit(shown_levels, f"{LINK}?episode={row // STEPS}&step={row % STEPS}", ready=False))
    box = box_of(bench.get("attribution-good"))
    bench.page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
    expect(bench.get("attribution-tip")).to_have_text(re.compile(rf"^factor {factor + 1} \+"))
    bench.page.mouse.down()
    bench.page.mouse.up()
    bench.settled(rf"factor={factor}")
    bench.page.keyboard.press("Control+z")
    bench.page.wait_for_url(lambda url: f"factor={factor}" not in url)


def test_a_step_can_be_its_own_scale(visit: Visit, shown_levels: Handle, still_levels: iv.Study) -> None:
    most = still_levels.result_array(still_levels.results(kind="factors")[0].id, "scale")[:STEPS, 0]
    bench = opened(visit(shown_levels, f"{LINK}?episode=0&step={int(most.argmin())}", ready=False))
    by_episode = (overlay(bench, "good")[..., 3] > 60).sum()
    bench.get("attribution-scale").locator("[data-value=step]").click()
    bench.settled("scale=step")
    bench.until(lambda: bool((overlay(bench, "good")[..., 3] > 60).sum() != by_episode))
    by_step = (overlay(bench, "good")[..., 3] > 60).sum()
    assert by_step > by_episode, "the weakest step is drawn larger when only it counts"


def test_what_factors_leave_out_is_hatched(visit: Visit, shown_levels: Handle) -> None:
    bench = opened(visit(shown_levels, f"{LINK}?scale=step", ready=False))
    assert not overlay(bench, "seen").any()
    bench.get("attribution-rest").click()
    bench.settled("rest=on")
    bench.until(lambda: bool(overlay(bench, "seen")[..., 3].any()))
    assert overlay(bench, "seen")[..., 3].any()


def test_sums_are_those_of_what_is_shown(visit: Visit, shown_levels: Handle, still_levels: iv.Study) -> None:
    bench = opened(visit(shown_levels, f"{LINK}?episode=2&step=3&without=0,1", ready=False))
    shown = amounts(still_levels)[2 * STEPS + 3, 2:]
    told = bench.get("view-attribution").locator("figcaption").nth(1).inner_text().split("+")[1]
    assert float(told) == pytest.approx(shown.clip(0).sum(), rel=0.02)


def test_activations_have_no_sign(visit: Visit, show: Show, levels: iv.Study) -> None:
    find(levels, of="activations")
    bench = opened(visit(show(levels), LINK, ready=False))
    expect(bench.get("attribution-good")).to_be_visible()
    expect(bench.get("attribution-bad")).to_have_count(0)
    assert "Responds" in bench.get("view-attribution").inner_text()


def test_another_target_has_other_words_and_earlier_results_can_be_chosen(
    visit: Visit, show: Show, levels: iv.Study
) -> None:
    find(levels, target="right over left", count=3)
    bench = opened(visit(show(levels), LINK, ready=False))
    text = bench.get("view-attribution").inner_text()
    assert "For right" in text and "For left" in text
    expect(bench.get("factor")).to_have_count(3)
    assert box_of(bench.get("factor").first)["width"] <= 200
    bench.get("attribution-result").select_option(index=1)
    expect(bench.get("factor")).to_have_count(FACTORS)
    expect(bench.get("attribution-good")).to_be_visible()
    bench.settled("result-factors=")


def test_damaged_factors_say_so_at_once(visit: Visit, show: Show, levels: iv.Study) -> None:
    amounts = next((levels.path / "results" / levels.results(kind="factors")[0].id).glob("amounts.*.npy"))
    amounts.write_bytes(amounts.read_bytes()[:50])
    bench = opened(visit(show(levels), LINK, ready=False), drawn=False)
    bench.watch.expected.append("status of 409")
    expect(bench.get("attribution-asking")).to_contain_text(amounts.name)


def test_factors_of_other_rows_say_where_they_are(
    visit: Visit, show: Show, recorded_levels: Path, tmp_path: Path
) -> None:
    study = copied(recorded_levels, tmp_path / "part.study")
    find(study, rows=(STEPS, 2 * STEPS))
    bench = opened(visit(show(study), f"{LINK}?episode=3", ready=False), drawn=False)
    expect(bench.get("attribution-asking")).to_contain_text(f"rows {STEPS} to {2 * STEPS - 1}")
    bench.get("attribution-back").click()
    expect(bench.get("attribution-good")).to_have_attribute("data-row", str(STEPS))


def test_factors_of_several_ranges_are_drawn_in_each(
    visit: Visit, show: Show, recorded_levels: Path, tmp_path: Path
) -> None:
    study = copied(recorded_levels, tmp_path / "ranges.study")
    id = find(study, rows=[(STEPS + 2, STEPS + 6), (STEPS + 10, STEPS + 16), (3 * STEPS, 3 * STEPS + 4)])
    totals = study.result_array(id, "totals")
    bench = opened(visit(show(study), f"{LINK}?episode=1&step=12", ready=False))
    expect(bench.get("attribution-good")).to_have_attribute("data-row", str(STEPS + 12))

    def shown() -> list[float]:
        return [float(text[1:]) for text in bench.get("totals-now").inner_text().split()]

    bench.until(lambda: len(shown()) == 2)
    assert shown() == pytest.approx(totals[6].sum(axis=0), rel=0.01)
    expect(bench.get("totals-canvas")).to_have_attribute("data-steps", "14")
    bench.page.goto(bench.page.url.replace("step=12", "step=8"))
    expect(bench.get("attribution-asking")).to_contain_text(f"rows {STEPS + 2} to {3 * STEPS + 3}")
    assert not shown(), "a step between the ranges has no totals"
    bench.get("attribution-back").click()
    expect(bench.get("attribution-good")).to_have_attribute("data-row", str(STEPS + 2))
    assert shown() == pytest.approx(totals[0].sum(axis=0), rel=0.01)


def test_factors_are_found_with_one_click(visit: Visit, show: Show, recorded_levels: Path, tmp_path: Path) -> None:
    study = copied(recorded_levels, tmp_path / "new.study")
    subject, _ = player()
    bench = opened(visit(show(study, subject=subject), LINK, ready=False), drawn=False)
    expect(bench.get("view-legend")).to_have_count(0)
    bench.get("run-factors").click()
    expect(bench.get("parameter-target").locator("option").first).to_have_text("value")
    assert "right over left" in bench.get("parameter-target").inner_text()
    bench.get("parameter-layer").select_option("conv4a")
    bench.get("parameter-count").fill("4")
    bench.get("parameter-steps").fill("3")
    bench.get("run-factors-start").click()
    expect(bench.get("factor")).to_have_count(4, timeout=120_000)
    expect(bench.get("attribution-good")).to_be_visible()
    assert study.result(study.results("factors")[0].id).value["layer"] == "conv4a"


def test_what_is_refused_is_reported_in_words(visit: Visit, show: Show, recorded_levels: Path, tmp_path: Path) -> None:
    def ask_for_dense(route: Route) -> None:
        """The page offers no layer without places, so that another hand has to ask for one."""
        asked = route.request.post_data_json
        asked["parameters"]["layer"] = "dense1"
        route.continue_(post_data=json.dumps(asked))

    study = copied(recorded_levels, tmp_path / "flat.study")
    subject, _ = player()
    bench = opened(visit(show(study, subject=subject), LINK, ready=False), drawn=False)
    bench.page.route("**/api/jobs", ask_for_dense)
    bench.get("run-factors").click()
    bench.get("run-factors-start").click()
    expect(bench.get("attribution-progress-failed")).to_contain_text("dense1")


def test_without_a_model_it_says_what_to_do(visit: Visit, show: Show, recorded_levels: Path) -> None:
    bench = opened(visit(show(iv.Study.open(recorded_levels)), LINK, ready=False), drawn=False)
    expect(bench.get("attribution-why")).to_contain_text("no model is loaded")
    expect(bench.get("start-factors")).to_be_disabled()
    expect(bench.get("track").first).to_be_visible()
