"""One layout over several domains: whose points they are, and which rows are left out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import innerview as iv
from innerview.errors import LensError, UnknownName
from innerview.projection import joint
from innerview.schema import ArraySpec, Head, Output, Predicted, Rows, States


def said(subject: str, domain: str, values: np.ndarray, site: str = "activation.deep") -> Predicted:
    return Predicted(subject=subject, domain=domain, states={site: States.of(values), "head.pose": States.of(values)})


def rows(*found: Predicted, count: int = 40) -> Rows:
    return Rows(numbers=np.arange(100, 100 + count), predicted=lambda: found)


def test_both_pictures_of_a_pair_are_points_of_one_plane() -> None:
    random = np.random.default_rng(0)
    sim = random.normal(size=(40, 6)) * [9, 4, 1, 1, 1, 1]
    real = sim + np.array([0, 30, 0, 0, 0, 0])  # the domains differ by more than the rows do
    made = joint.look(rows(said("net", "sim", sim), said("net", "real", real)), method="pca")
    assert made.rows.tolist() == np.repeat(np.arange(100, 140), 2).tolist()
    assert made.arrays["domain"].tolist() == [0, 1] * 40 and made.value["domains"] == ["sim", "real"]
    assert (made.value["model"], made.value["site"]) == ("net", "activation.deep")
    # Laid out together: the way between the two pictures of a pair is the same everywhere, and long.
    moved = made.places[1::2] - made.places[::2]
    np.testing.assert_allclose(np.linalg.norm(moved, axis=1), 30, rtol=0.02)
    assert float(np.ptp(moved[:, 0])) < 1e-3


def test_pairs_that_are_not_predicted_in_both_domains_are_left_out() -> None:
    values = np.random.default_rng(1).normal(size=(40, 4))
    gaps = values.copy()
    gaps[::2] = np.nan
    made = joint.look(rows(said("net", "sim", values), said("net", "real", gaps)), method="pca")
    assert set(made.rows.tolist()) == set(range(101, 140, 2)) and len(made.rows) == 40


def test_states_on_the_way_say_which_domain_they_are_of() -> None:
    values = np.random.default_rng(2).normal(size=(40, 4))
    shown: list[Output] = []

    def watch(done: int, total: int | None, message: str = "", so_far: Output | None = None) -> None:
        if so_far is not None:
            shown.append(so_far)

    made = joint.look(rows(said("net", "sim", values), said("net", "real", values + 1)), watch=watch)
    assert shown and all(len(each.arrays["domain"]) == len(made.rows) for each in shown)


def test_what_cannot_be_laid_out_together_is_refused() -> None:
    values = np.random.default_rng(3).normal(size=(40, 4))
    with pytest.raises(LensError, match="two domains"):
        joint.look(rows(said("net", "sim", values), said("other", "real", values)))
    both = rows(said("net", "sim", values), said("net", "real", values))
    with pytest.raises(UnknownName, match=r"head\.pose"):
        joint.look(both, site="head.pos")
    with pytest.raises(UnknownName, match="net"):
        joint.look(both, model="nett")


class Seen(nn.Module):
    """A pose and a layer before it, both read off a picture."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.deep, self.pose = nn.Linear(96, 5), nn.Linear(5, 3)

    def forward(self, rgb: Tensor) -> dict[str, Tensor]:
        return {"pose": self.pose(self.deep(rgb.flatten(1)))}


def test_kept_sites_of_predictions_are_laid_out_as_the_module_gives_them(tmp_path: Path) -> None:
    study = iv.Study.create(tmp_path / "pairs.study")
    random = np.random.default_rng(4)
    pictures = {side: random.integers(0, 255, (12, 4, 8, 3), dtype=np.uint8) for side in ("sim", "real")}
    specs = [
        ArraySpec(
            name=side, shape=(4, 8, 3), dtype="uint8", axes=("height", "width", "channel"), domain=side, pair="rgb"
        )
        for side in pictures
    ]
    iv.write_rows(study, "rows", columns={"x": np.zeros(12)}, arrays=pictures, specs=specs)
    module = Seen().eval()
    head = Head(name="pose", kind="pose", size=3, names=("x", "y", "angle"))
    subject = iv.subject(module, name="net", example={"rgb": torch.zeros(1, 3, 4, 8)}, heads={"pose": head})
    for side in pictures:
        iv.predict(study, subject, "rows", inputs={"rgb": side}, keep=["deep"], progress=False)
    made = iv.look(study, "joint", "rows", progress=False, method="pca")
    assert made.value["site"] == "site.deep" and made.value["model"] == "net"
    with torch.no_grad():
        given = {side: torch.from_numpy(p).permute(0, 3, 1, 2).float() / 255 for side, p in pictures.items()}
        deep = np.stack([module.deep(each.flatten(1)).numpy() for each in given.values()], axis=1).reshape(24, 5)
    centred = deep - deep.mean(0)
    wanted = np.linalg.norm(centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T, axis=1)
    places = study.result_array(made.id, "places")
    np.testing.assert_allclose(np.linalg.norm(places, axis=1), wanted, atol=1e-4)
    # Predictions that come later are another question: the result is not the old one.
    iv.predict(study, subject, "rows", inputs={"rgb": "sim"}, keep=["pose"], progress=False)
    assert iv.look(study, "joint", "rows", progress=False, method="pca").id != made.id
