"""What a subject predicts for rows of a recording arrives aligned to those rows."""

from __future__ import annotations

import io
from collections.abc import Iterator

import httpx
import numpy as np
import polars as pl
import pytest
import torch
from torch import nn

import innerview as iv
from innerview.serve import Handle, serve
from innerview.store import Study

from .conftest import ROWS, fill, fill_pairs
from .wirework import WAIT_S

SOME = [3, 4, 11]
LIST = "/api/recordings/pairs/predictions"


class Poser(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(4 * 6 * 3, 3)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.head(image.flatten(1))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Study:
    study = Study.create(tmp_path_factory.mktemp("predicted") / "demo", "demo")
    fill(study)
    fill_pairs(study)
    torch.manual_seed(0)
    subject = iv.subject(Poser().eval(), name="poser", example=torch.zeros(1, 3, 4, 6), heads="pose")
    iv.predict(study, subject, "pairs", inputs={"image": "sim"}, progress=False)
    iv.predict(study, subject, "pairs", rows=np.array(SOME), inputs={"image": "real"}, progress=False)
    return study


@pytest.fixture(scope="module")
def served(made: Study) -> Iterator[Handle]:
    with serve(made.path) as handle:
        yield handle


@pytest.fixture(scope="module")
def client(served: Handle) -> Iterator[httpx.Client]:
    token = {"Authorization": f"Bearer {served.token}"}
    with httpx.Client(base_url=served.address, headers=token, timeout=WAIT_S) as client:
        yield client


def table(response: httpx.Response) -> pl.DataFrame:
    assert response.status_code == 200, response.text
    return pl.read_ipc_stream(io.BytesIO(response.content))


def test_predictions_are_listed_with_what_they_hold(client: httpx.Client) -> None:
    some, whole = sorted(client.get(LIST).json(), key=lambda each: each["rows"])
    assert whole["targets"] == [f"{part} of pose" for part in ("x", "y", "angle")]
    assert [each["subject"] for each in (whole, some)] == ["poser", "poser"]
    assert (whole["binding"], some["binding"]) == ("image ← sim", "image ← real")
    assert (whole["rows"], some["rows"]) == (ROWS, len(SOME))
    assert whole["complete"] and whole["current"] and whole["created_at"]
    assert [head["kind"] for head in whole["heads"]] == ["pose"]
    assert "row" in [column["name"] for column in whole["columns"]]
    assert [array["name"] for array in whole["arrays"]] == [f"head.{whole['heads'][0]['name']}"]
    assert client.get("/api/recordings/steps/predictions").json() == []


def test_columns_have_a_line_for_each_row_of_the_recording(client: httpx.Client, made: Study) -> None:
    some, whole = sorted(made.predictions("pairs"), key=lambda each: each.rows)
    name = next(column.name for column in some.info.columns if column.type == "float")
    got = table(client.get(f"{LIST}/{some.id}/columns"))
    assert got["row"].to_list() == [row if row in SOME else None for row in range(ROWS)]
    np.testing.assert_allclose(got[name].to_numpy()[SOME], some.columns([name])[name].to_numpy(), rtol=1e-6)
    part = table(client.get(f"{LIST}/{some.id}/columns", params={"names": name, "start": 4, "stop": 13}))
    assert part.columns == [name]
    assert np.isnan(part[name].to_numpy()).tolist() == [row not in SOME for row in range(4, 13)]
    assert len(table(client.get(f"{LIST}/{some.id}/columns", params={"start": 5, "stop": 9}))) == 4
    assert table(client.get(f"{LIST}/{whole.id}/columns"))["row"].to_list() == list(range(ROWS))


def test_arrays_have_a_line_for_each_row_of_the_recording(client: httpx.Client, made: Study) -> None:
    some, _ = sorted(made.predictions("pairs"), key=lambda each: each.rows)
    array = some.info.arrays[0]
    response = client.get(f"{LIST}/{some.id}/arrays/{array.name}", params={"start": 2, "stop": 12})
    values = np.frombuffer(response.content, "<f4").reshape(
        [int(n) for n in response.headers["X-Innerview-Shape"].split(",")]
    )
    assert values.shape == (10, *array.shape)
    np.testing.assert_array_equal(values[[1, 2, 9]], some.array(array.name, 0, 3))
    assert np.isnan(values[[0, *range(3, 9)]]).all()
    again = client.get(response.url.path, headers={"If-None-Match": response.headers["ETag"]})
    assert again.status_code == 304


def test_unknown_names_are_refused(client: httpx.Client, made: Study) -> None:
    id = made.predictions("pairs")[0].id
    assert client.get(f"{LIST}/{id}/columns", params={"names": "no"}).status_code == 404
    assert client.get(f"{LIST}/{id}/arrays/no").status_code == 404
    assert client.get(f"{LIST}/none/columns").status_code == 404
    assert client.get(f"/api/recordings/steps/predictions/{id}/columns").status_code == 404
    assert client.get("/api/recordings/none/predictions").status_code == 404
    assert client.get(f"{LIST}/{id}/columns", params={"start": 9, "stop": 2}).status_code == 400
