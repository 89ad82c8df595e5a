"""A rollout: from a recorded row on, other moves than those that were recorded."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from innerview.capture import Layout, Stepper
from innerview.errors import RequestError
from innerview.rollouts.what_if.origin import Origin
from innerview.rollouts.what_if.packing import Packed, pack
from innerview.schema import Moment, Move, ThingInView, to_json
from innerview.subjects import Output, Subject
from innerview.worlds import Changeable, Rewindable

MAX_MOVES = 2000
Memory = Mapping[str, torch.Tensor]


@dataclass(frozen=True, kw_only=True)
class Node:
    """Where a move led: what was seen there, and what the subject said."""

    key: str
    """Names this node and all that led to it."""
    step: int
    """Of the episode."""
    move: Move | None
    """None where the rollout begins."""
    action: Any
    """What was done, also where the subject chose."""
    thing: str
    """What a thing that was moved is called from now on."""
    moment: Moment
    """Without pictures, which are packed."""
    seen: Packed
    before: Memory
    """What the subject remembered when it came here."""
    output: Output
    values: Mapping[str, float]
    """Of its heads, by the name of the column."""
    probabilities: np.ndarray | None
    state: Any
    """Of the game, where it can go back."""


class WhatIfRollout:
    """A game that was brought to a recorded row, and what was tried from there."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self._lanes = origin.world.open(1)
        self._here = -1
        """The node that the game stands at; -1 where that is not known."""
        self.nodes: list[Node] = []
        try:
            moment = origin.replayed(self._lanes)
            self.nodes.append(self._node(moment, step=origin.step, before=origin.memory()))
            self._here = 0
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the game."""
        self._lanes.close()

    def __enter__(self) -> WhatIfRollout:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def why_fixed(self) -> str:
        """Why nothing can be moved or taken away; empty where things can."""
        world = self.origin.world.info.name
        return "" if isinstance(self._lanes, Changeable) else f"World '{world}' cannot move or remove things."

    def things(self, index: int) -> list[ThingInView]:
        """What can be changed at a node; nothing where the episode is over."""
        if not isinstance(self._lanes, Changeable) or self.nodes[index].moment.ended:
            return []
        self._go_to(index)
        return self._lanes.things(0)

    def play(self, moves: Sequence[Move]) -> list[Node]:
        """The nodes of these moves; those that were played before are not played again."""
        if len(moves) > MAX_MOVES:
            raise RequestError(f"At most {MAX_MOVES} moves are rolled out, not {len(moves)}.")
        for index, move in enumerate(moves):
            self._extend(index, move)
        return self.nodes[: len(moves) + 1]

    def go_on(self, moves: Sequence[Move], steps: int) -> list[Node]:
        """These moves, and after them up to so many of the subject's own, to the end of the episode at most."""
        last = len(self.play(moves)) - 1
        while steps > 0 and not self.nodes[last].moment.ended and last < MAX_MOVES:
            self._extend(last, Move(do="agent"))
            last, steps = last + 1, steps - 1
        return self.nodes[: last + 1]

    def subject_at(self, node: Node) -> Subject:
        """The subject, with its memory changed where the recording was made so."""
        change = self._stepper(node.before).changes([node.step])
        return self.origin.subject.with_edits(change) if change else self.origin.subject

    def inputs(self, node: Node) -> dict[str, torch.Tensor]:
        """What the subject was given there."""
        seen = {name: node.seen.get(name)[None] for name in self.form.fed}
        return self.origin.subject.inputs(seen)

    @property
    def form(self) -> Layout:
        """What a row holds."""
        return self.origin.form

    def _extend(self, index: int, move: Move) -> None:
        """Have this move follow a node; what followed it before by another one is dropped."""
        after = index + 1
        if after < len(self.nodes) and self.nodes[after].move == move:
            return
        self._go_to(index)
        del self.nodes[after:]
        self._add(move)

    def _go_to(self, index: int) -> None:
        """Have the game stand at a node."""
        if self._here == index:
            return
        self._here = -1
        if isinstance(self._lanes, Rewindable):
            self._lanes.restore(0, self.nodes[index].state)
        else:
            self.origin.replayed(self._lanes)
            for node in self.nodes[1 : index + 1]:
                assert node.move is not None, "only the first node has no move"
                self._made(node.move, node.action)
        self._here = index

    def _add(self, move: Move) -> None:
        last = self.nodes[-1]
        if last.moment.ended:
            raise RequestError(
                f"The episode is over ({last.moment.ended}) after {len(self.nodes) - 1} moves; take one back to try "
                "something else."
            )
        action = self._action(move, last) if move.takes_time else None
        self._here = -1
        moment, thing = self._made(move, action)
        before = last.before
        if move.takes_time:
            done, earned = np.asarray(action)[None], np.array([moment.reward])
            before = self.origin.subject.acted(last.output.memory, done, earned)
        step = last.step + int(move.takes_time)
        self.nodes.append(self._node(moment, step=step, before=before, move=move, action=action, thing=thing))
        self._here = len(self.nodes) - 1

    def _made(self, move: Move, action: Any) -> tuple[Moment, str]:
        """Do it in the game: the moment after it, and what a thing is called then."""
        if move.takes_time:
            return self._lanes.step({0: action})[0], ""
        if not isinstance(self._lanes, Changeable):
            raise RequestError(f"{self.why_fixed} Actions can be chosen.")
        if move.do == "remove":
            return self._lanes.remove(0, move.thing), ""
        if len(move.by) != 2:
            raise RequestError(f"by is how far right and up, two numbers, not {list(move.by)}.")
        return self._lanes.move(0, move.thing, (move.by[0], move.by[1]))

    def _action(self, move: Move, node: Node) -> Any:
        origin = self.origin
        if move.do == "agent":
            return origin.chosen(node.output)
        return origin.checked_action(move)

    def _node(self, moment: Moment, *, step: int, before: Memory, move: Move | None = None, **made: Any) -> Node:
        subject, form = self.origin.subject, self.form
        fed = {name: np.asarray(moment.observation[name])[None] for name in form.fed}
        output = self._stepper(before).step(subject.inputs(fed), steps=[step])
        values, arrays = form.heads.values(output)
        probabilities = arrays.get("probabilities")
        return Node(
            key=self._key(move),
            step=step,
            move=move,
            action=made.get("action"),
            thing=made.get("thing", ""),
            moment=Moment(observation={}, facts=moment.facts, reward=moment.reward, ended=moment.ended, cut=moment.cut),
            seen=pack(moment.observation),
            before=before,
            output=output,
            values={name: column[0] for name, column in values.items()},
            probabilities=None if probabilities is None else probabilities[0],
            state=self._lanes.state(0) if isinstance(self._lanes, Rewindable) else None,
        )

    def _stepper(self, before: Memory) -> Stepper[Mapping[str, torch.Tensor]]:
        """The subject with this memory, edited as it was when the recording was made."""
        return Stepper(self.origin.subject, before, programs=[self.origin.edits])

    def _key(self, move: Move | None) -> str:
        above = self.nodes[-1].key if self.nodes else self.origin.key
        return hashlib.sha256(f"{above} {json.dumps(to_json(move))}".encode()).hexdigest()[:24]
