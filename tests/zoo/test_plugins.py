"""The zoo comes in through entry points, and by import where it is not installed."""

from __future__ import annotations

import tomllib
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import pytest
from innerview_zoo.plugins import PLUGINS

import innerview as iv
from innerview import registry
from innerview.errors import PluginError
from innerview.testing.worlds import CountingWorld


def test_what_is_installed_is_what_a_checkout_lists() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "zoo" / "pyproject.toml").read_text("utf-8"))["project"]
    assert {f"innerview.{group}": names for group, names in PLUGINS.items()} == project["entry-points"]


@pytest.mark.parametrize("group", sorted(PLUGINS))
def test_everything_that_is_listed_can_be_loaded(group: str) -> None:
    assert registry.load_plugins(group).keys() >= PLUGINS[group].keys()


def added(group: str, name: str, value: str) -> Any:
    found = EntryPoints([EntryPoint(name, value, f"innerview.{group}")])
    return lambda *, group: found.select(group=group)


def make_counting(**settings: Any) -> CountingWorld:
    return CountingWorld(**settings)


def test_anybody_can_add_a_world(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "entry_points", added("worlds", "mine", f"{__name__}:make_counting"))
    assert iv.world("mine", length=3).info.name == "counting"


def test_a_broken_plug_in_is_named_and_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "entry_points", added("worlds", "mine", "no_such_module:make"))
    with pytest.warns(UserWarning, match=r"'mine' \(worlds, no_such_module:make\) cannot be loaded: .*It is left out"):
        loaded = registry.load_plugins("worlds")
    assert "mine" not in loaded and "platformer" in loaded
    with pytest.raises(PluginError, match="no_such_module"):
        iv.world("mine")


def test_the_zoo_is_found_where_it_is_only_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "entry_points", lambda *, group: EntryPoints())
    assert registry.plugins("models").keys() == {"zoo"}
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    assert registry.plugins("models") == {}
