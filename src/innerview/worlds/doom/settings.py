"""What a Doom world is set up with: config, actions, picture, variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

from innerview.errors import UnknownName, WorldError
from innerview.registry import plugins
from innerview.worlds.doom.contents import files_of
from innerview.worlds.doom.facts import NEEDED_VARIABLES
from innerview.worlds.frames import ResizeMethod

TICS_PER_SECOND = 35
SMALLEST_WIDTH = 320
"""Pictures are made from at least this many pixels across, then resized: smaller ones lose what is far away."""
WALKING = {
    "left": ("TURN_LEFT",),
    "right": ("TURN_RIGHT",),
    "forward": ("MOVE_FORWARD",),
    "forward+left": ("MOVE_FORWARD", "TURN_LEFT"),
    "forward+right": ("MOVE_FORWARD", "TURN_RIGHT"),
}
"""The actions where the config has just these three buttons."""


@dataclass(frozen=True, kw_only=True)
class DoomSettings:
    """Everything a person can set about a Doom world."""

    size: tuple[int, int] | None = (112, 64)
    """Width and height of the observation; None keeps the pixels of the screen."""
    frame_skip: int = 4
    actions: Mapping[str, Sequence[str]] | None = None
    """Buttons held, by name of the action; None: see `WALKING`, else each button alone."""
    resolution: str | None = None
    """Of the screen the engine draws, as "320x180"; None: the one whose shape is nearest to `size`."""
    resize: ResizeMethod = "smooth"
    facts: bool = True
    doom_map: str | Sequence[str] | None = None
    """A map of the WAD, or several to take turns by seed."""
    game_variables: Sequence[str] = ()
    """Told as facts in addition to those the config lists."""
    name: str | None = None
    """What the world is called; the config's name, or that of the folder, where left out."""

    @classmethod
    def of(cls, **settings: Any) -> DoomSettings:
        """Settings by name; an unknown name gets an error with the nearest one."""
        known = [f.name for f in fields(cls)]
        for name in settings:
            if name not in known:
                raise UnknownName("setting of a Doom world", name, known)
        return cls(**settings)

    def __post_init__(self) -> None:
        if self.frame_skip < 1:
            raise WorldError(f"frame_skip is how many tics an action lasts: 1 or more, not {self.frame_skip}.")
        if self.size is not None and (len(self.size) != 2 or min(self.size) < 1):
            raise WorldError(f"size is (width, height) in pixels, such as (112, 64), not {self.size!r}.")
        if self.resize not in get_args(ResizeMethod):
            raise UnknownName("resize method", str(self.resize), get_args(ResizeMethod))

    @property
    def maps(self) -> tuple[str, ...]:
        """The maps to play; empty for the config's own."""
        return (self.doom_map,) if isinstance(self.doom_map, str) else tuple(self.doom_map or ())


@dataclass(frozen=True, kw_only=True)
class Setup:
    """Settings and config brought together; nothing runs yet."""

    config: Path
    settings: DoomSettings
    actions: Mapping[str, tuple[str, ...]]
    buttons: tuple[str, ...]
    variables: tuple[str, ...]
    screen: tuple[int, int]
    files: Mapping[str, str]
    """Digests of the config and of what it names, by what each is."""
    _presses: tuple[list[int], ...] = field(default=(), repr=False)

    def load(self) -> Any:
        """A ViZDoom game with the config read."""
        return _load(self.config)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the observation."""
        return self.settings.size or self.screen

    @cached_property
    def scale(self) -> tuple[float, float]:
        """Pixels of the observation per pixel of the screen, across and down."""
        return self.size[0] / self.screen[0], self.size[1] / self.screen[1]

    @cached_property
    def engine_path(self) -> Path:
        """The engine's program: the config's own, or the one that came with ViZDoom."""
        own = self.load().get_vizdoom_path()
        return Path(own) if own else Path(import_vizdoom().__file__).with_name("vizdoom")

    @property
    def resolution_kind(self) -> Any:
        """ViZDoom's name for the screen."""
        return import_vizdoom().ScreenResolution.__members__["RES_{}X{}".format(*self.screen)]

    @property
    def button_kinds(self) -> tuple[Any, ...]:
        """ViZDoom's buttons, in the order in which they are pressed."""
        return tuple(import_vizdoom().Button.__members__[name] for name in self.buttons)

    @cached_property
    def variable_kinds(self) -> dict[str, Any]:
        """ViZDoom's game variables by name."""
        return {name: import_vizdoom().GameVariable.__members__[name] for name in self.variables}

    def buttons_of(self, action: Any) -> list[int]:
        """Which buttons an action holds down."""
        if not 0 <= int(action) < len(self._presses):
            raise WorldError(f"There is no action {action}; there are {len(self._presses)}: {', '.join(self.actions)}.")
        return self._presses[int(action)]

    def to_settings(self) -> dict[str, Any]:
        """What makes this world this world, in plain values."""
        return {
            "size": list(self.size),
            "screen": list(self.screen),
            "resize": self.settings.resize,
            "frame_skip": self.settings.frame_skip,
            "seconds_per_step": self.settings.frame_skip / TICS_PER_SECOND,
            "buttons": [[name, *buttons] for name, buttons in self.actions.items()],
            "maps": list(self.settings.maps),
        }


def prepare_all(configs: str | Sequence[str], settings: DoomSettings) -> dict[str, Setup]:
    """Setups by what their configs are called. To be one world they have the same actions; facts are those of all."""
    paths = find_configs(configs)
    setups = {title: prepare(path, settings) for title, path in zip(_titles(paths), paths, strict=True)}
    first = next(iter(setups.values()))
    for setup in setups.values():
        if list(setup.actions.items()) != list(first.actions.items()):
            raise WorldError(
                f"{setup.config.name} has the actions {', '.join(setup.actions)}; {first.config.name} has "
                f"{', '.join(first.actions)}. Configs that are one world have the same: say actions=, or record them "
                "apart."
            )
    every = tuple(dict.fromkeys(name for setup in setups.values() for name in setup.variables))
    return {title: replace(setup, variables=every) for title, setup in setups.items()}


def _titles(paths: Sequence[Path]) -> list[str]:
    """File names without their endings; with their folders where two are called the same."""
    stems = [path.stem for path in paths]
    return [
        stem if stems.count(stem) == 1 else f"{path.parent.name}/{stem}"
        for path, stem in zip(paths, stems, strict=True)
    ]


def find_configs(configs: str | Sequence[str]) -> list[Path]:
    """The files of a path, of a list of paths, or of a folder with the folders in it, in the order of their names."""
    if isinstance(configs, str) and (folder := Path(configs).expanduser()).is_dir():
        found = sorted(folder.resolve().rglob("*.cfg"))
    else:
        found = [find_config(each) for each in ([configs] if isinstance(configs, str) else configs)]
    if not found:
        raise WorldError(f"There is no ViZDoom config in {configs or 'the list'}: it holds no .cfg file.")
    return found


def prepare(path: Path, settings: DoomSettings) -> Setup:
    """Read the config and check the settings against it; no engine is started."""
    game = _load(path)
    available = [_name(button) for button in game.get_available_buttons()]
    actions = _actions(settings.actions, available)
    buttons = tuple(dict.fromkeys([*available, *(b for held in actions.values() for b in held)]))
    presses = tuple([int(button in held) for button in buttons] for held in actions.values())
    listed = [_name(variable) for variable in game.get_available_game_variables()]
    asked = [name.upper() for name in settings.game_variables]
    _check_names("game variable", asked, import_vizdoom().GameVariable)
    needed = NEEDED_VARIABLES if settings.facts else ()
    return Setup(
        config=path,
        settings=settings,
        actions=actions,
        buttons=buttons,
        variables=tuple(dict.fromkeys([*needed, *listed, *asked])),
        screen=_screen(settings),
        files=files_of(path, game),
        _presses=presses,
    )


def find_config(config: str) -> Path:
    """The file of a path, or of a bundled scenario given as "doom:name"."""
    if config.startswith("doom:"):
        folder = Path(import_vizdoom().scenarios_path)
        bundled = sorted(file.stem for file in folder.glob("*.cfg"))
        name = config.removeprefix("doom:").removesuffix(".cfg")
        if name not in bundled:
            added = [each.removeprefix("doom:") for each in plugins("worlds") if each.startswith("doom:")]
            raise UnknownName("bundled Doom scenario", name, [*bundled, *added])
        return folder / f"{name}.cfg"
    path = Path(config).expanduser()
    if not path.is_file():
        raise WorldError(f"There is no ViZDoom config at {config}. For a bundled scenario write 'doom:{path.stem}'.")
    return path.resolve()


def import_vizdoom() -> Any:
    """ViZDoom, or an error that says how to get it."""
    try:
        import vizdoom
    except ImportError as error:
        raise WorldError("Doom worlds need ViZDoom: pip install 'innerview[doom]'.") from error
    return vizdoom


def _load(config: Path) -> Any:
    game = import_vizdoom().DoomGame()
    try:
        understood = game.load_config(str(config))
    except Exception as error:
        raise WorldError(f"ViZDoom cannot read {config}: {error}") from error
    if not understood:
        raise WorldError(f"ViZDoom does not understand everything in {config}; see what it printed above.")
    return game


def _actions(asked: Mapping[str, Sequence[str]] | None, available: list[str]) -> dict[str, tuple[str, ...]]:
    if asked is not None:
        actions = {name: tuple(button.upper() for button in held) for name, held in asked.items()}
    elif set(available) == {button for held in WALKING.values() for button in held}:
        actions = dict(WALKING)
    else:
        simple = [button for button in available if not button.endswith("_DELTA")]
        actions = {button.lower().replace("_", " "): (button,) for button in simple}
    named = [button for held in actions.values() for button in held]
    _check_names("button", named, import_vizdoom().Button)
    turned = [button for button in named if button.endswith("_DELTA")]
    if turned:
        raise WorldError(f"{turned[0]} takes an amount, which actions cannot give. Use buttons such as TURN_LEFT.")
    if not actions:
        raise WorldError('The config has no buttons. Give actions={"forward": ["MOVE_FORWARD"], …}.')
    return actions


def _screen(settings: DoomSettings) -> tuple[int, int]:
    shapes = [_shape(name) for name in import_vizdoom().ScreenResolution.__members__]
    if settings.resolution is not None:
        return find_screen(settings.resolution)
    size = settings.size or (320, 240)
    if size in shapes:
        return size
    enough = [s for s in shapes if s[0] >= max(SMALLEST_WIDTH, size[0]) and s[1] >= size[1]] or shapes
    return min(enough, key=lambda shape: (round(abs(shape[0] / shape[1] - size[0] / size[1]), 2), shape[0]))


def find_screen(resolution: str) -> tuple[int, int]:
    """Width and height of a screen that the engine can draw, given as "320x180"."""
    shapes = [_shape(name) for name in import_vizdoom().ScreenResolution.__members__]
    asked = resolution.upper().removeprefix("RES_")
    if asked not in {f"{w}X{h}" for w, h in shapes}:
        raise UnknownName("screen resolution", resolution, [f"{w}x{h}" for w, h in shapes])
    return _shape(asked)


def _shape(resolution: str) -> tuple[int, int]:
    width, height = resolution.removeprefix("RES_").split("X")
    return int(width), int(height)


def _check_names(what: str, names: Sequence[str], kind: Any) -> None:
    for name in names:
        if name not in kind.__members__:
            raise UnknownName(what, name, list(kind.__members__))


def _name(kind: Any) -> str:
    return str(kind.name)
