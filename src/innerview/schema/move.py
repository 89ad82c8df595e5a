"""What can be done to roll a recorded episode out in another way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Does = Literal["act", "agent", "move", "remove"]
DOES: tuple[str, ...] = get_args(Does)


@dataclass(frozen=True, kw_only=True)
class Move:
    """One move: an action of one's own, the agent's most likely one, or a change to a thing while time stands still."""

    do: Does
    action: int | None = None
    """For "act": the number of a discrete action."""
    actions: tuple[float, ...] = ()
    """For "act": a number for each dimension of a continuous action."""
    thing: str = ""
    """For "move" and "remove": its id at that moment."""
    by: tuple[float, ...] = ()
    """For "move": right and up, in the world's unit of length."""

    @property
    def takes_time(self) -> bool:
        """Whether the next step of the episode follows."""
        return self.do in ("act", "agent")
