"""Orders of memory elements over the wire."""

from __future__ import annotations

from typing import Any

import httpx
import numpy as np
import pytest

from .conftest import steps_arrays, steps_rows

MEMORY = steps_arrays()["memory"]
PATH = "/api/recordings/steps/order"


def ask(client: httpx.Client, **query: Any) -> dict[str, Any]:
    reply = client.get(PATH, params=query)
    assert reply.status_code == 200, reply.text
    return dict(reply.json())


def test_elements_come_in_order_with_their_scores(client: httpx.Client) -> None:
    told = ask(client, by="activation")
    scores = np.abs(MEMORY).sum(0)
    assert told["order"] == np.argsort(-scores).tolist() and np.allclose(told["scores"], scores, rtol=1e-5)
    assert told["by"] == "activation" and "largest first" in told["explains"]


def test_rows_and_interval_are_the_recordings_own(client: httpx.Client) -> None:
    told = ask(client, by="similar", array="memory", start=10, stop=20, **{"from": 12, "to": 15})
    assert np.allclose(told["scores"], np.abs(MEMORY[10:20].mean(0) - MEMORY[12:15].mean(0)), rtol=1e-4)
    told = ask(client, by="change", start=5, stop=15)
    by_hand = np.abs(np.diff(MEMORY[5:10], axis=0)).sum(0) + np.abs(np.diff(MEMORY[10:15], axis=0)).sum(0)
    assert np.allclose(told["scores"], by_hand, rtol=1e-4)


def test_a_column_with_unknown_values_can_be_correlated_with(client: httpx.Client) -> None:
    told = ask(client, by="correlation", column="reward")
    known = np.array([r is not None for r in steps_rows()["reward"]])
    reward = np.array([r for r in steps_rows()["reward"] if r is not None], float)
    by_hand = [np.corrcoef(MEMORY[known, i], reward)[0, 1] for i in range(5)]
    assert np.allclose(told["scores"], by_hand, atol=1e-5)


def test_the_browser_may_keep_an_order(client: httpx.Client) -> None:
    reply = client.get(PATH, params={"by": "cluster"})
    assert (
        client.get(PATH, params={"by": "cluster"}, headers={"If-None-Match": reply.headers["etag"]}).status_code == 304
    )


@pytest.mark.parametrize(
    ("query", "status", "says"),
    [
        ({"by": "activaton"}, 404, "Did you mean 'activation'"),
        ({"by": "activation", "array": "memori"}, 404, "Did you mean 'memory'"),
        ({"by": "activation", "array": "depth"}, 404, "memory array"),
        ({"by": "activation", "start": 30}, 400, "20 rows"),
        ({"by": "similar", "from": 3}, 400, "two ends"),
        ({"by": "similar", "from": 3, "to": 99}, 400, "not within"),
        ({"by": "similar"}, 422, "brush an interval"),
        ({"by": "correlation"}, 422, "needs a column"),
        ({"by": "correlation", "column": "word"}, 422, "holds words"),
        ({"by": "correlation", "column": "nothing"}, 404, "column"),
        ({}, 422, "by"),
    ],
)
def test_bad_questions_say_what_would_be_right(
    client: httpx.Client, query: dict[str, Any], status: int, says: str
) -> None:
    reply = client.get(PATH, params=query)
    assert reply.status_code == status and says in reply.json()["error"]["message"]


def test_a_recording_without_memory_says_so(client: httpx.Client) -> None:
    reply = client.get("/api/recordings/pairs/order", params={"by": "activation"})
    assert reply.status_code == 422 and "has no memory" in reply.json()["error"]["message"]
