"""Ten thousand pairs in the workspace Transfer: how long it takes to open, and how soon a lasso answers.

Run: python benchmarks/transfer_lasso.py [--rows N] [--study FOLDER]
"""

# ruff: noqa: T201 - a benchmark speaks
from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from playwright.sync_api import Page, sync_playwright
from torch import Tensor, nn

import innerview as iv
from innerview.schema import ArraySpec, Column, Head, RowKind

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SIDES = ("sim", "real")
LASSO = """async (turns) => {
    const plot = document.querySelector('[data-testid="joint-plot"]');
    const box = plot.getBoundingClientRect();
    const count = () => document.querySelector('[data-testid="selection-count"]')?.textContent ?? "";
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    const send = (kind, x, y) => plot.dispatchEvent(new PointerEvent(kind, {bubbles: true, cancelable: true, button: 0,
        pointerId: 1, clientX: box.left + x * box.width, clientY: box.top + y * box.height}));
    plot.setPointerCapture = () => {};
    const times = [];
    for (let turn = 0; turn < turns; turn++) {
        document.querySelector('[data-testid="clear-selection"]')?.click();
        await frame(); await frame(); await new Promise((done) => setTimeout(done, 400));
        const wide = 0.2 + 0.02 * turn;
        send("pointerdown", 0.5 - wide, 0.5);
        for (let i = 1; i <= 60; i++) {
            const angle = Math.PI - (2 * Math.PI * i) / 60;
            send("pointermove", 0.5 + wide * Math.cos(angle), 0.5 - wide * Math.sin(angle));
        }
        await frame();
        const before = count();
        const begin = performance.now();
        send("pointerup", 0.5 - wide, 0.5);
        while (count() === before) await frame();
        await frame();  // every view has drawn what it shows
        times.push(performance.now() - begin);
    }
    return [times, count()];
}"""


class Net(nn.Module):
    """A pose off the mean colour."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.deep, self.pose = nn.Linear(3, 16), nn.Linear(16, 3)
        with torch.no_grad():
            self.pose.weight.mul_(20)

    def forward(self, rgb: Tensor) -> dict[str, Tensor]:
        return {"pose": self.pose(torch.tanh(4 * self.deep(rgb.mean((2, 3)))))}


def write_study(folder: Path, rows: int) -> None:
    """Pairs of tiny pictures, and what four nets say of both domains."""
    study, random = iv.Study.create(folder, "transfer"), np.random.default_rng(0)
    shape = (rows, 8, 8, 3)
    pictures = {f"{side}.rgb": random.integers(0, 255, shape, dtype=np.uint8) for side in SIDES}
    axes = ("height", "width", "channel")
    iv.write_rows(
        study,
        "office",
        row=RowKind(one="pair", many="pairs"),
        columns={
            **{axis: random.uniform(0, 20, rows) for axis in "xy"},
            "angle": random.uniform(0, 6.28, rows),
            "room": random.choice(["hall", "lab", "kitchen", "stairs"], rows).tolist(),
        },
        arrays=pictures,
        specs=[
            *(Column(name=axis, type="float", unit="m", pose=axis) for axis in ("x", "y")),
            Column(name="angle", type="float", unit="rad", pose="angle"),
            *(
                ArraySpec(
                    name=f"{d}.rgb", shape=shape[1:], dtype="uint8", role="image", axes=axes, domain=d, pair="rgb"
                )
                for d in SIDES
            ),
        ],
    )
    head = Head(name="pose", kind="pose", size=3, names=("x", "y", "angle"), units=("m", "m", "rad"))
    for seed in range(4):
        example = {"rgb": torch.zeros(1, 3, 8, 8)}
        subject = iv.subject(Net(seed).eval(), name=f"net {seed}", example=example, heads={"pose": head})
        for side in SIDES:
            inputs = {"rgb": f"{side}.rgb"}
            iv.predict(study, subject, "office", inputs=inputs, keep=["deep"], progress=False)
    iv.look(study, "joint", "office", method="pca", progress=False)


def measure(page: Page, url: str, turns: int) -> None:
    begin = time.perf_counter()
    page.goto(f"{url}#/transfer/office")
    page.get_by_test_id("model-error").first.wait_for()
    page.locator('[data-testid="joint-canvas"][data-points]').wait_for()
    print(f"opens in {time.perf_counter() - begin:.2f} s")
    page.wait_for_timeout(3000)
    times, count = page.evaluate(LASSO, turns)
    told = f"lasso: median {np.median(times):.0f} ms, largest {max(times):.0f} ms of {turns}"
    print(f"{told}, the first {times[0]:.0f} ms; the last selects {count.strip()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--study", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = given.study or Path(made) / "transfer.study"
        if not folder.exists():
            write_study(folder, given.rows)
        browser = os.environ.get("INNERVIEW_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)))
        with iv.show(folder, open_browser=False) as handle, sync_playwright() as playwright:
            opened = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
            measure(opened.new_page(viewport={"width": 1600, "height": 1000}), handle.url, given.turns)
            opened.close()


if __name__ == "__main__":
    main()
