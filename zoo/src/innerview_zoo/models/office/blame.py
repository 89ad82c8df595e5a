"""Which of the stand-in's gaps costs a network how much: each is switched on alone, and off alone."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from innerview.schema import Head, Table
from innerview.subjects import Subject
from innerview.transfer.blame import predictions, table
from innerview_zoo.models.office.pose import wrapped
from innerview_zoo.report import Progress, no_progress
from innerview_zoo.worlds.office import GAPS, Camera, Conditions, Floor, office_floor, render, rgbd_of, trajectory

BATCH = 20


def blame(
    subject: Subject,
    *,
    count: int = 40,
    month: int = 1,
    metres_per_radian: float = 1.0,
    progress: Progress = no_progress,
) -> Table:
    """Each gap by how the pose error rises when it alone is on, and falls when it alone is off, on a trajectory."""
    floor, real = office_floor(0), Conditions.real(month=month)
    poses = trajectory(floor, month, count=count)
    switched = {("sim", ""): Conditions.simulated(), ("real", ""): real}
    for gap in GAPS:
        switched |= {("sim", gap): real.only(gap), ("real", gap): real.without(gap)}
    errors, said = {}, {}
    for number, (key, when) in enumerate(switched.items()):
        progress(number, len(switched), key[1] or key[0])
        heads = _heads(subject, _seen(floor, poses, when))
        errors[key], said[key] = _errors(heads["pose"], poses, metres_per_radian), predictions(_head(subject), heads)
    return table(errors, said, GAPS, unit="m", measure="pose")


def blame_planted(
    subject: Subject, real: Tensor, poses: Tensor, candidates: Mapping[str, Conditions], *, floor: Floor | None = None
) -> Table:
    """The same of pictures [n, 4, height, width] of which nobody says what made them: each is tried in SIM."""
    floor = floor or office_floor(0)
    given: dict[tuple[str, str], Tensor] = {
        ("sim", ""): _seen(floor, poses, Conditions.simulated()),
        ("real", ""): real,
    }
    given |= {("sim", name): _seen(floor, poses, when) for name, when in candidates.items()}
    heads = {key: _heads(subject, pictures) for key, pictures in given.items()}
    errors = {key: _errors(said["pose"], poses, 1.0) for key, said in heads.items()}
    said = {key: predictions(_head(subject), value) for key, value in heads.items()}
    return table(errors, said, tuple(candidates), unit="m", measure="pose")


def _seen(floor: Floor, poses: Tensor, when: Conditions) -> Tensor:
    return rgbd_of(render(floor, poses, camera=Camera(size=256), conditions=when)).float() / 255


def _heads(subject: Subject, pictures: Tensor) -> dict[str, Tensor]:
    parts = [subject.run({"rgbd": some}).heads for some in torch.split(pictures, BATCH)]
    return {name: torch.cat([part[name] for part in parts]) for name in parts[0]}


def _head(subject: Subject) -> Head:
    return next(head for head in subject.info.heads if head.kind == "pose")


def _errors(pose: Tensor, truth: Tensor, metres_per_radian: float) -> np.ndarray:
    place = (pose[:, :2] - truth[:, :2]).double().norm(dim=1)
    found: np.ndarray = (place + metres_per_radian * wrapped(pose[:, 2] - truth[:, 2]).double().abs()).cpu().numpy()
    return found
