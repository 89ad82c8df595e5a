"""Averages around an event are those that numpy finds in the recording."""

from __future__ import annotations

import json
from typing import Any

import httpx
import numpy as np
import pytest

from innerview.lenses.columns import aligned as derived_aligned

from .conftest import steps_arrays

ALIGNED = "/api/recordings/steps/aligned"


def ask(client: httpx.Client, **body: Any) -> tuple[dict[str, Any], np.ndarray]:
    response = client.post(ALIGNED, json=body)
    assert response.status_code == 200, response.text
    length = int.from_bytes(response.content[:4], "little")
    told = json.loads(response.content[4 : 4 + length])
    values = np.frombuffer(response.content[4 + length :], "<f4")
    return told, values.reshape(len(told["offsets"]), told["elements"])


def test_an_event_is_followed_by_what_it_caused(client: httpx.Client) -> None:
    told, memory = ask(client, column="hit", before=2, after=3, array="memory", metrics=["reward"])
    assert told["rows"] == [7]
    assert told["offsets"] == [-2, -1, 0, 1, 2, 3]
    assert told["counts"] == [1, 1, 1, 1, 1, 0], "row 10 belongs to the next episode"
    recorded = steps_arrays()["memory"]
    np.testing.assert_array_equal(memory[:5], recorded[5:10])
    assert np.isnan(memory[5]).all()
    np.testing.assert_allclose(told["before"], recorded[5:8].mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(told["after"], recorded[8:10].mean(axis=0), rtol=1e-6)
    assert told["metrics"]["reward"]["mean"] == [1.25, 1.5, 1.75, 2.0, 2.25, None]


def test_a_column_is_followed_from_where_it_begins_to_hold(client: httpx.Client) -> None:
    told, memory = ask(client, column="medikit in view", before=1, after=1, array="memory", metrics=["medikit in view"])
    # In view in rows 0, 3, 6, 9 and 12, 15, 18: the first row of an episode shows no beginning.
    assert told["rows"] == [3, 6, 9, 12, 15, 18]
    assert told["first_after"] == 0
    recorded = steps_arrays()["memory"]
    np.testing.assert_allclose(memory[1], recorded[[3, 6, 9, 12, 15, 18]].mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(memory[2], recorded[[4, 7, 13, 16, 19]].mean(axis=0), rtol=1e-5)
    assert told["counts"] == [6, 6, 5]
    assert told["metrics"]["medikit in view"]["mean"] == [0, 1, 0]


def test_rows_of_a_selection(client: httpx.Client) -> None:
    told, memory = ask(client, rows=[12, 4, 4], before=0, after=0, array="memory")
    assert told["rows"] == [4, 12]
    np.testing.assert_allclose(memory[0], steps_arrays()["memory"][[4, 12]].mean(axis=0), rtol=1e-6)


def test_without_occurrences_there_is_nothing_to_average(client: httpx.Client) -> None:
    told, memory = ask(client, rows=[], before=1, after=1, array="memory", metrics=["reward"])
    assert (told["total"], told["used"], told["paired"]) == (0, 0, 0)
    assert np.isnan(memory).all()


def test_many_occurrences_are_thinned_out_evenly(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derived_aligned, "MAX_OCCURRENCES", 3)
    told, _ = ask(client, rows=list(range(20)), before=0, after=0, array="memory")
    assert (told["total"], told["used"]) == (20, 3)
    assert told["rows"] == [0, 10, 19]


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({}, 400, "column, or rows"),
        ({"column": "hit", "rows": [1]}, 400, "column, or rows"),
        ({"column": "hot"}, 404, "Did you mean 'hit'?"),
        ({"column": "reward"}, 400, "does not say yes or no"),
        ({"rows": [20]}, 400, "between 0 and 19"),
        ({"rows": [-1]}, 400, "between 0 and 19"),
        ({"column": "hit", "before": 501}, 422, "before"),
        ({"column": "hit", "array": "memry"}, 404, "Did you mean 'memory'?"),
        ({"column": "hit", "metrics": ["word"]}, 400, "has no mean"),
        ({"column": "hit", "metrics": ["rewart"]}, 404, "Did you mean 'reward'?"),
        ({"column": "hit", "metrics": ["reward"] * 13}, 422, "metrics"),
    ],
)
def test_mistakes_are_reported(client: httpx.Client, body: dict[str, Any], status: int, words: str) -> None:
    response = client.post(ALIGNED, json=body)
    assert response.status_code == status
    assert words in response.json()["error"]["message"]
