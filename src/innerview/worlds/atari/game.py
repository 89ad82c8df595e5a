"""One Atari game: ale-py with frame skip, the brighter of the last two frames, and starts that a seed tells.

It needs numpy and ale-py alone, so that training scripts run it in bare worker processes.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from innerview.errors import UnknownName, WorldError

NEEDS_FIRE = frozenset(("breakout",))
"""Games that wait for FIRE before each life."""
_NOOP, _FIRE = 0, 1
_MISSING = "Atari games need ale-py, which is not installed. Install it with: pip install 'innerview[atari]'"


@dataclass(frozen=True, kw_only=True)
class GameSettings:
    """How a game is stepped."""

    frame_skip: int = 4
    """Frames for which an action is held."""
    sticky: float = 0.0
    """How often, frame by frame, the last action is taken once more instead of the new one."""
    noop_max: int = 30
    """An episode begins after 1 to this many frames without action; 0: always after one."""
    fire_on_reset: bool | None = None
    """Press FIRE at the start and after each life that is lost; None: in games that wait for it."""
    max_frames: int = 108_000
    """Half an hour, after which an episode is cut; 0: never."""
    rom: str | Path | None = None
    """A ROM file of one's own instead of the one that ale-py brings along."""

    def __post_init__(self) -> None:
        _check_whole("frame_skip", self.frame_skip, minimum=1)
        _check_whole("noop_max", self.noop_max, minimum=0)
        _check_whole("max_frames", self.max_frames, minimum=0)
        if isinstance(self.sticky, bool) or not isinstance(self.sticky, int | float) or not 0 <= self.sticky < 1:
            raise WorldError(
                f"sticky is a share of the frames, from 0 to below 1 (0.25 is common), not {self.sticky!r}."
            )


@dataclass(frozen=True)
class Turn:
    """What a step brought."""

    screen_hw: NDArray[np.uint8]
    """Grey, [210, 160]: at each pixel the brighter of the last two frames."""
    reward: float
    life_lost: bool
    over: bool
    """The game is over, or was cut; `AtariGame.cut` says which."""


@dataclass(frozen=True)
class Snapshot:
    """A game's whole state; `AtariGame.restore` goes on from it as if nothing had been played since."""

    game: str
    emulator: Any
    rng: Any
    last_action: int
    lives: int
    grey_2hw: NDArray[np.uint8]
    colour_hwc: NDArray[np.uint8]


class AtariGame:
    """A running game. The same seed and actions give the same frames, in whatever order seeds are played."""

    def __init__(self, game: str, settings: GameSettings | None = None) -> None:
        self.settings = settings or GameSettings()
        self.name = game
        self._ale = _loaded(game, self.settings)
        self._codes = [int(action.value) for action in self._ale.getMinimalActionSet()]
        self.actions = tuple(_words(action.name) for action in self._ale.getMinimalActionSet())
        fire = self.settings.fire_on_reset
        self.fires = (game in NEEDS_FIRE if fire is None else fire) and _FIRE in self._codes
        self.screen_hw: tuple[int, int] = tuple(self._ale.getScreenDims())
        self._grey = np.zeros((2, *self.screen_hw), np.uint8)
        self._restored_colour: NDArray[np.uint8] | None = None
        self._rng = np.random.default_rng(0)
        self._last = _NOOP
        self._ale.reset_game()
        # A reset leaves traces of the episode before in some games; a copy of the first start does not.
        self._start = self._ale.cloneState(include_rng=True)
        self._lives = self._ale.lives()

    def reset(self, seed: int) -> NDArray[np.uint8]:
        """Begin an episode; the seed says how many frames pass before the first action, and what sticky draws."""
        self._rng = np.random.default_rng(checked_seed(seed))
        self._ale.restoreState(self._start)
        self._last = _NOOP
        wait = 1 + int(self._rng.integers(self.settings.noop_max)) if self.settings.noop_max else 1
        self._hold(_NOOP, wait)
        if self.fires:
            self._hold(_FIRE, self.settings.frame_skip)
        self._lives = self._ale.lives()
        return self._screen()

    def step(self, action: int) -> Turn:
        """Hold an action, counted as in `actions`, for `frame_skip` frames."""
        reward = self._hold(self._codes[action], self.settings.frame_skip)
        lives = self._ale.lives()
        lost, self._lives = lives < self._lives, lives
        over = self._ale.game_over()
        if lost and self.fires and not over:
            reward += self._hold(_FIRE, self.settings.frame_skip)
            over = self._ale.game_over()
        return Turn(self._screen(), float(reward), lost, over)

    @property
    def lives(self) -> int:
        """How many are left; 0 in games without."""
        return int(self._lives)

    @property
    def cut(self) -> bool:
        """Whether the episode ended because it took too long."""
        return bool(self._ale.game_truncated())

    @property
    def ram(self) -> NDArray[np.uint8]:
        """The console's 128 bytes of memory."""
        memory: NDArray[np.uint8] = self._ale.getRAM()
        return memory

    @property
    def frames(self) -> int:
        """Frames since the episode began."""
        return int(self._ale.getEpisodeFrameNumber())

    def colour(self) -> NDArray[np.uint8]:
        """The last frame for people, [210, 160, 3]."""
        if self._restored_colour is not None:
            return self._restored_colour.copy()
        screen: NDArray[np.uint8] = self._ale.getScreenRGB()
        return screen

    def clone(self) -> Snapshot:
        """The whole state, to come back to."""
        return Snapshot(
            game=self.name,
            emulator=self._ale.cloneState(include_rng=True),
            rng=self._rng.bit_generator.state,
            last_action=self._last,
            lives=self._lives,
            grey_2hw=self._grey.copy(),
            colour_hwc=self.colour(),
        )

    def restore(self, snapshot: Snapshot) -> NDArray[np.uint8]:
        """Go back to a state, also of another running game of the same name."""
        if snapshot.game != self.name:
            raise WorldError(f"The state is one of '{snapshot.game}'; this game is '{self.name}'.")
        self._ale.restoreState(snapshot.emulator)
        self._rng = np.random.default_rng(0)
        self._rng.bit_generator.state = snapshot.rng
        self._last, self._lives = snapshot.last_action, snapshot.lives
        self._grey[:], self._restored_colour = snapshot.grey_2hw, snapshot.colour_hwc  # the emulator keeps no screen
        return self._screen()

    def _hold(self, code: int, frames: int) -> float:
        """Act for some frames, and keep the last two."""
        ale, sticky, reward = self._ale, self.settings.sticky, 0.0
        for frame in range(frames):
            if not sticky or self._rng.random() >= sticky:
                self._last = code
            reward += ale.act(self._last)
            over = ale.game_over()
            if over or frame >= frames - 2:
                ale.getScreenGrayscale(self._grey[frame % 2])
            if over or frames == 1:
                self._grey[1 - frame % 2] = self._grey[frame % 2]
            if over:
                break
        self._restored_colour = None
        return reward

    def _screen(self) -> NDArray[np.uint8]:
        brighter: NDArray[np.uint8] = np.maximum(self._grey[0], self._grey[1])
        return brighter


def checked_seed(seed: Any) -> int:
    """A seed as numpy takes it."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise WorldError(f"A seed is a whole number, not {seed!r} ({type(seed).__name__}).")
    if seed < 0:
        raise WorldError(f"A seed is 0 or more, not {seed}.")
    return int(seed)


def find_rom(game: str, rom: str | Path | None) -> Path:
    """The file of a game, checked: the emulator ends the whole process at a file that it does not know."""
    ale_py = _ale_py()
    if rom is None:
        folder = Path(os.environ.get("ALE_ROMS_DIR") or _rom_folder(ale_py))
        path = folder / f"{game}.bin"
        if not path.is_file():
            hint = f"ROMs are looked for in {folder}; give a file of your own with rom='{game}.bin'."
            raise UnknownName("Atari game", game, sorted(p.stem for p in folder.glob("*.bin")), hint)
    else:
        path = Path(rom).expanduser()
        if not path.is_file():
            raise WorldError(f"There is no ROM at {path}. Give rom= the path of a .bin file of '{game}'.")
    known = ale_py.ALEInterface.isSupportedROM(path)
    if known is None:
        why = "It is damaged, or another version than the one ale-py was made for. Without rom= ale-py's own is played."
        why = why if rom is not None else "It is a game for two, which ale-py cannot play alone."
        raise WorldError(f"{path} is no ROM that ale-py knows. {why}")
    if known != game:
        raise WorldError(f"{path} holds the game '{known}', not '{game}'. Ask for world('atari:{known}', rom=…).")
    return path


def _loaded(game: str, settings: GameSettings) -> Any:
    ale_py, rom = _ale_py(), find_rom(game, settings.rom)
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)  # else it greets in every terminal
    ale = ale_py.ALEInterface()
    ale.setInt("random_seed", 0)
    ale.setFloat("repeat_action_probability", 0.0)  # sticky actions are drawn from the episode's own seed
    ale.setInt("max_num_frames_per_episode", settings.max_frames)
    ale.setBool("display_screen", False)
    ale.setBool("sound", False)
    ale.loadROM(rom)
    return ale


def _ale_py() -> Any:
    try:
        import ale_py
    except ImportError as error:
        raise WorldError(_MISSING) from error
    return ale_py


def _rom_folder(ale_py: Any) -> Path:
    return Path(ale_py.__file__).parent / "roms"


def _words(action: str) -> str:
    """UPRIGHTFIRE as "up right fire"."""
    for word in ("UP", "DOWN", "LEFT", "RIGHT", "FIRE", "NOOP"):
        action = action.replace(word, f"{word.lower()} ")
    return action.strip()


def _check_whole(name: str, value: Any, *, minimum: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
        raise WorldError(f"{name} is a whole number, {minimum} or more, not {value!r}.")
