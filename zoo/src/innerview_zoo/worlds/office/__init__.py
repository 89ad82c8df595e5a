"""An office floor of 22 x 22 m as a world: colour, depth and ids, in a simulator and in a stand-in for reality.

Everything here runs on torch and numpy alone, the same on a CPU and on a GPU.
"""

from innerview_zoo.worlds.office.conditions import GAPS, Conditions, conditions_of
from innerview_zoo.worlds.office.floors.drawing import plan_svg
from innerview_zoo.worlds.office.floors.floor import Door, Floor, Lights, Room, Thing, Wall, Window
from innerview_zoo.worlds.office.floors.freespace import FreeSpace, free_space, is_free
from innerview_zoo.worlds.office.floors.standard import bare_room, office_floor
from innerview_zoo.worlds.office.floors.ways import sample_poses, trajectory
from innerview_zoo.worlds.office.reality import as_real
from innerview_zoo.worlds.office.rendering.camera import Camera, places_of
from innerview_zoo.worlds.office.rendering.render import Frame, render
from innerview_zoo.worlds.office.things.kinds import KINDS
from innerview_zoo.worlds.office.view import DEPTH_RANGE_M, rgbd_of

__all__ = [
    "DEPTH_RANGE_M",
    "GAPS",
    "KINDS",
    "Camera",
    "Conditions",
    "Door",
    "Floor",
    "Frame",
    "FreeSpace",
    "Lights",
    "Room",
    "Thing",
    "Wall",
    "Window",
    "as_real",
    "bare_room",
    "conditions_of",
    "free_space",
    "is_free",
    "office_floor",
    "places_of",
    "plan_svg",
    "render",
    "rgbd_of",
    "sample_poses",
    "trajectory",
]
