"""ViZDoom worlds, from any config file or a bundled scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from innerview.errors import WorldError
from innerview.schema import ActionSpace, ArraySpec, Column, Moment, WorldInfo
from innerview.worlds.contents import digest_of_text
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
from innerview.worlds.doom.settings import DoomSettings, Setup, import_vizdoom, prepare_all
from innerview.worlds.frames import resize_frame
from innerview.worlds.lanes import ThreadedLanes
from innerview.worlds.protocols import Lanes

__all__ = ["DoomSettings", "DoomWorld"]


class DoomWorld:
    """Doom as a world: pictures, named actions, facts, a map per episode; several configs take turns by seed."""

    def __init__(self, configs: str | Sequence[str], settings: DoomSettings | None = None) -> None:
        self.setups = prepare_all(configs, settings or DoomSettings())
        self.info = _describe(self.setups, _name(self.setups))

    def open(self, lanes: int) -> Lanes:
        """Start that many engines."""
        sweep()
        return ThreadedLanes(lambda lane: DoomGame(self.setups), lanes)


TIME_LIMIT = "time limit"


class DoomGame:
    """One engine that plays one episode after the other; it is started anew where the next one has another config."""

    def __init__(self, setups: Mapping[str, Setup]) -> None:
        self._setups = setups
        self._facts = FactTracker(next(iter(setups.values())).variables)
        self._seen: dict[str, np.ndarray] = {}
        self._objects: Sequence[Mapping[str, Any]] = ()
        self._known: dict[int, Item | None] = {}
        self._map = ""
        self._start(next(iter(setups)))

    def _start(self, config: str) -> None:
        self._config, self._setup = config, self._setups[config]
        self._game = configured(self._setup)
        self._engine = Engine(self._game, self._setup.engine_path)
        try:
            self._engine.start()
        except Exception as error:
            self._engine.close()
            raise WorldError(f"Doom could not be started with {self._setup.config}: {error}") from error

    @property
    def pid(self) -> int | None:
        """The engine's process."""
        return self._engine.pid

    def reset(self, seed: int) -> Moment:
        """A new episode: same seed and same actions, same frames."""
        turn, place = divmod(seed, len(self._setups))
        if (config := list(self._setups)[place]) != self._config:
            self._engine.close()
            self._start(config)
        maps = self._setup.settings.maps
        if maps:
            self._map = maps[turn % len(maps)]
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
        scene = look_at_map(state.sectors, state.objects)
        return Moment(observation=self._seen, facts=self._with_place(facts), scene=scene)

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
            facts = self._with_place(self._facts.go_on(self._glimpse(state, ended)))
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

    def _with_place(self, facts: dict[str, Any]) -> dict[str, Any]:
        place = {"config": self._config, "map": self._map}
        return {**facts, **{column.name: place[column.name] for column in place_columns(self._setups)}}


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


def place_columns(setups: Mapping[str, Setup]) -> tuple[Column, ...]:
    """Columns that say where an episode is played, where there is a choice."""
    several = {"config": len(setups) > 1, "map": len(next(iter(setups.values())).settings.maps) > 1}
    return tuple(Column(name=name, type="text", kind="category") for name, needed in several.items() if needed)


def _name(setups: Mapping[str, Setup]) -> str:
    """As somebody said, else the config's name, or that of the folder that holds them."""
    setup = next(iter(setups.values()))
    if setup.settings.name:
        return setup.settings.name
    return setup.config.stem if len(setups) == 1 else setup.config.parent.name


def _files(setups: Mapping[str, Setup]) -> Mapping[str, str]:
    if len(setups) == 1:
        return next(iter(setups.values())).files
    return {title: digest_of_text(str(sorted(setup.files.items()))) for title, setup in setups.items()}


def _describe(setups: Mapping[str, Setup], name: str) -> WorldInfo:
    setup = next(iter(setups.values()))
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
        name=name,
        family="doom",
        observations=(picture,),
        actions=ActionSpace(kind="discrete", names=tuple(setup.actions)),
        facts=(*facts, *(place_columns(setups) if facts else ())),
        settings=setup.to_settings(),
        files=_files(setups),
    )
