"""Trains the paper's pose network on anybody's images: equation 1 with wrapped angles, in the four variants."""

from __future__ import annotations

import csv
import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file

from innerview.errors import InnerviewError, SubjectError
from innerview.store import ImportOptions, Recording, Study, import_files
from innerview.store.files import parsed_json
from innerview.subjects import Subject, subject
from innerview_zoo.models.office import POSE
from innerview_zoo.models.office.learn import Learner, Plan
from innerview_zoo.models.office.pose import CHANNELS, SIZE, PoseNet
from innerview_zoo.models.office.recipes import Recipe, recipe_of
from innerview_zoo.models.office.score import errors, figures
from innerview_zoo.pairs.poses import PoseRows
from innerview_zoo.report import Figure, Progress, no_progress

WEIGHTS, CARD, CURVE, LOADER = "weights.safetensors", "card.json", "curve.csv", "model.py"
_HELD_OUT = 0.1
_MAX_HELD_OUT = 400
_TOLD_EVERY = 10
_HINTED_M = 24.0
"""The question in which square an image was taken knows squares from 0 to here."""
_LOADER = '''"""The pose network that `innerview train pose` made: --subject model.py:make."""

from pathlib import Path

from innerview_zoo import load_pose_network


def make():
    return load_pose_network(Path(__file__).parent)
'''


@dataclass(frozen=True, kw_only=True)
class PoseTraining:
    """What a pose network is trained on, and how long."""

    variant: str = "vanilla"
    """vanilla, augmented, perlin or finetuned."""
    domain: str | None = None
    """Whose images it learns from; the only one unless said."""
    tuned_on: str | None = None
    """Of a finetuned one: the domain that it learns from besides."""
    start: Path | None = None
    """Weights to begin with, or the folder of an earlier training."""
    steps: int | None = None
    minutes: float = 10.0
    """How long, where no number of steps is said."""
    batch: int = 32
    images: int = 4000
    """At most so many of each domain, drawn by seed: each takes 256 kB of memory."""
    depth_m: float = 10.0
    """Depth is given in units of this, from 0 to 1."""
    lr: float | None = None
    device: str = "cpu"
    seed: int = 0

    def __post_init__(self) -> None:
        recipe = recipe_of(self.variant)
        if recipe.tuned_on and not (self.start and self.tuned_on is not None):
            raise InnerviewError(
                "Fine-tuning goes on from weights and needs a second domain: say start (--start FOLDER of a vanilla "
                "one) and the domain that it is tuned on (--tune real)."
            )
        if self.steps is not None and self.steps < 1:
            raise InnerviewError(f"steps is how many batches to learn from: 1 or more, not {self.steps}.")
        if self.batch < 2 or self.images < 2 or not self.minutes > 0:
            raise InnerviewError("batch and images are 2 or more, and minutes more than 0.")


@dataclass(frozen=True)
class TrainedPose:
    """What a training made."""

    folder: Path
    steps: int
    binding: str
    held_out: dict[str, tuple[Figure, ...]] = field(default_factory=dict)
    """Errors on images that were not learnt from, by domain."""


def train_pose(
    data: Recording | Path | str,
    out: Path | str,
    training: PoseTraining | None = None,
    *,
    units: dict[str, str] | None = None,
    progress: Progress = no_progress,
) -> TrainedPose:
    """Train a pose network on a recording, or on a folder or manifest of images, which is imported into `out` first.

    `out` then holds the weights with the model's own normalisation, a card, the curve and `model.py`, whose function
    `make` gives the subject.
    """
    chosen, folder = training or PoseTraining(), Path(out)
    if folder.is_dir() and any(folder.iterdir()):
        raise InnerviewError(f"{folder} holds something already. Take another folder for the training.")
    folder.mkdir(parents=True, exist_ok=True)
    recording = data if isinstance(data, Recording) else _imported(Path(data), folder, units or {})
    run = _Run(chosen, recording, progress)
    try:
        run.learn(progress)
    except KeyboardInterrupt:
        if run.learner.steps == 0:
            raise
    held_out = run.tested(progress)
    _save(folder, run, held_out)
    return TrainedPose(folder, run.learner.steps, run.source.binding, held_out)


def load_pose_network(folder: Path | str) -> Subject:
    """The subject that `train_pose` made."""
    where = Path(folder)
    if not (where / WEIGHTS).is_file():
        raise SubjectError(f"There is no pose network in {where}: `innerview train pose` writes {WEIGHTS} there.")
    path = where / CARD
    name = parsed_json(path.read_bytes(), f"'{CARD}'").get("name") if path.is_file() else None
    made = _subject(str(name or f"pose network {where.resolve().name}"), PoseNet())
    made.load_weights(where / WEIGHTS)
    return made


class _Run:
    """One training: its rows, its images and its learner."""

    def __init__(self, training: PoseTraining, recording: Recording, progress: Progress) -> None:
        self.training, self.recording = training, recording
        self.device = torch.device(training.device)
        self.source = self._rows(training.domain)
        learnt, self.held = _split(self.source, training.seed)
        recipe = recipe_of(training.variant)
        images = learnt.images(keep_on=self.device, progress=progress)
        self.learner = Learner(recipe, self._plan(recipe), images, start=_weights(training.start))
        self.tuned: PoseRows | None = None
        if recipe.tuned_on:
            tuning, self.tuned = _split(self._rows(training.tuned_on), training.seed)
            self.learner.tuning = tuning.images(keep_on=self.device, progress=progress)
        self.losses: list[tuple[int, float, float]] = []

    def _rows(self, domain: str | None) -> PoseRows:
        found = PoseRows.of(self.recording, domain, depth_m=self.training.depth_m)
        return found.chosen(self.training.images, seed=self.training.seed)

    def _plan(self, recipe: Recipe) -> Plan:
        places = self.source.poses[:, :2]
        inside = bool((places >= 0).all()) and bool((places <= _HINTED_M).all())
        return Plan(
            device=self.device,
            batch=self.training.batch,
            lr=self.training.lr or recipe.lr,
            hint=Plan.hint if inside and self.training.start is None else 0.0,
            lens=self.source.lens,
            seed=self.training.seed,
        )

    def learn(self, progress: Progress) -> None:
        """Step after step, until the steps are done or the time is over."""
        steps, seconds, began = self.training.steps, 60 * self.training.minutes, time.monotonic()
        while True:
            spent = time.monotonic() - began
            done = self.learner.steps / steps if steps else spent / seconds
            if done >= 1:
                break
            loss = self.learner.step(done)
            self.learner.seconds = time.monotonic() - began
            if self.learner.steps % _TOLD_EVERY == 1 or self.learner.steps == steps:
                self.losses.append((self.learner.steps, self.learner.seconds, float(loss)))
                told = f"step {self.learner.steps:,}, loss {float(loss):.3f}"
                at, of = (self.learner.steps, steps) if steps else (int(spent), int(seconds))
                progress(at, of, told)

    def tested(self, progress: Progress) -> dict[str, tuple[Figure, ...]]:
        """Errors on rows that were not learnt from, of every domain that was."""
        found = {}
        model = self.learner.model()
        for rows in (self.held, self.tuned):
            if rows is not None and len(rows.rows):
                images = rows.images(keep_on=self.device, progress=progress)
                held = f"held-out rows of {rows.domain or self.recording.name}"
                found[rows.domain] = figures(errors(model, images, device=self.device), held)
        return found

    @property
    def title(self) -> str:
        """What the model is called."""
        domain = f" {self.source.domain}" if self.source.domain else ""
        return f"pose network, {self.learner.recipe.name}, {self.recording.name}{domain}"


def _subject(name: str, module: PoseNet) -> Subject:
    example = {"rgbd": torch.zeros(1, CHANNELS, SIZE, SIZE)}
    return subject(module, name=name, example=example, heads={"pose": POSE})


def _split(rows: PoseRows, seed: int) -> tuple[PoseRows, PoseRows]:
    """Rows to learn from and rows to test on; with few of them all but one are learnt from."""
    count = len(rows.rows)
    if count < 3:
        raise InnerviewError(f"'{rows.recording.name}' has {count} images with a pose; at least 3 are needed.")
    order = np.random.default_rng(seed).permutation(count)
    held = min(max(1, round(_HELD_OUT * count)), _MAX_HELD_OUT)
    return rows.at(np.sort(order[held:])), rows.at(np.sort(order[:held]))


def _imported(path: Path, out: Path, units: dict[str, str]) -> Recording:
    made = import_files(out / "data.study", [path], ImportOptions(name="data", units=units))
    return Study.open(out / "data.study").recording(made.recording)


def _weights(start: Path | None) -> Path | None:
    if start is None:
        return None
    path = start / WEIGHTS if start.is_dir() else start
    if not path.is_file():
        raise SubjectError(f"There are no weights at {path} to start from.")
    return path


def _save(folder: Path, run: _Run, held_out: dict[str, tuple[Figure, ...]]) -> None:
    weights = {n: value.detach().float().cpu().contiguous() for n, value in run.learner.model().state_dict().items()}
    part = folder / f"{WEIGHTS}.part"
    save_file(weights, part)
    part.replace(folder / WEIGHTS)
    card: dict[str, Any] = {
        "name": run.title,
        "variant": run.training.variant,
        "recording": run.recording.name,
        "digest": run.recording.digest,
        "input": {"rgbd": run.source.binding},
        "steps": run.learner.steps,
        "images": len(run.learner.images),
        "seconds": round(run.learner.seconds, 1),
        "seed": run.training.seed,
        "held_out": {
            domain or "all": {figure.name: [figure.value, figure.low, figure.high, figure.count] for figure in told}
            for domain, told in held_out.items()
        },
    }
    (folder / CARD).write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    with (folder / CURVE).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("step", "seconds", "loss"), *run.losses])
    (folder / LOADER).write_text(_LOADER, encoding="utf-8")
