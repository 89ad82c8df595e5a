"""A study with a file of every kind that there is, and every address it is read at."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from innerview.schema import (
    ArraySpec,
    Binding,
    Column,
    EditSet,
    MapImage,
    Metric,
    Origin,
    PredictedFrom,
    RecordingInfo,
    RowKind,
    SavedFilter,
    Scene,
    SiteEdit,
    SubjectInfo,
    WeightEdit,
)
from innerview.store import (
    Card,
    DerivedCache,
    Edited,
    KeyedLog,
    Snapshot,
    Study,
    save_edited,
    save_metric,
    save_names,
    save_selection,
    save_subject,
)
from innerview.store.recordings.scenes import map_name, scene_key
from innerview.store.results.pyramid import Pyramid

from .samples import record

QUESTIONS = 20
RESULT_ROWS = 200_000
EDIT = WeightEdit(of="agent", layer="a", after="b", directions=((1.0,),), result="0" * 16, factors=(), made="2026")
SELECTION = {"name": "low", "recording": "run", "expression": "0-3"}


def picture(shade: int, *, size: tuple[int, int] = (6, 4)) -> bytes:
    """A small PNG file."""
    out = io.BytesIO()
    pixels = np.random.default_rng(shade).integers(0, 255, (size[1], size[0], 3), np.uint8)
    Image.fromarray(pixels).save(out, "PNG")
    return out.getvalue()


def make_study(folder: Path) -> Study:
    """Every kind of file: blocks and larger copies, kinds of arrays, scenes, models, results, logs, what was saved."""
    study = Study.create(folder / "whole.study")
    record(study, 37 * 120, block_rows=256)
    _questions(study)
    _predictions(study)
    _models(study)
    result = study.save_result(
        "flags",
        recording="run",
        arguments={},
        value={"auc": [0.5, 1.0]},
        arrays={"amounts": np.arange(RESULT_ROWS, dtype=np.float64), "one": np.ones((2, 3), np.float32)},
    )
    save_names(study, result.id, {"0": "saw"})
    save_selection(study, "run/low", SELECTION)
    save_metric(study, Metric(name="twice", expression="reward * 2"))
    study.save_reduction(EditSet(name="half", edits=(SiteEdit(elements=(1,), op="set", value=0.5),)))
    study.save_filter(SavedFilter(name="evening", steps="brightness 1.2 | temperature -0.2"))
    KeyedLog(study, {"of": "everything"}).add([{"key": "a", "value": 1}, {"key": "b", "value": 2}])
    run = study.recording("run")
    Pyramid(run, "memory").build()
    DerivedCache(run).save("surprise", 0, np.linspace(0, 1, run.rows))
    DerivedCache(run).save_json("words", ["a", "b"])
    return study


def _questions(study: Study) -> None:
    specs = (
        ArraySpec(name="tokens", shape=(), dtype="int32", kind="ragged"),
        ArraySpec(name="features", shape=(3,), dtype="float32", key="image"),
        ArraySpec(name="photo", shape=(4, 6, 3), dtype="uint8", kind="encoded", axes=("height", "width", "channel")),
    )
    columns = (Column(name="image", type="text"), Column(name="answer", type="int"))
    ground = picture(99, size=(16, 16))
    scene = Scene(image=MapImage(file=map_name(ground), width_px=16, height_px=16, origin=(0.0, 0.0), scale=1.0))
    info = RecordingInfo(name="asked", row=RowKind(one="question", many="questions"), columns=columns, arrays=specs)
    info = replace(info, scene=scene_key(scene))
    with study.writer(info, block_rows=8) as writer:
        writer.add_scene(scene, ground)
        writer.share("features", {str(n): np.full(3, n, np.float32) for n in range(4)})
        words = {"image": [str(n // 5) for n in range(QUESTIONS)], "answer": list(range(QUESTIONS))}
        tokens = [np.arange(n % 7, dtype=np.int32) + n for n in range(QUESTIONS)]
        writer.append(words, {"tokens": tokens, "photo": [picture(n) for n in range(QUESTIONS)]})


def _predictions(study: Study) -> None:
    arguments = PredictedFrom(recording="run", digest=study.recording("run").digest, binding=Binding(inputs=()))
    info = RecordingInfo(
        name="",
        origin=Origin(kind="predicted", by="agent"),
        columns=(Column(name="row", type="int", kind="index"), Column(name="value", type="float")),
        arrays=(ArraySpec(name="head.policy", shape=(2,), dtype="float32"),),
        subject=SubjectInfo(name="agent", family="torch"),
        arguments=arguments,
    )
    with study.prediction_writer(info, block_rows=4) as writer:
        values = {"row": [0, 1, 2, 3], "value": [0.5, 1.5, 2.5, 3.5]}
        writer.append(values, {"head.policy": np.arange(8, dtype=np.float32).reshape(4, 2)})


def _models(study: Study) -> None:
    weights = {"weight": torch.arange(400.0)}
    save_subject(study, Card(info=SubjectInfo(name="agent", family="torch")), weights)
    save_edited(study, Edited(info=SubjectInfo(name="edited", family="torch"), history=(EDIT,)), weights)
    study.save_snapshot(Snapshot(run="training", step=10), weights)


def files_of(study: Study) -> list[Path]:
    """Every file that holds something; an open writer's lock does not."""
    return sorted(path for path in study.path.rglob("*") if path.is_file() and path.suffix != ".lock")


def addresses(study: Study) -> Iterator[str]:
    """Where everything in the study is served."""
    yield from (
        "study",
        "vocabulary",
        "results",
        "selections",
        "reductions",
        "filters",
        "metrics?recording=run",
        "edited",
    )
    (result,) = study.results()
    yield from (f"results/{result.id}", f"names/{result.id}", "edited/edited/weights")
    yield from (f"results/{result.id}/arrays/amounts?start=150000&stop=150010", f"results/{result.id}/arrays/one")
    for name in study.recordings():
        recording = study.recording(name)
        yield from (f"recordings/{name}{rest}" for rest in ("", "/columns", "/groups", "/predictions"))
        for spec in recording.info.arrays:
            yield f"recordings/{name}/arrays/{spec.name}"
            if spec.is_image:
                yield from (f"recordings/{name}/images/{spec.name}/{row}" for row in range(0, recording.rows, 300))
    key = study.recording("asked").info.scene
    yield from (f"recordings/asked/scenes/{key}", f"recordings/asked/scenes/{key}/map")
    yield "recordings/run/tiles/memory?level=0&tile=0"
    for key in study.recording("run").groups()["scene"].unique():
        yield f"recordings/run/scenes/{key}"
    (prediction,) = study.predictions()
    yield from (f"recordings/run/predictions/{prediction.id}{rest}" for rest in ("/columns", "/arrays/head.policy"))
