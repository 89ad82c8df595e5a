"""Adapts or implements a world: what feeds a subject and tells facts. One file per family.

A world describes itself in `info` and opens lanes: running games that are reset and stepped together.
Gymnasium and ViZDoom are imported only when a world of that family is made.
"""

from innerview.worlds.factory import world
from innerview.worlds.frames import resize_frame
from innerview.worlds.lanes import ThreadedLanes
from innerview.worlds.protocols import Changeable, Game, Lanes, Renderer, Rewindable, World

__all__ = ["Changeable", "Game", "Lanes", "Renderer", "Rewindable", "ThreadedLanes", "World", "resize_frame", "world"]
