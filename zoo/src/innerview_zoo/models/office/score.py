"""How far a pose network is off, in the simulation and in the stand-in for reality."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from innerview_zoo.models.office.data import FIRST_TEST_SEED, Images, Place, take
from innerview_zoo.models.office.pose import PoseNet, wrapped
from innerview_zoo.report import Figure, Progress, Report, no_progress, share_figure

WAY = 400
"""Pictures of a whole trajectory, and test pictures anywhere."""
NEAR_M, NEAR_DEG = 0.5, 10.0
HEAD = ("model", "pictures", "place, median m", "mean m", "heading, median °", "mean °", "within 0.5 m and 10°, %")
_RESAMPLED = 2000


@dataclass(frozen=True, kw_only=True)
class Sight:
    """A set of pictures to be tested on."""

    key: str
    title: str
    tour: int
    """Which trajectory; 0 for places drawn anywhere."""
    month: int
    """0 in the simulation, else in the stand-in as it was in that month."""

    @property
    def count(self) -> int:
        """How many pictures are tested on unless told: every second one of a trajectory, for neighbours look alike."""
        return WAY // 2 if self.tour else WAY


SIGHTS = (
    Sight(key="sim", title="simulated, unseen places", tour=0, month=0),
    Sight(key="sim1", title="trajectory 1, simulated", tour=1, month=0),
    Sight(key="real1", title="trajectory 1, stand-in", tour=1, month=1),
    Sight(key="sim2", title="trajectory 2, simulated", tour=2, month=0),
    Sight(key="real2", title="trajectory 2, stand-in", tour=2, month=2),
)


@dataclass(frozen=True)
class Errors:
    """How far off each picture's pose is."""

    place_m: np.ndarray
    heading_deg: np.ndarray

    @property
    def near(self) -> int:
        """How many are within half a metre and ten degrees."""
        return int(np.sum((self.place_m <= NEAR_M) & (self.heading_deg <= NEAR_DEG)))


def pictures(place: Place, sight: Sight, count: int, *, device: torch.device, keep_on: torch.device) -> Images:
    """The pictures of a set, always the same ones: the first so many places, or so many spread over a trajectory."""
    if sight.tour:
        rows = torch.linspace(0, WAY - 1, min(count, WAY)).round().long()
        poses = place.tour(sight.tour, WAY)[rows]
    else:
        poses = place.anywhere(max(count, WAY), FIRST_TEST_SEED)[:count]
    return take(place, poses, month=sight.month, device=device, keep_on=keep_on)


@torch.no_grad()
def errors(model: PoseNet, images: Images, *, device: torch.device, batch: int = 50) -> Errors:
    """The errors of a model on pictures."""
    found = []
    for rows in torch.split(torch.arange(len(images)), batch):
        rgbd, truth = images.batch(rows, device)
        found.append((model(rgbd)["pose"], truth))
    pose, truth = (torch.cat(part).double().cpu() for part in zip(*found, strict=True))
    return compare(pose, truth)


def compare(pose: torch.Tensor, truth: torch.Tensor) -> Errors:
    """Errors of poses [n, 3] against true ones."""
    place_m = (pose[:, :2] - truth[:, :2]).norm(dim=1)
    return Errors(place_m.numpy(), wrapped(pose[:, 2] - truth[:, 2]).abs().rad2deg().numpy())


def guessed(place: Place, count: int = 4000) -> Errors:
    """Errors of one who does not look: the poses of others, drawn anywhere."""
    return compare(place.anywhere(count, FIRST_TEST_SEED + 1).double(), place.anywhere(count, FIRST_TEST_SEED).double())


def bootstrap(
    values: np.ndarray, what: Callable[..., np.ndarray], *, name: str, unit: str = "", how: str = ""
) -> Figure:
    """A median or mean with its interval: the middle 95 % of what it is when pictures are drawn again."""
    rng = np.random.default_rng(0)
    drawn = what(values[rng.integers(0, len(values), (_RESAMPLED, len(values)))], axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return Figure(name, float(what(values)), float(low), float(high), len(values), unit, how)


def figures(found: Errors, how: str) -> tuple[Figure, ...]:
    """Median and mean of both errors, and the share that is near."""
    return (
        bootstrap(found.place_m, np.median, name="position error, median", unit="m", how=how),
        bootstrap(found.place_m, np.mean, name="position error, mean", unit="m", how=how),
        bootstrap(found.heading_deg, np.median, name="heading error, median", unit="°", how=how),
        bootstrap(found.heading_deg, np.mean, name="heading error, mean", unit="°", how=how),
        share_figure(found.near, len(found.place_m), name="within 0.5 m and 10°", how=how),
    )


def table(
    models: dict[str, PoseNet],
    place: Place,
    *,
    count: int | None = None,
    device: torch.device | None = None,
    progress: Progress = no_progress,
    guess: bool = True,
) -> Report:
    """Every model on every set; its main figure is the first model's median position error in the simulation."""
    where = device or torch.device("cpu")
    of = len(SIGHTS) * (len(models) + 1)
    found: dict[tuple[str, str], tuple[Figure, ...]] = {}
    done = 0
    for sight in SIGHTS:
        progress(done, of, f"rendering: {sight.title}")
        images = pictures(place, sight, count or sight.count, device=where, keep_on=where)
        done += 1
        for title, model in models.items():
            found[title, sight.title] = figures(errors(model, images, device=where), sight.title)
            done += 1
            progress(done, of, f"{title}: {sight.title} {found[title, sight.title][0]}")
    ordered = [(title, sight.title) for title in models for sight in SIGHTS]
    rows = [_row(title, sight, found[title, sight]) for title, sight in ordered]
    if guess:
        rows.append(_row("a guess", "simulated, unseen places", figures(guessed(place), "without looking")))
    return Report("Office pose networks", HEAD, tuple(rows), found[ordered[0]][0])


def _row(title: str, pictures_of: str, told: tuple[Figure, ...]) -> tuple[str, ...]:
    cells = (f"{f.value:.2f} ({f.low:.2f}–{f.high:.2f})" for f in told[:4])
    near = told[4]
    return (title, pictures_of, *cells, f"{near.value:.0f} ({near.low:.0f}–{near.high:.0f})")
