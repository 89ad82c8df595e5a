"""Trains the platformer agent of appendix C with PPO; games, network and learning all live on one device.

Needs torch, numpy and safetensors, and a GPU for more than a try:

    python train.py --out run --minutes 30                          # every level is new
    python train.py --out run --minutes 30 --levels 1000            # only the levels 0 to 999
    python train.py --out run --minutes 30 --resume run             # go on with a run that was broken off
    python train.py --out few --minutes 30 --sparse 0.1 --slip 0.2 --teacher run/weights.safetensors  # says less
    python -m innerview_zoo.models.platformer.score run/weights.safetensors  # 10,000 levels of seeds never trained on

`--minutes` is the length of the whole training, what was done before a resume counted in: learning rate and entropy
bonus fall with the share of it that is over. Beside the training games a few play levels never trained on; nothing is
learnt from those.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from collections import deque
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import torch
from torch import Tensor

from innerview_zoo.models.platformer.agent import Agent
from innerview_zoo.models.platformer.fast import FastAgent, Namer
from innerview_zoo.models.platformer.graph import recorded
from innerview_zoo.models.platformer.ppo import Games, Losses, Network, Player, Recipe, Window, improve

Log = Callable[[str], None]
KINDS = 7  # of endings: none, the coin, five failures
COIN = 1
COLUMNS = ("steps", "seconds", "completed", "unseen", "length", "entropy", "value_error", "lr", "loudness")
RECENT = 4000  # episodes that the printed share of completed levels is taken over
RECENT_UNSEEN = 400  # fewer games play these: more would lag behind
PROBES = 256  # games on levels never trained on
PROBE_EVERY = 8  # windows
SAVE_S = 60.0
TELL_S = 15.0


class Tally:
    """How the last episodes ended."""

    def __init__(self, recent: int) -> None:
        self.recent = recent
        self.windows: deque[tuple[Tensor, int]] = deque()

    def add(self, endings: Tensor, steps: int) -> None:
        """Endings of one window [kinds], and the steps that all games together played in it."""
        self.windows.append((endings.cpu(), steps))
        while len(self.windows) > 1 and self.ended - int(self.windows[0][0].sum()) >= self.recent:
            self.windows.popleft()

    @property
    def ended(self) -> int:
        """Episodes counted."""
        return sum(int(endings.sum()) for endings, _ in self.windows)

    @property
    def completed(self) -> float:
        """Share of them that ended at the coin."""
        return sum(int(endings[COIN]) for endings, _ in self.windows) / max(1, self.ended)

    @property
    def length(self) -> float:
        """Steps an episode."""
        return sum(steps for _, steps in self.windows) / max(1, self.ended)

    def failures(self) -> list[float]:
        """Share of the episodes that ended in each way but the coin."""
        total = sum((endings for endings, _ in self.windows), torch.zeros(KINDS, dtype=torch.int64))
        return [round(int(n) / max(1, self.ended), 4) for n in total[COIN + 1 :]]


class Training:
    """An agent that learns, and all that is needed to go on another day."""

    def __init__(
        self, recipe: Recipe, *, device: str, compiled: bool = False, recorded: bool = False, log: Log
    ) -> None:
        self.recipe, self.device, self.log, self.recorded = recipe, torch.device(device), log, recorded
        self.on_gpu, self.compiled = self.device.type == "cuda", compiled
        self.agent = Agent().to(self.device)
        self.namer = Namer().to(self.device) if recipe.naming else None
        self.network = self.network_of(self.agent, namer=self.namer)
        self.teacher: Network | None = None
        learnt = list(self.learnt().values())
        self.optimizer = torch.optim.Adam(learnt, lr=recipe.lr, eps=1e-5, fused=self.on_gpu or None)
        self.steps, self.seconds = 0, 0.0
        self.curve: list[tuple[float, ...]] = []
        self.tally, self.unseen = Tally(RECENT), Tally(RECENT_UNSEEN)

    def learnt(self) -> dict[str, torch.nn.Parameter]:
        """All that is learnt, by name: the agent, and who names what its layer shows."""
        names = dict(self.namer.named_parameters()) if self.namer else {}
        return {**dict(self.agent.named_parameters()), **{f"namer.{name}": value for name, value in names.items()}}

    def network_of(self, agent: Agent, *, namer: Namer | None = None) -> Network:
        """The agent in the form that runs fast here."""
        dtype = torch.bfloat16 if self.on_gpu else torch.float32
        network: Network = FastAgent(agent, dtype, alone=self.recipe.alone, namer=namer)
        return torch.compile(network, dynamic=False) if self.compiled else network

    def run(self, player: Player, probe: Player | None, *, minutes: float, out: Path) -> None:
        """Play and learn until the time is up."""
        if self.seconds >= minutes * 60:
            had = f"This run has had {self.seconds / 60:.1f} minutes already"
            raise SystemExit(f"{had}: give more --minutes than {minutes:g}.")
        began = told = saved = time.time()
        before, then, turn = self.seconds, self.steps, 0
        play, watch = self.player_of(player), self.player_of(probe) if probe else None
        while self.seconds < minutes * 60:
            window, share = play(), self.seconds / (minutes * 60)
            losses = improve(
                self.network, self.optimizer, window, recipe=self.recipe, share=share, teacher=self.teacher
            )
            self.steps += window.actions.numel()
            self.tally.add(window.endings(KINDS), window.actions.numel())  # waits for the device
            if watch and turn % PROBE_EVERY == 0:
                watched = watch()
                self.unseen.add(watched.endings(KINDS), watched.actions.numel())
            turn += 1
            now = time.time()
            self.seconds = before + now - began
            if turn <= 2 or now - told > TELL_S or self.seconds >= minutes * 60:
                self.log(self.report(losses, speed=(self.steps - then) / (now - told), lr=self.recipe.at(share)[0]))
                told, then = now, self.steps
            if now - saved > SAVE_S:
                saved = now
                self.save(out)
        self.save(out)

    def player_of(self, player: Player) -> Callable[[], Window]:
        """How the next window is played: from a recorded graph where there is one."""
        if self.recorded:
            return recorded(player, self.network)
        return lambda: player.play(self.network)

    def report(self, losses: Losses, *, speed: float, lr: float) -> str:
        """A line for the curve and for people."""
        tally, unseen = self.tally, self.unseen
        entropy, error, loud = losses.entropy.item(), losses.value.item(), losses.loudness.item()
        line = (self.steps, self.seconds, tally.completed, unseen.completed, tally.length, entropy, error, lr, loud)
        self.curve.append(tuple(round(float(number), 6) for number in line))
        used = torch.cuda.max_memory_allocated() / 2**30 if self.device.type == "cuda" else 0.0
        return (
            f"{self.seconds:6.0f} s {self.steps:>12,} steps {speed:>8,.0f}/s {used:.1f} GiB  "
            f"completed {tally.completed:.4f} of {tally.ended}, unseen {unseen.completed:.4f} of {unseen.ended}  "
            f"length {tally.length:.0f} entropy {entropy:.3f} value error {error:.4f} "
            f"loudness {loud:.3f} naming {losses.naming.item():.3f} from teacher {losses.distance.item():.4f} "
            f"failures {tally.failures()}"
        )

    def save(self, folder: Path) -> None:
        """Weights as they ship, the curve, and what a resume needs; each file is replaced whole."""
        folder.mkdir(parents=True, exist_ok=True)
        state = {name: value.detach().cpu().contiguous() for name, value in self.agent.state_dict().items()}
        _write({name: value.half() for name, value in state.items()}, folder / "weights.safetensors")
        kept = dict(state)
        for name, parameter in self.learnt().items():
            kept[name] = parameter.detach().cpu().contiguous()
            for key, value in self.optimizer.state.get(parameter, {}).items():
                kept[f"{name}/{key}"] = value.detach().cpu().contiguous()
        kept["progress"] = torch.tensor([self.steps, self.seconds], dtype=torch.float64)
        _write(kept, folder / "resume.safetensors")
        partial = folder / "curve.csv.part"
        with partial.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            writer.writerows(self.curve)
        partial.replace(folder / "curve.csv")

    def begin(self, weights: Path) -> None:
        """Take the weights of another training; everything else begins anew."""
        _read(self.agent, weights, "begin from")

    def learn_from(self, weights: Path) -> None:
        """Let the agent of another training teach this one."""
        teacher = Agent().to(self.device).requires_grad_(False)
        _read(teacher, weights, "learn from")
        self.teacher = self.network_of(teacher)

    def load(self, folder: Path) -> None:
        """Go on where a run was saved."""
        from safetensors.torch import load_file

        if not (folder / "resume.safetensors").is_file():
            raise SystemExit(f"There is no run to go on with in {folder}: resume.safetensors is missing.")
        kept = load_file(folder / "resume.safetensors", device=str(self.device))
        for name, parameter in self.learnt().items():
            if name not in kept:
                raise SystemExit(f"The run in {folder} was trained without --naming: go on without it, or begin anew.")
            parameter.data.copy_(kept[name])
            own = {k.partition("/")[2]: v for k, v in kept.items() if k.startswith(f"{name}/")}
            if own:
                self.optimizer.state[parameter] = own
        self.steps, self.seconds = int(kept["progress"][0]), float(kept["progress"][1])
        with (folder / "curve.csv").open() as file:
            self.curve = [tuple(map(float, row)) for row in list(csv.reader(file))[1:]]


def _read(agent: Agent, weights: Path, purpose: str) -> None:
    from safetensors.torch import load_file

    if not weights.is_file():
        raise SystemExit(f"There are no weights to {purpose} at {weights}.")
    device = str(next(agent.parameters()).device)
    agent.load_state_dict({name: value.float() for name, value in load_file(weights, device=device).items()})


def _write(tensors: dict[str, Tensor], path: Path) -> None:
    from safetensors.torch import save_file

    partial = path.with_name(path.name + ".part")
    save_file(tensors, partial)
    partial.replace(path)


def open_games(count: int, *, levels: int | None, unseen: bool, device: str, seed: int) -> Games:
    """Games on the training levels, or on levels that no training draws."""
    from innerview_zoo.worlds.platformer import FIRST_TEST_LEVEL, Platformer, PlatformerSettings

    if unseen:
        settings = PlatformerSettings(first_level=FIRST_TEST_LEVEL, levels=10**8)
    else:
        settings = PlatformerSettings(levels=levels)
    return Platformer(count, settings=settings, device=device, seed=seed)


def log(text: str) -> None:
    """A line on the terminal."""
    os.write(1, (text + "\n").encode())


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    """What was asked for on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="run", help="folder for weights, curve and what a resume needs")
    parser.add_argument("--resume", default="", help="folder of a run to go on with")
    parser.add_argument("--begin", default="", help="weights to begin from instead of random ones (safetensors)")
    parser.add_argument("--teacher", default="", help="weights of an agent to decide like at first (safetensors)")
    parser.add_argument("--minutes", type=float, default=30.0, help="of the whole training")
    parser.add_argument(
        "--levels", type=int, default=None, help="how many training levels; without: every level is new"
    )
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--compile", action=argparse.BooleanOptionalAction, default=None, help="default: on a GPU")
    parser.add_argument("--graph", action=argparse.BooleanOptionalAction, default=True, help="play from a CUDA graph")
    parser.add_argument("--seed", type=int, default=1)
    for field in fields(Recipe):
        kind = int if isinstance(field.default, int) else float
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=kind, default=field.default)
    return parser.parse_args(given)


def train(args: argparse.Namespace) -> None:
    """Open the games and learn."""
    torch.manual_seed(args.seed)
    torch.backends.cudnn.benchmark = True
    torch.set_float32_matmul_precision("high")
    recipe = Recipe(**{field.name: getattr(args, field.name) for field in fields(Recipe)})
    on_gpu = torch.device(args.device).type == "cuda"
    compiled = on_gpu if args.compile is None else args.compile
    if not on_gpu and args.games == Recipe.games:
        recipe = replace(recipe, games=64, batch=512)  # what a laptop can hold
    training = Training(recipe, device=args.device, compiled=compiled, recorded=args.graph and on_gpu, log=log)
    if args.begin:
        training.begin(Path(args.begin))
    if args.teacher:
        training.learn_from(Path(args.teacher))
    if args.resume:
        training.load(Path(args.resume))
    seed = args.seed + training.steps
    games = open_games(recipe.games, levels=args.levels, unseen=False, device=args.device, seed=seed)
    others = open_games(min(PROBES, recipe.games), levels=None, unseen=True, device=args.device, seed=seed + 1)
    player = Player(games, recipe.window, slip=recipe.slip, marked=bool(recipe.naming))
    probe = Player(others, recipe.window)
    try:
        training.run(player, probe, minutes=args.minutes, out=Path(args.out))
    except KeyboardInterrupt:  # Ctrl-C leaves a checkpoint
        training.save(Path(args.out))
        raise


def main(given: list[str] | None = None) -> None:
    """The command."""
    train(arguments(given))


if __name__ == "__main__":
    main()
