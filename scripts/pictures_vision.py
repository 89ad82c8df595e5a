"""Takes the docs' pictures of the Vision workspace from a study of the sparse platformer agent, in a real browser.

    .venv/bin/python scripts/pictures_vision.py                 # records a study first, and finds its factors
    .venv/bin/python scripts/pictures_vision.py --study my.study

Pictures go to docs/pictures/vision*.webp. They show the bundled agent on levels it was never trained on.
"""

from __future__ import annotations

import argparse
import io
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import innerview_zoo as zoo
from innerview_zoo.worlds.platformer import FIRST_TEST_LEVEL
from PIL import Image
from playwright.sync_api import Page, sync_playwright

import innerview as iv
from innerview.lenses.look import look
from innerview.worlds import world

PICTURES = Path(__file__).resolve().parents[1] / "docs/pictures"
RECORDING = "unseen levels"
EPISODES = 12
LONG_MS = 60_000
MAX_BYTES = 300_000


@dataclass(frozen=True)
class Shot:
    """A part of the workspace, and the place where it shows something."""

    file: str
    view: str
    link: str
    large: bool = False
    """Taken in full screen."""


SHOTS = (
    Shot("vision", "workspace", "episode={late}&step={step}"),
    Shot("vision-attribution", "view-attribution", "episode={late}&step={step}"),
    Shot("vision-legend", "view-legend", "episode={late}&step={step}"),
    Shot("vision-places", "view-legend", "episode={late}&step={step}&patches=places", large=True),
    Shot("vision-totals", "view-totals", "episode={late}&step={step}"),
)


def record(folder: Path) -> iv.Study:
    """Levels with masks, and what the lens finds in them."""
    subject, _ = zoo.load("platformer_sparse")
    study = iv.Study.open_or_create(folder)
    levels = world("platformer", masks=True, first_level=FIRST_TEST_LEVEL)
    iv.record(study, subject, levels, episodes=EPISODES, name=RECORDING, lanes=EPISODES)
    look(study, "factors", RECORDING, subject=subject, max_rows=512)
    return study


def place(study: iv.Study) -> dict[str, int]:
    """Shortly before the coin of the longest level, where most can be seen."""
    groups = study.recording(RECORDING).groups()
    late = int(groups["length"].arg_max() or 0)
    return {"late": late, "step": max(0, int(groups["length"][late]) - 8)}


def take(page: Page, address: str, shot: Shot, where: dict[str, int]) -> None:
    """Open the workspace there and keep a picture."""
    page.goto(f"{address}#/vision/{RECORDING.replace(' ', '%20')}?{shot.link.format(**where)}")
    page.locator('[data-testid="attribution-good"]:not([data-row=""])').wait_for(timeout=LONG_MS)
    page.wait_for_timeout(4000)
    if shot.large:
        page.get_by_test_id(f"{shot.view}-full").click()
        page.mouse.move(2, 2)
        page.wait_for_timeout(4000)
    save(page.screenshot() if shot.view == "workspace" else page.get_by_test_id(shot.view).screenshot(), shot.file)


def save(png: bytes, name: str) -> None:
    """As small as it may be and still be read."""
    path = PICTURES / f"{name}.webp"
    Image.open(io.BytesIO(png)).convert("RGB").save(path, quality=86, method=6)
    if path.stat().st_size > MAX_BYTES:
        raise SystemExit(f"{path.name} has {path.stat().st_size} bytes; at most {MAX_BYTES} go into the docs.")
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", type=Path, help="A study that was recorded before; made new where left out.")
    parser.add_argument("--chromium", default=shutil.which("chromium") or shutil.which("google-chrome") or "")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        shoot(record(given.study or Path(folder) / "platformer.study"), given.chromium)


def shoot(study: iv.Study, chromium: str) -> None:
    """Take every picture."""
    PICTURES.mkdir(exist_ok=True)
    with iv.show(study, open_browser=False) as handle, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce").new_page()
        page.goto(handle.url)
        page.wait_for_url("**#/**")  # the page writes its own address first
        for shot in SHOTS:
            take(page, handle.address, shot, place(study))
        browser.close()


if __name__ == "__main__":
    main()
