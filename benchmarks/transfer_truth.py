"""Do lenses of the sim2real gap find what differs? Changes are planted in the office, so the changed pixels are known.

Run: python benchmarks/transfer_truth.py [--count N] [--model NAME] [--layers a,b] [--seen clean,stand-in] [--only …]
In each instance one thing that the camera sees is removed, moved or painted in another colour: SIM is the floor as it
was, REAL the floor as it is. "clean": nothing else differs. "stand-in": REAL has the light, white balance, exposure,
blur and depth noise of month 1 as well. Changed are the pixels that show the thing in either picture. AUROC is that of
each picture's heat for its changed pixels, as a mean over instances with the middle 95 % of what it is when they are
drawn again. On the map the same heat and the same mask are projected, and cells that were seen are counted.
Blame: REAL is SIM with one of eight factors at a strength from 0.6 to 1.4, and blame must name it first.
"""

# ruff: noqa: T201 - a benchmark speaks
from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import innerview_zoo as zoo
import numpy as np
import torch
from innerview_zoo.models.office.blame import blame_planted
from innerview_zoo.worlds.office import (
    GAPS,
    Camera,
    Conditions,
    Floor,
    Frame,
    Thing,
    office_floor,
    render,
    rgbd_of,
    sample_poses,
)

import innerview as iv
from innerview.schema import Camera as Intrinsics
from innerview.schema import Column, PosePart, Rows
from innerview.testing.feeds import GivenFeed, fed_rows
from innerview.transfer import blame, distance, occlusion
from innerview.transfer.factors import blurred
from innerview.transfer.ground import Gathering, Grid

KINDS = ("removed", "moved", "recoloured")
SEEN = {
    "clean": Conditions.simulated(),
    "stand-in": Conditions.real(month=1).only("light", "white_balance", "exposure", "motion_blur", "depth_noise"),
}
SHARES = (0.005, 0.2)
"""How much of the picture the thing fills in SIM."""
COLOURS = ("#b03030", "#2f7f4f", "#2f4f9f", "#c7a040", "#8040a0", "#202020", "#e8e8e8")
FIXED = ("lamp", "column", "rug", "door sign")
CELL_M = 0.1
PARTS: tuple[PosePart, ...] = ("x", "y", "angle")
Score = Callable[[np.ndarray, np.ndarray], float]


@dataclass(frozen=True)
class Instance:
    """One view of a floor and of the same floor with a change."""

    kind: str
    thing: Thing
    pose: torch.Tensor
    """[3]."""
    edited: Floor


@dataclass(frozen=True)
class Pair:
    """What was seen of both, [4, height, width] from 0 to 1, and what changed."""

    sim: torch.Tensor
    real: torch.Tensor
    changed: np.ndarray
    """bool [height, width]."""
    depth_m: np.ndarray
    pose: torch.Tensor


def instances(count: int, seed: int = 0) -> Iterator[Instance]:
    """Views whose change shows; the kinds of change in turn."""
    floor, chance = office_floor(0), random.Random(seed)
    poses = sample_poses(floor, max(64, 4 * count), seed=1000 + seed)
    small = Camera(size=64)
    given = 0
    for first in range(0, len(poses), 64):
        some = poses[first : first + 64]
        for pose, ids in zip(some, render(floor, some, camera=small).ids, strict=True):
            if given == count:
                return
            kind = KINDS[given % len(KINDS)]
            found = _change(floor, ids, kind, chance)
            if found is not None and _shows(floor, found[1], pose):
                thing, edited = found
                yield Instance(kind, thing, pose, edited)
                given += 1
    if given < count:
        raise SystemExit(f"Only {given} views show a thing of the right size.")


def _shows(floor: Floor, edited: Floor, pose: torch.Tensor) -> bool:
    """Whether the change can be seen: some things are not painted in their own colour."""
    before, after = (render(each, pose[None], camera=Camera(size=64)) for each in (floor, edited))
    return bool((before.rgb != after.rgb).any())


def _change(floor: Floor, ids: torch.Tensor, kind: str, chance: random.Random) -> tuple[Thing, Floor] | None:
    known = {thing.id: thing for thing in floor.things if thing.kind not in FIXED}
    values, pixels = np.unique(ids.numpy(), return_counts=True)
    low, high = (share * ids.numel() for share in SHARES)
    shown = [known[int(v)] for v, n in zip(values, pixels, strict=True) if int(v) in known and low <= n <= high]
    if not shown:
        return None
    thing = chance.choice(shown)
    if kind == "removed":
        return thing, floor.without(thing.id)
    if kind == "moved":
        far, way = chance.uniform(0.4, 0.9), chance.uniform(0, 2 * math.pi)
        x, y = thing.x + far * math.cos(way), thing.y + far * math.sin(way)
        if not (0.3 < x < floor.size_m[0] - 0.3 and 0.3 < y < floor.size_m[1] - 0.3):
            return None
        return thing, floor.moved(thing.id, x=x, y=y)
    colour = chance.choice([each for each in COLOURS if each != thing.colour])
    painted = tuple(replace(each, colour=colour) if each.id == thing.id else each for each in floor.things)
    return thing, replace(floor, things=painted, cache={})


def pair_of(instance: Instance, seen: str) -> Pair:
    """Both pictures, and the pixels that show the thing in either."""
    pose = instance.pose[None]
    sim = render(office_floor_once(), pose)
    plain = render(instance.edited, pose)
    real = plain if seen == "clean" else render(instance.edited, pose, conditions=SEEN[seen])
    moved = _ids_of(instance, office_floor_once())
    changed = np.isin(sim.ids[0].numpy(), moved) | np.isin(plain.ids[0].numpy(), moved)
    return Pair(_rgbd(sim), _rgbd(real), changed, real.depth[0].numpy(), instance.pose)


def _ids_of(instance: Instance, floor: Floor) -> list[int]:
    """The thing and, where it goes or moves, what stands on it."""
    ids = [instance.thing.id]
    while instance.kind != "recoloured":
        more = [thing.id for thing in floor.things if thing.on in ids and thing.id not in ids]
        if not more:
            break
        ids += more
    return ids


def _rgbd(frame: Frame) -> torch.Tensor:
    return rgbd_of(frame)[0].float() / 255


_FLOOR: list[Floor] = []


def office_floor_once() -> Floor:
    """The standard floor, whose light is worked out once."""
    if not _FLOOR:
        _FLOOR.append(office_floor(0))
    return _FLOOR[0]


def rows_of(subject: iv.Subject, sim: torch.Tensor, real: torch.Tensor, poses: torch.Tensor) -> Rows:
    """Pairs as a lens takes them."""
    columns = {part: poses[:, place].double().numpy() for place, part in enumerate(PARTS)}
    units = {"x": "m", "y": "m", "angle": "rad"}
    return fed_rows(
        subject,
        {"rgbd": real},
        domains={"sim": GivenFeed(subject, {"rgbd": sim}), "real": GivenFeed(subject, {"rgbd": real})},
        channels={"rgbd": ("colour",) * 3 + ("depth",)},
        columns=columns,
        specs={part: Column(name=part, type="float", unit=units[part], pose=part) for part in PARTS},
    )


def auroc(heat: np.ndarray, changed: np.ndarray) -> float:
    """How often a changed pixel has more heat than another; ties count half."""
    values, place, times = np.unique(heat.ravel(), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(times) - (times - 1) / 2)[place.ravel()]
    yes = int(changed.sum())
    no = changed.size - yes
    return float((ranks[changed.ravel()].sum() - yes * (yes + 1) / 2) / (yes * no)) if len(values) else 0.5


def interval(values: list[float]) -> str:
    """Mean and the middle 95 % of what it is when instances are drawn again."""
    found, rng = np.array(values), np.random.default_rng(0)
    drawn = found[rng.integers(0, len(found), (2000, len(found)))].mean(1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return f"{found.mean():.3f} ({low:.3f}–{high:.3f})"


def heats(subject: iv.Subject, pair: Pair, layers: tuple[str, ...], patches: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Heat [height, width] of every method over one pair; sizes only, as a change may bring a prediction either way."""
    rows = rows_of(subject, pair.sim[None], pair.real[None], pair.pose[None])
    found = {"image difference": (pair.sim - pair.real).abs().mean(0).numpy()}
    for layer in layers:
        for measure in distance.MEASURES:
            heat = distance.look(rows, subject, layer=layer, measure=measure).heat["rgbd"][0, 0]
            found[f"feature distance, {measure}, {layer}"] = heat
    for patch in patches:
        heat = np.abs(occlusion.look(rows, subject, patch=patch, step=patch // 2 if patch else 0).heat["rgbd"][0, 0])
        found[f"occlusion, patches of {patch or 43} px" + (", half over each other" if patch else "")] = heat
    found["chance"] = np.random.default_rng(int(pair.changed.sum())).random(pair.changed.shape)
    return found


def on_map(heat: np.ndarray, pair: Pair) -> tuple[np.ndarray, np.ndarray]:
    """Mean heat of each cell that was seen, and whether most of what was seen there changed."""
    camera = Camera(size=heat.shape[0])
    middle = heat.shape[0] / 2
    known = Intrinsics(
        width_px=heat.shape[1], height_px=heat.shape[0], focal_px=(camera.focal_px, camera.focal_px),
        centre_px=(middle, middle), height_m=camera.height_m, pitch_deg=camera.pitch_deg,
    )  # fmt: skip
    grid = Grid.over((0.0, 0.0), office_floor_once().size_m, CELL_M)
    planes = []
    for values in (heat.astype(np.float32), pair.changed.astype(np.float32)):
        gathering = Gathering(grid, known, combine="mean")
        gathering.add(pair.depth_m[None], pair.pose[None].numpy(), values[None])
        planes.append(gathering.gathered)
    seen = planes[0].counts > 0
    return planes[0].values[seen], planes[1].values[seen] > 0.5


def measure(
    subject: iv.Subject, made: list[Instance], seen: str, layers: tuple[str, ...], patches: tuple[int, ...]
) -> None:
    """Print a table of AUROC, over pixels and over cells of the map."""
    pixels: dict[str, list[float]] = {}
    cells: dict[str, list[float]] = {}
    by_kind: dict[tuple[str, str], list[float]] = {}
    used = 0
    for instance in made:
        pair = pair_of(instance, seen)
        used += 1
        for name, heat in heats(subject, pair, layers, patches).items():
            score = auroc(heat, pair.changed)
            pixels.setdefault(name, []).append(score)
            by_kind.setdefault((name, instance.kind), []).append(score)
            values, changed = on_map(heat, pair)
            if changed.any() and not changed.all():
                cells.setdefault(name, []).append(auroc(values, changed))
    print(f"\n{subject.info.name}, {seen}: {used} instances")
    print(
        "| heat | AUROC, pixels | AUROC, cells of the map | removed | moved | recoloured |\n|---|---|---|---|---|---|"
    )
    for name, scores in pixels.items():
        kinds = " | ".join(f"{np.mean(by_kind.get((name, kind), [math.nan])):.3f}" for kind in KINDS)
        print(f"| {name} | {interval(scores)} | {interval(cells[name])} | {kinds} |", flush=True)


def planted_gaps(subject: iv.Subject, count: int) -> Iterator[tuple[str, str, float]]:
    """Each of the stand-in's gaps in both months, at a strength that is not told: what was planted, what was named."""
    floor, chance = office_floor_once(), random.Random(0)
    for month in (1, 2):
        poses = sample_poses(floor, count, seed=77 + month)
        candidates = {gap: Conditions.real(month=month).only(gap) for gap in GAPS}
        for gap in GAPS:
            when = replace(Conditions.simulated(), month=month, **{gap: chance.uniform(0.6, 1.4)})  # type: ignore[arg-type]
            real = rgbd_of(render(floor, poses, conditions=when)).float() / 255
            found = blame_planted(subject, real, poses, candidates, floor=floor)
            yield f"{gap}, month {month}", str(found.value["first"]), float(found.lines[0][10])


def planted_filters(subject: iv.Subject, count: int) -> Iterator[tuple[str, str, float]]:
    """Filters of colour and depth at two strengths each: what was planted, what the lens named."""
    poses = sample_poses(office_floor_once(), count, seed=5)
    frame = render(office_floor_once(), poses)
    sim = rgbd_of(frame).float() / 255
    seeded = torch.Generator().manual_seed(3)
    colour, depth = sim[:, :3], sim[:, 3:]
    mean = colour.mean((1, 2, 3), keepdim=True)
    tints = [torch.tensor(gains).view(1, 3, 1, 1) for gains in ((1.1, 1.0, 0.88), (0.9, 0.98, 1.14))]
    planted: dict[str, list[torch.Tensor]] = {
        "brightness": [colour * 0.7, colour * 1.2],
        "contrast": [mean + (colour - mean) * 0.6, mean + (colour - mean) * 1.3],
        "white balance": [colour * tint for tint in tints],
        "blur": [blurred(colour, 1.5), blurred(colour, 3.0)],
        "noise": [colour + s * torch.randn(colour.shape, generator=seeded) for s in (0.03, 0.08)],
        "depth": [torch.where(depth > far, torch.zeros_like(depth), depth) for far in (0.35, 0.5)],
    }
    for name, versions in planted.items():
        for number, made in enumerate(versions):
            parts = (colour, made) if name == "depth" else (made.clamp(0, 1), depth)
            real = (torch.cat(parts, 1) * 255).round() / 255
            found = blame.look(rows_of(subject, sim, real, poses), subject)
            yield f"{name}, {number + 1}", str(found.value["first"]), float(found.lines[0][10])


def measure_blame(subject: iv.Subject, count: int) -> None:
    """Print how often the planted factor is named first."""
    for what, cases in (("gaps switched in SIM", planted_gaps), ("filters on pictures", planted_filters)):
        print(f"\nblame, {what}, {subject.info.name}, {count} pictures a case")
        print("| planted | named first | explains | right |\n|---|---|---|---|")
        right = []
        for planted, named, share in cases(subject, count):
            right.append(planted.rsplit(",", 1)[0] == named)
            print(f"| {planted} | {named} | {share:.2f} | {'yes' if right[-1] else 'NO'} |", flush=True)
        print(f"right: {sum(right)} of {len(right)}", flush=True)


def main() -> None:
    """Measure, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=210)
    parser.add_argument("--model", default="office_vanilla")
    parser.add_argument("--layers", default="block3")
    parser.add_argument("--patches", default="0")
    parser.add_argument("--seen", default="clean,stand-in")
    parser.add_argument("--only", default="pixels,blame")
    parser.add_argument("--pictures", type=int, default=24, help="of each case of blame")
    asked = parser.parse_args()
    subject: iv.Subject = zoo.load(asked.model)[0]
    if "blame" in asked.only:
        measure_blame(subject, asked.pictures)
    if "pixels" not in asked.only:
        return
    made = list(instances(asked.count))
    layers = tuple(each for each in asked.layers.split(",") if each)
    patches = tuple(int(each) for each in asked.patches.split(",") if each)
    for seen in asked.seen.split(","):
        measure(subject, made, seen, layers, patches)


if __name__ == "__main__":
    main()
