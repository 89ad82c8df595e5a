"""Arguments of jobs over the wire: what is sent arrives as the dataclass it was."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from innerview.errors import RequestError
from innerview.interventions.jobs import (
    AblationTestJob,
    BestFilterJob,
    FitCameraJob,
    SmallestMemoryJob,
    SweepJob,
    TableJob,
)
from innerview.jobs.kinds import kind_of
from innerview.lenses.job import LensJob
from innerview.lenses.trust.job import TrustJob
from innerview.lenses.video.job import VideoJob, VideoMap
from innerview.rollouts.gap.job import GapJob
from innerview.rollouts.jobs import LearningJob, PredictJob, RecordJob, RerunJob, WhatIfJob
from innerview.rollouts.live import ForwardCall
from innerview.schema import EditSet, InputEdit, Move, SiteEdit, WeightEdit, to_json
from innerview.serve.app import openapi_text
from innerview.serve.arguments import CORE, read, read_job

EDITS = (
    SiteEdit(elements=(1, 2), op="set", value=0.5, start=3, stop=9),
    WeightEdit(layer="eye", directions=((1.0, 0.0),)),
    InputEdit(op="patch", box=(0, 0, 4, 4)),
)
JOBS: tuple[Any, ...] = (
    LensJob(
        lens="gradient",
        recording="x",
        parameters={"target": "value", "count": 2, "share": 0.5, "on": True},
        rows=((0, 5), (7, 9)),
        subject="tiny",
    ),
    RecordJob(like="x", recording="y", seeds=(3, 1), greedy=True, keep=("eye",), edits=EDITS, note="a note"),
    RerunJob(recording="x", reduction=EditSet(name="late", edits=EDITS[:1], note="how"), episodes=(0, 2)),
    RerunJob(recording="x", reduction="late"),
    PredictJob(recording="x", subject="tiny", rows=((0, 3),), inputs={"rgb": "real.rgb | resize 64x64"}, edits=EDITS),
    WhatIfJob(recording="x", row=3, moves=(Move(do="act", action=1), Move(do="move", thing="a", by=(0.5, 1.0)))),
    TableJob(recording="x", reductions=("late", EditSet(name="n", edits=EDITS[:1])), episodes=2, seed=7, greedy=False),
    SweepJob(recording="x", over="pairs", by="episodes", op="scale", value=0.5, elements=(1, 2), measure="length"),
    SmallestMemoryJob(recording="x", keep=0.9, measure="outcome", outcome="won"),
    AblationTestJob(edited="no red", levels=9, seed=2**40, controls=0, invisible="saw"),
    LearningJob(recording="x", run="first", parameters={"target": "value"}, curve=((0.0, 1.5), (100.0, 2.0))),
    TrustJob(recording="x", rows=((0, 9),), methods=("guided", "gradcam"), draws=2, other=True),
    VideoJob(recording="x", maps=(VideoMap(method="guided", frame=1), VideoMap(result="abc")), format="gif", gain=2.0),
    GapJob(recording="x", subjects=("a", "b"), baseline="b", filters=("blur 1",), domains=("sim", "real")),
    BestFilterJob(recording="x", filters=("blur", "depth range"), measure="heading", share=0.25, save="mended"),
    FitCameraJob(recording="x", world="office", domain="real", height_m=(0.5, 1.5), rows=((0, 9),)),
)


def test_every_kind_of_the_core_is_tried() -> None:
    assert {type(job) for job in JOBS} == set(CORE)


@pytest.mark.parametrize("job", JOBS, ids=lambda job: type(job).__name__)
def test_a_job_round_trips(job: Any) -> None:
    sent = json.loads(json.dumps({"kind": kind_of(job).name, **to_json(job)}))
    arrived = read_job(sent)
    assert arrived.arguments == job and arrived.again is False
    assert [type(v) for v in getattr(arrived.arguments, "parameters", {}).values()] == [
        type(v) for v in getattr(job, "parameters", {}).values()
    ], "true stays true and is no 1"
    if kind_of(job).stored:
        assert read_job({**sent, "again": True}).again is True


def test_a_request_need_not_say_what_has_a_default() -> None:
    schemas = json.loads(openapi_text())["components"]["schemas"]
    assert schemas["RecordJob"]["required"] == ["kind"]
    assert schemas["LensJob"]["required"] == ["kind", "lens", "recording"]
    assert schemas["LensJob"]["additionalProperties"] is False
    assert schemas["JobRequest"]["discriminator"]["mapping"]["predict"].endswith("/PredictJob")


def test_requests_are_read_without_torch() -> None:
    """Looking at a study does not wait for what only running a model needs."""
    asked = [{"kind": kind_of(job).name, **to_json(job)} for job in JOBS]
    code = (
        "import json, sys\nimport innerview.serve\nfrom innerview.serve.arguments import read_job\n"
        f"for asked in json.loads({json.dumps(asked)!r}): read_job(asked)\n"
        "assert 'torch' not in sys.modules, 'torch was loaded'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"recording": "x"}, "row of call 'forward' is missing"),
        ({"recording": "x", "row": "3"}, "row of call 'forward' should be a whole number, not '3'"),
        ({"recording": "x", "row": 3, "subjct": "a"}, "Did you mean 'subject'?"),
        ([3], "What call 'forward' takes is given by name"),
        ({"recording": "\ud800", "row": 3}, "cannot be read: Invalid JSON"),
    ],
)
def test_live_calls_are_typed_in_the_same_way(given: Any, words: str) -> None:
    with pytest.raises(RequestError) as refused:
        read(ForwardCall, given, "call 'forward'")
    assert words in str(refused.value)
    assert read(ForwardCall, {"recording": "x", "row": 3}, "call 'forward'") == ForwardCall(recording="x", row=3)
