"""Saliency maps of an Atari agent beside Captum's and beside a forward pass a patch; maps on a move and while playing.

Run: python benchmarks/saliency.py [--rows N] [--rounds N] [--only maps,path,patches,page]
Both sides look at the same rows of one episode of Breakout, in one process, turn by turn, and give the same maps.
Captum is given the size of pieces that suits it best, and the actions it is asked about are found by a forward pass, as
ours are. Ratios are of the processor's time (user and system), medians over the rounds: the machine may be shared.
"""

# ruff: noqa: T201 - a benchmark speaks
from __future__ import annotations

import os

# Threads that wait must not keep a core busy: beside other work that would be measured too, for both sides alike.
os.environ |= {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}

import argparse
import shutil
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import captum.attr
import innerview_zoo as zoo
import numpy as np
import torch
from playwright.sync_api import Page, sync_playwright
from torch import Tensor, nn

import innerview as iv
from innerview.lenses.discovery import as_loaded_lens
from innerview.lenses.look import run_lens
from innerview.lenses.rows.inputs import RowInputs
from innerview.saliency import blurring, integrated_input, sarfa
from innerview.saliency.perturbation import Grid, blurred
from innerview.testing.feeds import fed_rows

PIECES = (32, 64, 128, 250)
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
TOGETHER = torch.channels_last
Work = Callable[[], np.ndarray]


class Answers(nn.Module):
    """Q values alone, as Captum wants them."""

    def __init__(self, whole: nn.Module) -> None:
        super().__init__()
        self.whole = whole

    def forward(self, frames: Tensor) -> Tensor:
        said: Tensor = self.whole(frames)["q"]
        return said


@dataclass(frozen=True)
class Bench:
    """An agent and what it saw."""

    agent: iv.Subject
    frames: Tensor
    rounds: int

    @property
    def answers(self) -> Answers:
        """Its Q values."""
        return Answers(self.agent.module).eval()

    def ours(self, lens: str, frames: Tensor, **parameters: Any) -> np.ndarray:
        """A lens as a job runs it."""
        rows = fed_rows(self.agent, {"frames": frames})
        found = run_lens(as_loaded_lens(lens), rows, self.agent, {"target": "action", **parameters})
        return found.stored()["heat.frames"]

    def chosen(self, frames: Tensor) -> Tensor:
        """What it does."""
        with torch.no_grad():
            return self.answers(frames).argmax(dim=1)

    def against(self, ours: Work, theirs: Work) -> tuple[tuple[float, float], float, float]:
        """Seconds of the processor of both, the ratio of them and of the clock's, each the median over rounds."""
        took = [(seconds(ours), seconds(theirs)) for _ in range(self.rounds)]
        processor, clock = (statistics.median(b[i] / a[i] for a, b in took) for i in (1, 0))
        return tuple(statistics.median(t[side][1] for t in took) for side in (0, 1)), processor, clock  # type: ignore[return-value]


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """By the clock, and of the processor."""
    began, spent = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - began, time.process_time() - spent


def in_pieces(work: Callable[[Tensor], Tensor], frames: Tensor, size: int) -> np.ndarray:
    """All rows, some at a time."""
    return np.concatenate([work(some).detach().numpy() for some in frames.split(size)])


def best_piece(work: Callable[[int], object], sizes: tuple[int, ...] = PIECES) -> int:
    """The size of pieces that takes the least time of the processor, of two tries each."""
    return min(sizes, key=lambda size: min(seconds(lambda: work(size))[1] for _ in range(2)))


def maps(bench: Bench) -> None:
    """Guided backpropagation and Grad-CAM over the episode."""
    answers, frames = bench.answers, bench.frames
    guided = captum.attr.GuidedBackprop(answers)
    cam = captum.attr.LayerGradCam(answers, answers.whole.get_submodule("eyes.conv1"))

    def with_guided(some: Tensor) -> Tensor:
        found: Tensor = guided.attribute(some.clone().requires_grad_(), bench.chosen(some))
        return found

    def with_cam(some: Tensor) -> Tensor:
        small = cam.attribute(some.clone(), bench.chosen(some))
        return captum.attr.LayerAttribution.interpolate(small, (84, 84), "bilinear")

    for lens, title, theirs in (
        ("guided", "guided backpropagation", with_guided),
        ("gradcam", "Grad-CAM", with_cam),
    ):
        few = frames[:64]
        apart = float(np.abs(bench.ours(lens, few) - in_pieces(theirs, few, 64)).max())
        note = "" if lens == "guided" else " (cells are laid where they look, Captum's over the whole picture)"
        print(f"{title}: largest difference between the two {apart:.1e}{note}")
        for layout, given in (("usual", frames), ("channels together", frames.contiguous(memory_format=TOGETHER))):
            size = best_piece(partial(in_pieces, theirs, given))
            spent, ratio, clock = bench.against(
                partial(bench.ours, lens, frames), partial(in_pieces, theirs, given, size)
            )
            mine, other = (len(frames) / each for each in spent)
            print(f"  Captum, {layout}, pieces of {size}: {ratio:.2f} times, {clock:.2f} by the clock")
            wanted = "wanted: 2 times Captum's" if layout == "usual" else f"Captum with {layout}"
            print(f"| {title}: frames/s of the processor ({wanted}) | {mine:.0f} ({ratio:.1f} times) | {other:.0f} |")


def path(bench: Bench) -> None:
    """Integrated gradients: the time that each takes for a map of a certain error."""
    frames = bench.frames[::16]
    target, ig = bench.chosen(frames), captum.attr.IntegratedGradients(bench.answers)
    rows = fed_rows(bench.agent, {"frames": frames})
    fine = integrated_input.look(rows, bench.agent, steps=400, rule="gauss").heat["frames"]
    with torch.no_grad():
        said, begun = (bench.answers(x).gather(1, target[:, None])[:, 0] for x in (frames, frames * 0))
    wanted = (said - begun).numpy()

    def theirs(steps: int, size: int) -> np.ndarray:
        found: Tensor = ig.attribute(frames, target=target, n_steps=steps, internal_batch_size=size)
        return found.detach().numpy()

    def errors(found: np.ndarray) -> tuple[float, float]:
        whole = np.median(np.abs(found.sum((1, 2, 3)) - wanted) / np.abs(wanted))
        off = np.linalg.norm((found - fine).reshape(len(found), -1), axis=1)
        return float(whole), float(np.median(off / np.linalg.norm(fine.reshape(len(fine), -1), axis=1)))

    same = bench.ours("integrated-input", frames, steps=50, rule="gauss") - theirs(50, 64)
    print(
        f"integrated gradients, {len(frames)} frames: same rule and steps, largest difference {np.abs(same).max():.1e}"
    )
    size = best_piece(lambda s: theirs(20, s), (64, 128, 256))
    mine = errors(bench.ours("integrated-input", frames))
    print(f"  ours, 16 secants: misses {mine[0]:.1e} of the whole, {mine[1]:.4f} from the map of 400 steps")
    for steps in (50, 100, 150):
        their = errors(theirs(steps, size))
        spent, ratio, clock = bench.against(
            partial(bench.ours, "integrated-input", frames), partial(theirs, steps, size)
        )
        equal, *_ = bench.against(
            partial(bench.ours, "integrated-input", frames, steps=steps, rule="gauss"), partial(theirs, steps, size)
        )
        print(
            f"  Captum, {steps} steps in pieces of {size}: misses {their[0]:.1e}, map off by {their[1]:.4f}; ours "
            f"{ratio:.2f} times ({clock:.2f} by the clock), with its rule and steps {equal[1] / equal[0]:.2f} times"
        )
        if their[1] <= mine[1] or steps == 150:
            rate = [len(frames) / each for each in spent]
            row = "integrated gradients, Atari: frames/s of the processor (wanted: 8 times Captum's)"
            ours, other = (f"misses {whole:.0e}, map off by {off:.3f}" for whole, off in (mine, their))
            told = f"{rate[0]:.1f} ({ratio:.1f} times; {ours})"
            print(f"| {row} | {told} | {rate[1]:.1f} (Captum, {steps} steps; {other}) |")
            break


def patches(bench: Bench) -> None:
    """Perturbation and SARFA beside one forward pass a patch, blurs and masks made beforehand for both."""
    frames = bench.frames[100::100]
    rows, image = fed_rows(bench.agent, {"frames": frames}), bench.agent.info.inputs[0]
    grid = Grid.over(image, 5)
    masks, answers = grid.spots(image, 5.0), bench.answers

    def one_by_one(score: Callable[[Tensor, Tensor], Tensor]) -> np.ndarray:
        found = []
        with torch.no_grad():
            for own in frames.split(1):
                before, instead = answers(own), blurred(own, 3.0)
                found += [score(before, answers(own + mask * (instead - own))) for mask in masks]
        return grid.pictured(torch.cat(found).view(len(frames), -1), image).numpy()

    def moved(before: Tensor, after: Tensor) -> Tensor:
        return 0.5 * (before - after).square().sum(1)

    def specific(before: Tensor, after: Tensor) -> Tensor:
        return sarfa.sarfa(before, after, before.argmax(1))

    for title, lens, score in (("perturbation", blurring, moved), ("SARFA", sarfa, specific)):

        def ours(lens: Any = lens) -> np.ndarray:
            return np.asarray(lens.look(rows, bench.agent).heat["frames"])

        apart = float(np.abs(ours() - one_by_one(score)).max())
        spent, ratio, clock = bench.against(ours, partial(one_by_one, score))
        ratios = f"{ratio:.2f} times, {clock:.2f} by the clock"
        print(f"{title}, {len(masks)} patches: largest difference {apart:.1e}; {ratios}")
        mine, other = (len(frames) / each for each in spent)
        row = f"{title}: frames/s of the processor (wanted: 3 times a forward pass a patch)"
        print(f"| {row} | {mine:.2f} ({ratio:.1f} times) | {other:.2f} |")


def page(bench: Bench, study: iv.Study) -> None:
    """How long a map takes after a move in the page, and how many steps a second a grid of twelve follows."""
    found = next(filter(None, map(shutil.which, BROWSERS)))
    with iv.show(study, subject=bench.agent, open_browser=False) as handle, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        sheet = browser.new_page(viewport={"width": 1440, "height": 900})
        worst = 0.0
        for lens in ("gradient", "guided", "gradcam", "integrated-input"):
            opened(sheet, handle.url, f"step=20&methods={lens}&targets=action", 1)
            took = sheet.evaluate(MOVES, 30)
            middle, slow = np.median(took), np.percentile(took, 90)
            worst = max(worst, float(middle))
            print(f"page: {lens} after a move: median {middle:.0f} ms, slowest tenth {slow:.0f} ms")
        print(
            f"| a map after a move in the page: ms, the slowest of four methods (wanted: under 150) | {worst:.0f} | |"
        )
        cells = "methods=guided,gradcam,gradient,integrated-input&targets=action,value,left of advantage"
        opened(sheet, handle.url, f"step=20&{cells}", 12)
        follows = sheet.evaluate(PLAYS, 10)
        print(
            f"page: 3 × 4 maps while playing: the slowest cell draws {follows['slowest']:.1f} steps/s, all twelve draw "
            f"{follows['whole']:.1f} of the same steps/s; load of the machine {os.getloadavg()[0]:.1f}"
        )
        print(f"| 3 × 4 maps while playing: steps/s (wanted: 5 or more) | {follows['slowest']:.1f} | |")
        browser.close()


def opened(sheet: Page, url: str, asked: str, cells: int) -> None:
    """Come to the maps of the episode and wait until all are drawn."""
    sheet.goto("about:blank")
    sheet.goto(f"{url}#/saliency/x?episode=0&{asked}")
    sheet.wait_for_function(
        f'() => document.querySelectorAll(\'[data-testid="saliency-cell"]:not([data-row=""])\').length === {cells}',
        timeout=120_000,
    )


MOVES = """async (count) => {
    const row = () => document.querySelector('[data-testid="saliency-cell"]').dataset.row;
    const took = [];
    for (let i = 0; i < count; i++) {
        const [before, begin] = [row(), performance.now()];
        document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true}));
        while (row() === before) await new Promise((done) => setTimeout(done, 1));
        took.push(performance.now() - begin);
        await new Promise((done) => setTimeout(done, 60));
    }
    return took;
}"""
PLAYS = """async (seconds) => {
    const cells = [...document.querySelectorAll('[data-testid="saliency-cell"]')];
    const drawn = cells.map(() => new Set());
    document.querySelector('[data-testid="play"]').click();
    const end = performance.now() + 1000 * seconds;
    while (performance.now() < end) {
        cells.forEach((cell, i) => drawn[i].add(cell.dataset.row));
        await new Promise((done) => setTimeout(done, 2));
    }
    document.querySelector('[data-testid="play"]').click();
    const whole = [...drawn[0]].filter((row) => drawn.every((rows) => rows.has(row)));
    return {slowest: Math.min(...drawn.map((rows) => rows.size - 1)) / seconds, whole: whole.length / seconds};
}"""


def episode(folder: Path, steps: int) -> tuple[iv.Subject, iv.Study, Tensor]:
    """The agent, a study of it playing, and what it saw."""
    agent, world = zoo.load("breakout_dqn")
    study = iv.Study.create(folder / "breakout.study", "breakout")
    recording = iv.record(study, agent, world, episodes=1, name="x", max_steps=steps, progress=False)
    return agent, study, RowInputs(agent, recording).inputs(np.arange(recording.rows))["frames"]


def main() -> None:
    """Record an episode and look at it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="maps,path,patches,page")
    args = parser.parse_args()
    warnings.filterwarnings("ignore", message="Setting backward hooks")
    with tempfile.TemporaryDirectory() as folder:
        agent, study, frames = episode(Path(folder), args.rows)
        bench = Bench(agent, frames, args.rounds)
        print(f"{len(frames)} steps of Breakout, {torch.get_num_threads()} threads")
        for part in args.only.split(","):
            if part == "page":
                page(bench, study)
            else:
                {"maps": maps, "path": path, "patches": patches}[part](bench)
            print(f"load of the machine {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
