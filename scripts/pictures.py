"""Takes the docs' pictures of the Memory workspace from a study of the k-items agent, in a real browser.

    .venv/bin/python scripts/pictures.py                 # records a study first
    .venv/bin/python scripts/pictures.py --study my.study flags strategy

Pictures go to docs/pictures/memory-<view>.webp. They show the bundled agent on mazes it was never trained on.
"""

from __future__ import annotations

import argparse
import io
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import innerview_zoo as zoo
from PIL import Image
from playwright.sync_api import Page, sync_playwright

import innerview as iv
from innerview.lenses.look import look
from innerview.schema import EditSet, SiteEdit

PICTURES = Path(__file__).resolve().parents[1] / "docs/pictures"
RECORDING = "k-items agent"
EPISODES, FIRST_SEED = 24, 1_000_000
MAX_BYTES = 300_000
LONG_MS = 60_000
AGAIN = "red armour never gathered"


def hold(element: int, value: float, name: str) -> EditSet:
    """One element that tells a fact, held at what it is when the fact holds, or does not."""
    edit = SiteEdit(elements=(element,), op="set", value=value)
    return EditSet(name=f"h{element} at {value:g}: {name}", edits=(edit,))


HELD = (
    hold(114, 0.88, "green armour gathered"),
    hold(42, -0.54, "red armour not gathered"),
    hold(42, 0.95, "red armour gathered"),
    hold(71, -0.65, "health pack not gathered"),
)


def nothing(page: Page) -> None:
    """The view is good as it opens."""


@dataclass(frozen=True)
class Shot:
    """One view of the workspace, and how to bring it to show something."""

    view: str
    link: str = ""
    act: Callable[[Page], None] = nothing
    large: bool = False
    """Taken in full screen."""


def press(testid: str) -> Callable[[Page], None]:
    """Press a button and let the page settle."""

    def act(page: Page) -> None:
        page.get_by_test_id(testid).first.click()
        page.wait_for_timeout(1500)

    return act


def work_out(lens: str) -> Callable[[Page], None]:
    """Let a lens look, where it has not looked before."""

    def act(page: Page) -> None:
        start = page.get_by_test_id(f"start-{lens}")
        if start.count():
            start.click()
        page.get_by_test_id(f"{lens}-canvas").wait_for(timeout=LONG_MS)
        page.wait_for_timeout(1500)

    return act


SHOTS = (
    Shot("memory", "order=activation,{start}-{stop}"),
    Shot("timelines"),
    Shot("actions"),
    Shot("observation"),
    Shot("map"),
    Shot("begin"),
    Shot("slit", "side=slit"),
    Shot("edits", "side=edits&elements=3,42,114&why=three flags"),
    Shot("projection", "meaning=states&layout=tsne&hue=next_item", large=True),
    Shot("flags", "meaning=flags", press("flag-fact"), large=True),
    Shot("strategy", "meaning=strategy"),
    Shot("influence", "meaning=influence", work_out("influence"), large=True),
    Shot("align", "middle=align"),
    Shot("compare", "middle=compare&a={episode};;{name}&b=0;;{again}", large=True),
    Shot("reductions", "middle=reductions&result-table={table}", large=True),
)


def record(folder: Path) -> iv.Study:
    """Episodes, and everything that lenses find in them."""
    subject, world = zoo.load("doom_kitems")
    study = iv.Study.open_or_create(folder)
    iv.record(study, subject, world, episodes=EPISODES, seeds=FIRST_SEED, name=RECORDING)
    for lens in ("pca", "tsne", "flags", "strategy"):
        look(study, lens, recording=RECORDING)
    table(study)
    told = iv.rerun(study, RECORDING, HELD[1], subject, world, episodes=[complete(study)], name=AGAIN)
    print(f"{AGAIN}: parts at step {told.pairs[0].parts.action}")
    return study


def table(study: iv.Study) -> str:
    """What holding each flag does; played once, then found again."""
    subject, world = zoo.load("doom_kitems")
    return iv.reduce_table(study, RECORDING, HELD, subject, world, episodes=60, seed=FIRST_SEED + 100).id


def complete(study: iv.Study) -> int:
    """The first episode that gathers all items."""
    return int(study.recording(RECORDING).groups()["outcome"].to_list().index("all items"))


def take(page: Page, address: str, shot: Shot, place: str) -> None:
    """Open the workspace, bring the view to show something, keep it."""
    page.goto(f"{address}#/memory/{RECORDING.replace(' ', '%20')}?{place}&{shot.link}")
    view = page.get_by_test_id(f"view-{shot.view}")
    view.wait_for(timeout=LONG_MS)
    page.wait_for_timeout(4000)
    shot.act(page)
    if shot.large:
        page.get_by_test_id(f"view-{shot.view}-full").click()
        page.wait_for_timeout(1500)
    save(view.screenshot(), f"memory-{shot.view}")


def save(png: bytes, name: str) -> None:
    """As small as it may be and still be read."""
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    path = PICTURES / f"{name}.webp"
    picture.save(path, quality=86, method=6)
    if path.stat().st_size > MAX_BYTES:
        raise SystemExit(f"{path.name} has {path.stat().st_size} bytes; at most {MAX_BYTES} go into the docs.")
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", type=Path, help="A study that was recorded before; made new where left out.")
    parser.add_argument("--step", type=int, default=120)
    parser.add_argument("--chromium", default=shutil.which("chromium") or shutil.which("google-chrome") or "")
    parser.add_argument("views", nargs="*", help="Only these.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        study = record(given.study or Path(folder) / "k-items.study")
        shoot(study, given)


def shoot(study: iv.Study, given: argparse.Namespace) -> None:
    """Take all pictures that were asked for."""
    subject, world = zoo.load("doom_kitems")
    episode = complete(study)
    line = study.recording(RECORDING).groups().row(episode, named=True)
    place = f"episode={episode}&step={given.step}"
    told = {"episode": episode, "name": RECORDING, "again": AGAIN, "table": table(study), **line}
    PICTURES.mkdir(exist_ok=True)
    with (
        iv.show(study, subject=subject, world=world, open_browser=False) as handle,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=given.chromium, args=["--no-sandbox"])
        settings = {"viewport": {"width": 1440, "height": 960}, "reduced_motion": "reduce"}
        context = browser.new_context(**settings)
        page = context.new_page()
        page.goto(handle.url)
        page.get_by_test_id("workspace").wait_for()
        for shot in SHOTS:
            if not given.views or shot.view in given.views:
                link = shot.link.format(**told)
                take(page, handle.address, Shot(shot.view, link, shot.act, shot.large), place)
        order = f"activation,{line['start']}-{line['stop']}"
        page.goto(f"{handle.address}#/memory/{RECORDING.replace(' ', '%20')}?{place}&meaning=flags&order={order}")
        page.wait_for_timeout(6000)
        save(page.screenshot(), "memory")
        browser.close()


if __name__ == "__main__":
    main()
