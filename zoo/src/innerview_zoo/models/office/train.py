"""Trains the office's pose networks: from an RGB-D picture to x, y and heading.

Needs torch, numpy and safetensors; one GPU with 20 GB for all 60,000 pictures, or fewer pictures, or `--keep-on cpu`:

    python train.py --model vanilla --out run --minutes 5                 # begin
    python train.py --model vanilla --out run2 --resume run --minutes 5   # go on
    python train.py --model vanilla augmented perlin finetuned --out run  # all, one after the other
    python train.py --model vanilla --images 3000 --device cpu --minutes 60

Pictures are rendered first (a few thousand a second on a GPU). The learning rate falls with the time that was given.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

from innerview.errors import SubjectError
from innerview_zoo.models.office.augment import Lens
from innerview_zoo.models.office.data import Images, Place, spaced_poses, take
from innerview_zoo.models.office.learn import Learner, Plan
from innerview_zoo.models.office.recipes import RECIPES, Recipe, recipe_of
from innerview_zoo.models.office.score import SIGHTS, errors, pictures

CURVE = ("seconds", "images", "loss", "sim_m", "sim_deg", "real1_m", "real1_deg", "real2_m", "real2_deg")
_SHOWN = ("sim", "real1", "real2")
_TEST_EVERY_S = 20.0
_SAVE_EVERY_S = 60.0


@dataclass(frozen=True)
class Sets:
    """All pictures, rendered once for all models."""

    training: Images
    tests: dict[str, Images]
    lens: Lens | None = None


class Log:
    """Tells what happens, to the terminal and to a file."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path, self.began = folder / "log.txt", time.monotonic()

    def __call__(self, text: str) -> None:
        line = f"{time.monotonic() - self.began:7.1f} s  {text}\n"
        os.write(1, line.encode())
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line)


def main(given: Sequence[str] | None = None, place: Place | None = None) -> None:
    """Train the models that the command line names."""
    args = arguments(given)
    torch.set_num_threads(args.threads)
    torch.backends.cudnn.benchmark = True
    torch.set_float32_matmul_precision("high")
    log = Log(args.out)
    began = time.monotonic()
    if place is None:
        from innerview_zoo.models.office.place import OfficePlace

        place = OfficePlace()
    sets = prepare(place, args, log)
    began = began if args.all_in else time.monotonic()
    recipes = [recipe_of(name) for name in args.model]
    for number, recipe in enumerate(recipes):
        left_s = 60 * args.minutes - (time.monotonic() - began)
        share = recipe.weight / sum(later.weight for later in recipes[number:])
        train(recipe, sets, args, seconds=max(left_s * share, 1.0), log=log)


def prepare(place: Place, args: argparse.Namespace, log: Log) -> Sets:
    """Render what is trained and tested on."""
    device, keep_on = torch.device(args.device), torch.device(args.keep_on or args.device)
    poses = spaced_poses(place, args.images, seed=args.seed)
    log(f"{len(poses)} poses at least 0.3 m apart over place and heading")
    tests = {}
    for sight in SIGHTS:
        count = args.pairs if sight.tour else args.test_images
        tests[sight.key] = pictures(place, sight, count, device=device, keep_on=keep_on)
    for key, images in tests.items():
        means = ", ".join(f"{value:.1f}" for value in images.rgbd.float().mean((0, 2, 3)))
        log(f"{len(images)} test pictures '{key}', on average {means}")
    began = time.monotonic()
    training = take(place, poses, month=0, device=device, keep_on=keep_on)
    if device.type == "cuda":
        torch.cuda.synchronize()
    took_s = time.monotonic() - began
    log(f"{len(training)} pictures rendered in {took_s:.1f} s, {len(training) / took_s:.0f} a second")
    return Sets(training, tests, place.lens)


def train(recipe: Recipe, sets: Sets, args: argparse.Namespace, *, seconds: float, log: Log) -> None:
    """Train one model for that long, testing and saving now and then."""
    out: Path = args.out / recipe.name
    kept: Path = (args.state or args.out) / recipe.name / "state.pt"
    learner = Learner(recipe, plan_of(recipe, args, sets), sets.training, start=start_of(recipe, args))
    learner.tuning = sets.tests[f"real{recipe.tuned_on}"] if recipe.tuned_on else None
    if args.resume:
        learner.load(args.resume / recipe.name / "state.pt")
    log(f"{recipe.name}: {sum(p.numel() for p in learner.model().parameters()):,} weights, {seconds:.0f} s")
    earlier, began = learner.seconds, time.monotonic()
    tested = saved = began
    try:
        while (spent := time.monotonic() - began) < seconds:
            loss = learner.step((earlier + spent) / (earlier + seconds))
            if learner.steps % 8 == 0 and time.monotonic() - tested > min(_TEST_EVERY_S, seconds / 3):
                learner.seconds = earlier + time.monotonic() - began
                _report(learner, sets, float(loss), log)
                tested = time.monotonic()
            if time.monotonic() - saved > _SAVE_EVERY_S:
                _save(learner, out, kept)
                saved = time.monotonic()
    except KeyboardInterrupt:  # Ctrl-C leaves a checkpoint
        learner.seconds = earlier + time.monotonic() - began
        _save(learner, out, kept)
        raise
    learner.seconds = earlier + time.monotonic() - began
    _report(learner, sets, float(loss), log)
    _save(learner, out, kept)
    log(f"{recipe.name}: finished after {learner.seconds:.0f} s and {learner.seen:,} images")


def plan_of(recipe: Recipe, args: argparse.Namespace, sets: Sets) -> Plan:
    """How the command line wants it trained."""
    return Plan(
        device=torch.device(args.device),
        batch=args.batch,
        lr=args.lr or recipe.lr,
        hint=args.hint if args.hint is not None else 0.0 if start_of(recipe, args) else Plan.hint,
        unit_m=args.unit,
        turn_deg=args.turn,
        lens=sets.lens,
        seed=args.seed,
    )


def start_of(recipe: Recipe, args: argparse.Namespace) -> Path | None:
    """The weights to begin with: those given; for tuning else those just trained, or those of the zoo."""
    if not recipe.tuned_on and not args.start:
        return None
    here = args.out / "vanilla" / "weights.safetensors"
    zoo = Path(__file__).parent / "office_vanilla" / "weights.safetensors"
    for path in (args.start,) if args.start else (here, zoo):
        if path.is_file():
            return Path(path)
    if args.start:
        raise SubjectError(f"There are no weights at {args.start} to start from.")
    raise SubjectError(f"'{recipe.name}' begins with a vanilla model: train one first, or give weights as --start.")


def _report(learner: Learner, sets: Sets, loss: float, log: Log) -> None:
    model, device = learner.model(), learner.plan.device
    told = []
    for key in _SHOWN:
        found = errors(model, sets.tests[key], device=device, batch=250 if device.type == "cuda" else 25)
        told += [float(np.median(found.place_m)), float(np.median(found.heading_deg))]
    rounded = (round(value, 3) for value in told)
    learner.curve.append((round(learner.seconds, 1), learner.seen, round(loss, 4), *rounded))
    pairs = zip(_SHOWN, told[::2], told[1::2], strict=True)
    shown = ", ".join(f"{key} {metres:.2f} m {degrees:.1f}°" for key, metres, degrees in pairs)
    pace = learner.seen / max(learner.seconds, 1e-6)
    log(f"{learner.recipe.name}: {learner.seen:,} images, {pace:.0f}/s, loss {loss:.3f}; median {shown}")


def _save(learner: Learner, out: Path, kept: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    weights = {name: value.detach().half().cpu().contiguous() for name, value in learner.model().state_dict().items()}
    part = out / "weights.part"
    save_file(weights, part)
    part.replace(out / "weights.safetensors")
    part = out / "curve.part"
    with part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(CURVE)
        writer.writerows(learner.curve)
    part.replace(out / "curve.csv")
    learner.save(kept)


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", nargs="+", choices=list(RECIPES), default=["vanilla"])
    parser.add_argument("--out", type=Path, required=True, help="a folder in it for each model")
    parser.add_argument("--resume", type=Path, help="the --out (or --state) of an earlier run")
    parser.add_argument("--state", type=Path, help="where states to resume from are saved; --out if not given")
    parser.add_argument("--start", type=Path, help="weights to begin with")
    parser.add_argument("--minutes", type=float, default=15.0, help="of training, for all models together")
    parser.add_argument("--all-in", action="store_true", help="the minutes include rendering")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--keep-on", help="device whose memory holds the pictures (256 kB each); --device if not given")
    parser.add_argument("--images", type=int, default=60_000)
    parser.add_argument("--test-images", type=int, default=1000)
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--lr", type=float)
    parser.add_argument(
        "--hint",
        type=float,
        help=f"weight of questions asked in training only; {Plan.hint}, or 0 with weights to begin with",
    )
    parser.add_argument("--unit", type=float, default=Plan.unit_m, help="metres in which the loss measures places")
    parser.add_argument("--turn", type=float, default=Plan.turn_deg, help="degrees by which pictures are turned aside")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args(given)


if __name__ == "__main__":
    main()
