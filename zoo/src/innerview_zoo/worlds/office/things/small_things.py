"""Small things: on desks, shelves and counters, or left about."""

from __future__ import annotations

from collections.abc import Iterator

from innerview_zoo.worlds.office.things.parts import Kind, Look, Part, ball, box, ring, rod, tube

DARK = "#2e3238"


def monitor(look: Look) -> Iterator[Part]:
    """A screen on a foot."""
    yield box(0, 0.03, 0, 0.22, 0.16, 0.015, DARK)
    yield box(0, 0.05, 0.01, 0.05, 0.03, 0.2, DARK)
    yield box(0, 0.02, 0.12, look.w, 0.035, look.h - 0.12, "#1b1d20")
    texture = ("screen_a", "screen_b", "screen_c")[look.variant % 3]
    yield box(0, 0, 0.135, look.w - 0.03, 0.008, look.h - 0.15, texture=texture, fit=True, glow=0.6)


def keyboard(look: Look) -> Iterator[Part]:
    """A keyboard."""
    yield box(0, 0, 0, look.w, look.d, look.h, "#3a3e44", top="keys_top", fit=True)


def laptop(look: Look) -> Iterator[Part]:
    """An open laptop."""
    shell = look.pick("#b5b9bd", "#3b3e43")
    yield box(0, -0.02, 0, look.w, 0.23, 0.016, shell, top="keys_top", fit=True)
    yield box(0, 0.115, 0.015, look.w, 0.012, 0.22, shell, turn=(0, 0, -14))
    yield box(0, 0.105, 0.025, look.w - 0.02, 0.006, 0.2, texture="screen_a", fit=True, glow=0.6, turn=(0, 0, -14))


def mug(look: Look) -> Iterator[Part]:
    """A mug with a handle."""
    paint = look.pick("#d9482b", "#f1efe8", "#2d6da3", "#e0b13c", "#3d6b4f")
    yield tube(0, 0, 0, 0.042, 0.1, paint)
    yield tube(0, 0, 0.097, 0.036, 0.004, "#3b2416")
    yield ring(0.05, 0, 0.05, 0.032, paint, inner=0.6)


def keys(look: Look) -> Iterator[Part]:
    """A bunch of keys on a ring."""
    yield ring(0, 0, 0.008, 0.022, "#c9b458", inner=0.7, turn=(0.0, 0.0, 0.0))
    yield box(0.04, 0.01, 0.002, 0.055, 0.014, 0.006, "#c9b458", turn=(18, 0, 0))
    yield box(0.035, -0.025, 0.002, 0.055, 0.014, 0.006, "#a9adb1", turn=(-35, 0, 0))
    yield box(-0.035, -0.01, 0.002, 0.05, 0.03, 0.008, look.pick("#d23f31", "#2a7ab8"), turn=(20, 0, 0))


def paper(look: Look) -> Iterator[Part]:
    """A stack of paper."""
    yield box(0, 0, 0, look.w, look.d, look.h, "#f3f1ea", top="print", fit=True, turn=(9 * (look.variant % 4), 0, 0))


def book(look: Look) -> Iterator[Part]:
    """A few books in a pile."""
    for i, cover in enumerate(("#a63d2f", "#2f5d7c", "#d3a63c")[: 1 + look.variant % 3]):
        yield box(0, 0, i * 0.035, 0.16, 0.23, 0.034, cover, turn=(10.0 * i, 0, 0))


def bottle(look: Look) -> Iterator[Part]:
    """A bottle of water."""
    paint = look.pick("#6fa8d6", "#4f9a6d", "#c9cdd1")
    yield tube(0, 0, 0, 0.034, 0.17, paint)
    yield ball(0, 0, 0.17, 0.034, 0.034, 0.03, paint)
    yield tube(0, 0, 0.19, 0.014, 0.05, "#f1f1ee")


def phone(look: Look) -> Iterator[Part]:
    """A desk telephone."""
    yield box(0, 0, 0, 0.2, 0.2, 0.05, DARK, turn=(0, 0, 6))
    yield box(-0.07, 0, 0.05, 0.05, 0.2, 0.03, "#1c1e21")


def desk_lamp(look: Look) -> Iterator[Part]:
    """A lamp with a bent arm."""
    paint = look.pick("#d9a441", "#2e3238", "#b5442f")
    yield tube(0, 0, 0, 0.08, 0.02, paint)
    yield rod((0, 0, 0.02), (0.06, 0.08, 0.26), 0.01, paint)
    yield rod((0.06, 0.08, 0.26), (0, -0.1, 0.42), 0.01, paint)
    yield ball(0, -0.12, 0.41, 0.07, 0.07, 0.05, paint)


def little_plant(look: Look) -> Iterator[Part]:
    """A small plant in a pot."""
    yield tube(0, 0, 0, 0.05, 0.09, look.pick("#e8e5dd", "#c46a42"))
    for i, green in enumerate(("#4f8a44", "#3f7d3a", "#6fa050")):
        yield ball(
            (-0.04, 0.04, 0.0)[i], (0.02, 0.02, -0.04)[i], 0.14 + 0.02 * i, 0.05, 0.05, 0.06, green, texture="leaf"
        )


def bin_(look: Look) -> Iterator[Part]:
    """A waste bin."""
    yield tube(0, 0, 0, look.w / 2, look.h, look.pick("#5a6068", "#3f6f8f", "#4f8a57"))
    yield tube(0, 0, look.h, look.w / 2 - 0.02, 0.004, "#1e2023")


def backpack(look: Look) -> Iterator[Part]:
    """A backpack that someone left."""
    cloth = look.pick("#3f5a3c", "#6b2f3a", "#34465f")
    yield ball(0, 0, 0.22, 0.16, 0.12, 0.23, cloth, texture="cloth")
    yield ball(0, -0.1, 0.15, 0.12, 0.06, 0.12, cloth, texture="cloth")


def carton(look: Look) -> Iterator[Part]:
    """A box of cardboard."""
    yield box(0, 0, 0, look.w, look.d, look.h, "#b98d5e", texture="carton", fit=True)


def coffee_machine(look: Look) -> Iterator[Part]:
    """A machine for coffee."""
    yield box(0, 0.05, 0, look.w, look.d - 0.1, look.h, "#24272b")
    yield box(0, -0.1, 0, look.w, 0.2, 0.03, "#8d9298")
    yield box(0, -0.08, look.h - 0.14, look.w, 0.18, 0.14, "#b5332b")
    yield tube(0, -0.1, 0.03, 0.035, 0.08, "#f1efe8")


def microwave(look: Look) -> Iterator[Part]:
    """A microwave oven."""
    yield box(0, 0, 0, look.w, look.d, look.h, "#cfd2d4")
    yield box(-0.05, -look.d / 2, 0.04, look.w * 0.65, 0.01, look.h - 0.08, "#1d2024")
    yield box(look.w * 0.36, -look.d / 2, look.h - 0.09, 0.08, 0.01, 0.04, "#63c07a", glow=0.6)


def bowl(look: Look) -> Iterator[Part]:
    """A bowl of fruit."""
    yield tube(0, 0, 0, 0.12, 0.05, "#e8e5dd")
    for i, fruit in enumerate(("#d8422f", "#e59a2b", "#7ea83a", "#e5c22b")):
        yield ball(
            (-0.05, 0.05, 0.0, 0.01)[i], (0.03, 0.03, -0.05, 0.0)[i], 0.07 + 0.03 * (i == 3), 0.04, 0.04, 0.04, fruit
        )


def printer_3d(look: Look) -> Iterator[Part]:
    """A printer for solid things: a frame, a bed and what it has made so far."""
    for x in (-1, 1):
        for y in (-1, 1):
            yield box(x * 0.2, y * 0.2, 0, 0.03, 0.03, look.h, "#d97b2b")
    yield box(0, 0, look.h - 0.03, 0.43, 0.43, 0.03, "#d97b2b")
    yield box(0, 0, 0, 0.43, 0.43, 0.05, DARK)
    yield tube(0, 0, 0.05, 0.06, 0.12, "#3f8fb5")
    yield box(0, 0, 0.19, 0.42, 0.05, 0.05, DARK)


def microscope(look: Look) -> Iterator[Part]:
    """A microscope."""
    yield box(0, 0, 0, 0.18, 0.24, 0.04, "#e3e5e6")
    yield box(0, 0.09, 0.04, 0.06, 0.05, 0.26, "#e3e5e6")
    yield rod((0, 0, 0.16), (0, 0.0, 0.34), 0.025, DARK)
    yield rod((0, 0.0, 0.34), (0, -0.09, 0.4), 0.02, DARK)
    yield box(0, -0.02, 0.12, 0.13, 0.13, 0.012, DARK)


def robot(look: Look) -> Iterator[Part]:
    """A robot's arm on a bench."""
    yield tube(0, 0, 0, 0.1, 0.08, "#e07b2a")
    yield rod((0, 0, 0.08), (0, 0.03, 0.34), 0.045, "#e07b2a")
    yield ball(0, 0.03, 0.35, 0.06, 0.06, 0.06, DARK)
    yield rod((0, 0.03, 0.35), (0.08, -0.22, 0.5), 0.038, "#e07b2a")
    yield ball(0.08, -0.22, 0.5, 0.045, 0.045, 0.045, DARK)
    yield rod((0.08, -0.22, 0.5), (0.1, -0.32, 0.36), 0.022, "#c9cdd0")


SMALL_THINGS: dict[str, Kind] = {
    "monitor": Kind(size=(0.58, 0.2, 0.48), make=monitor, blocks=False, plan="#3d4650"),
    "keyboard": Kind(size=(0.42, 0.14, 0.025), make=keyboard, blocks=False, plan="#555a60"),
    "laptop": Kind(size=(0.34, 0.26, 0.25), make=laptop, blocks=False, plan="#8a9097", loose=True),
    "mug": Kind(size=(0.1, 0.1, 0.1), make=mug, blocks=False, plan="#d9482b", loose=True),
    "keys": Kind(size=(0.12, 0.08, 0.01), make=keys, blocks=False, plan="#c9b458", loose=True),
    "paper": Kind(size=(0.21, 0.3, 0.03), make=paper, blocks=False, plan="#f3f1ea", loose=True),
    "book": Kind(size=(0.17, 0.24, 0.1), make=book, blocks=False, plan="#a63d2f", loose=True),
    "bottle": Kind(size=(0.07, 0.07, 0.24), make=bottle, blocks=False, plan="#6fa8d6", loose=True),
    "phone": Kind(size=(0.2, 0.2, 0.08), make=phone, blocks=False, plan="#2e3238"),
    "desk lamp": Kind(size=(0.18, 0.3, 0.46), make=desk_lamp, blocks=False, plan="#d9a441", loose=True),
    "little plant": Kind(size=(0.18, 0.18, 0.22), make=little_plant, blocks=False, plan="#5b9a4b", loose=True),
    "bin": Kind(size=(0.3, 0.3, 0.36), make=bin_, plan="#5a6068", loose=True),
    "backpack": Kind(size=(0.32, 0.3, 0.46), make=backpack, plan="#3f5a3c", loose=True),
    "carton": Kind(size=(0.45, 0.35, 0.34), make=carton, plan="#b98d5e", loose=True),
    "coffee machine": Kind(size=(0.3, 0.42, 0.4), make=coffee_machine, blocks=False, plan="#b5332b"),
    "microwave": Kind(size=(0.48, 0.36, 0.28), make=microwave, blocks=False, plan="#cfd2d4"),
    "bowl": Kind(size=(0.26, 0.26, 0.14), make=bowl, blocks=False, plan="#e59a2b", loose=True),
    "3D printer": Kind(size=(0.46, 0.46, 0.5), make=printer_3d, blocks=False, plan="#d97b2b"),
    "microscope": Kind(size=(0.2, 0.26, 0.42), make=microscope, blocks=False, plan="#e3e5e6"),
    "robot": Kind(size=(0.3, 0.5, 0.55), make=robot, blocks=False, plan="#e07b2a"),
}
