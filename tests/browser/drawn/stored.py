"""A study as it lies on disk, read without innerview: rows and groups by polars, arrays by zarr, results by json."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import zarr


@dataclass(frozen=True)
class Stored:
    """One recording. Rows that cannot be read are null."""

    study: Path
    name: str

    @property
    def folder(self) -> Path:
        """Where it lies."""
        return self.study / "recordings" / self.name

    @cached_property
    def info(self) -> dict[str, Any]:
        """What the recording says of itself."""
        told: dict[str, Any] = json.loads((self.folder / "manifest.json").read_text("utf-8"))
        return {**told["info"], "rows": told["rows"]}

    @cached_property
    def blocks(self) -> list[tuple[int, int]]:
        """First row of each block, and the one after its last."""
        lines = (self.folder / "blocks.jsonl").read_text("utf-8").splitlines()
        found = [json.loads(line)["block"] for line in lines]
        return [(block["start"], block["stop"]) for block in found]

    @cached_property
    def rows(self) -> pl.DataFrame:
        """All columns of all rows."""
        whole: list[pl.DataFrame | int] = []
        for number, (start, stop) in enumerate(self.blocks):
            try:
                whole.append(pl.read_parquet(self.folder / f"rows/{number:08d}.parquet"))
            except (pl.exceptions.ComputeError, OSError):
                whole.append(stop - start)
        schema = next(part.schema for part in whole if isinstance(part, pl.DataFrame))
        empty = pl.DataFrame(schema=schema)
        return pl.concat([part if isinstance(part, pl.DataFrame) else empty.clear(part) for part in whole])

    @cached_property
    def groups(self) -> pl.DataFrame:
        """A line per episode."""
        return pl.concat([pl.read_parquet(path) for path in sorted((self.folder / "groups").glob("*.parquet"))])

    def array(self, name: str) -> np.ndarray:
        """All rows of an array that is whole."""
        return self.array_rows(name, 0, self.info["rows"])

    def array_rows(self, name: str, start: int, stop: int) -> np.ndarray:
        """Some rows of an array."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Numcodecs codecs")  # pictures use its delta filter
            return np.asarray(zarr.open(str(self.folder / "arrays" / name), mode="r")[start:stop])

    def spec(self, name: str) -> dict[str, Any]:
        """What a column or an array is."""
        both = [*self.info["columns"], *self.info["arrays"]]
        return next(part for part in both if part["name"] == name)

    def by_role(self, role: str) -> dict[str, Any]:
        """The first array of a role."""
        return next(spec for spec in self.info["arrays"] if spec["role"] == role)

    def span(self, episode: int) -> tuple[int, int]:
        """The rows of an episode."""
        line = self.groups.row(episode, named=True)
        return line["start"], line["stop"]

    def place(self, row: int) -> tuple[int, int]:
        """The episode and step of a row."""
        for number, (start, stop) in enumerate(self.groups.select("start", "stop").iter_rows()):
            if start <= row < stop:
                return number, row - start
        raise AssertionError(f"row {row} is in no episode")

    def scene(self, episode: int) -> dict[str, Any]:
        """The map of an episode."""
        key = self.groups["scene"][episode]
        found: dict[str, Any] = json.loads((self.folder / f"scenes/{key}.json").read_text("utf-8"))
        return found

    def numbers(self, name: str) -> np.ndarray:
        """A column of numbers, unknown as NaN."""
        return self.rows[name].cast(pl.Float64).fill_null(float("nan")).to_numpy()


def result_of(study: Path, kind: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The only result of a kind: its value and arrays."""
    for folder in sorted((study / "results").iterdir()):
        told = json.loads((folder / "result.json").read_text("utf-8"))
        if told["result"]["kind"] == kind:
            (value,) = folder.glob("value.*.json")
            arrays = {path.name.rsplit(".", 2)[0]: np.load(path) for path in folder.glob("*.npy")}
            return json.loads(value.read_text("utf-8"))["value"], arrays
    raise AssertionError(f"{study} has no result of kind {kind}")
