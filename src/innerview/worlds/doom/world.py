"""ViZDoom worlds, from any config file or a bundled scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from innerview.errors import WorldError
from innerview.schema import ActionSpace, ArraySpec, Moment, WorldInfo
from innerview.worlds.doom.engines import Engine, sweep
from innerview.worlds.doom.facts import (
    FactTracker,
    Glimpse,
    Item,
    fact_columns,
    look_at_items,
    look_at_labels,
    look_at_map,
)
from innerview.worlds.doom.settings import DoomSettings, Setup, import_vizdoom, prepare
from innerview.worlds.frames import resize_frame
from innerview.worlds.lanes import ThreadedLanes
from innerview.worlds.protocols import Lanes

__all__ = ["DoomSettings", "DoomWorld"]


class DoomWorld:
    """Doom as a world: pictures, named actions, facts, a map per episode."""

    def __init__(self, config: str, settings: DoomSettings | None = None) -> None:
        self.setup: Setup = prepare(config, settings or DoomSettings())
        self.info = _describe(self.setup)

    def open(self, lanes: int) -> Lanes:
        """Start that many engines."""
        sweep()
        return ThreadedLanes(lambda lane: DoomGame(self.setup), lanes)


TIME_LIMIT = "time limit"


class DoomGame:
    """One engine that plays one episode after the other."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._game = configured(setup)
        self._engine = Engine(self._game, setup.engine_path)
        self._facts = FactTracker(setup.variables)
        self._seen: dict[str, np.ndarray] = {}
        self._objects: Sequence[Mapping[str, Any]] = ()
        self._known: dict[int, Item | None] = {}
        self._map = ""
        try:
            self._engine.start()
        except Exception as error:
            self._engine.close()
            raise WorldError(f"Doom could not be started with {setup.config}: {error}") from error

    @property
    def pid(self) -> int | None:
        """The engine's process."""
        return self._engine.pid

    def reset(self, seed: int) -> Moment:
        """A new episode: same seed and same actions, same frames."""
        maps = self._setup.settings.maps
        if maps:
            self._map = maps[seed % len(maps)]
            self._game.set_doom_map(self._map)
        self._game.set_seed(seed % 2**32)
        self._game.new_episode()
        state = self._game.get_state()
        if state is None:
            raise WorldError(f"The episode with seed {seed} was over before it began.")
        self._look(state)
        self._known = {}
        if not self._setup.settings.facts:
            return Moment(observation=self._seen)
        facts = self._facts.begin(self._glimpse(state))
        return Moment(
            observation=self._seen, facts=self._with_map(facts), scene=look_at_map(state.sectors, state.objects)
        )

    def step(self, action: Any) -> Moment:
        """Hold an action's buttons for `frame_skip` tics. There is no frame of the end: the last is shown again."""
        buttons = self._setup.buttons_of(action)
        reward = self._game.make_action(buttons, self._setup.settings.frame_skip)
        ended = self._why_ended() if self._game.is_episode_finished() else ""
        state = None if ended else self._game.get_state()
        if state is not None:
            self._look(state)
        facts: dict[str, Any] = {}
        if self._setup.settings.facts:
            facts = self._with_map(self._facts.go_on(self._glimpse(state, ended)))
        cut = ended == TIME_LIMIT
        return Moment(observation=self._seen, facts=facts, reward=float(reward), ended=ended, cut=cut)

    def close(self) -> None:
        """End the engine's process."""
        self._engine.close()

    def _look(self, state: Any) -> None:
        setup, screen_hwc = self._setup, state.screen_buffer
        same = setup.size == setup.screen
        frame_hwc = screen_hwc.copy() if same else resize_frame(screen_hwc, setup.size, setup.settings.resize)
        self._seen = {"observation": frame_hwc}

    def _why_ended(self) -> str:
        if self._game.is_player_dead():
            return "died"
        return TIME_LIMIT if self._game.is_episode_timeout_reached() else "finished"

    def _glimpse(self, state: Any, ended: str = "") -> Glimpse:
        tic = self._game.get_episode_time()
        if state is None:
            values = {name: self._game.get_game_variable(which) for name, which in self._setup.variable_kinds.items()}
            return Glimpse(tic, values, None, self._objects, dead=ended == "died", finished=ended == "finished")
        values = dict(zip(self._setup.variables, state.game_variables.tolist(), strict=True))
        self._objects = look_at_labels(
            state.labels, x=values["POSITION_X"], y=values["POSITION_Y"], scale=self._setup.scale
        )
        return Glimpse(tic, values, look_at_items(state.objects, self._known), self._objects)

    def _with_map(self, facts: dict[str, Any]) -> dict[str, Any]:
        return {**facts, "map": self._map} if len(self._setup.settings.maps) > 1 else facts


def configured(setup: Setup) -> Any:
    """A ViZDoom game that is set up but not started."""
    vizdoom = import_vizdoom()
    settings = setup.settings
    game = setup.load()
    game.set_mode(vizdoom.Mode.PLAYER)
    game.set_window_visible(False)
    game.set_console_enabled(False)
    game.set_sound_enabled(False)
    game.set_screen_format(vizdoom.ScreenFormat.RGB24)
    game.set_screen_resolution(setup.resolution_kind)
    game.set_depth_buffer_enabled(False)
    game.set_automap_buffer_enabled(False)
    game.set_audio_buffer_enabled(False)
    game.set_labels_buffer_enabled(settings.facts)
    game.set_objects_info_enabled(settings.facts)
    game.set_sectors_info_enabled(settings.facts)
    game.set_available_buttons(list(setup.button_kinds))
    game.set_available_game_variables(list(setup.variable_kinds.values()))
    if settings.maps:
        game.set_doom_map(settings.maps[0])
    return game


def _describe(setup: Setup) -> WorldInfo:
    width, height = setup.size
    picture = ArraySpec(
        name="observation",
        shape=(height, width, 3),
        dtype="uint8",
        role="observation",
        axes=("height", "width", "channel"),
    )
    facts = fact_columns(setup.variables) if setup.settings.facts else ()
    return WorldInfo(
        name=setup.name,
        family="doom",
        observations=(picture,),
        actions=ActionSpace(kind="discrete", names=tuple(setup.actions)),
        facts=(*facts, *setup.map_column()),
        settings=setup.to_settings(),
    )
