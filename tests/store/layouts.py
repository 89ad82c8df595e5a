"""Folders of small images in the layouts of other people, each with its quirks."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from PIL import Image

SIZE = (12, 10)
"""Width and height."""


def colours(seed: int, size: tuple[int, int] = SIZE) -> np.ndarray:
    """A smooth picture in colour, so that JPEG keeps it nearly as it is."""
    x, y = np.meshgrid(np.arange(size[0]), np.arange(size[1]))
    red, green = seed % 100 * 16 % 200 + 4 * x, seed // 100 * 100 + 4 * y
    return np.stack([red, green, np.full_like(x, 60)], axis=-1).clip(0, 255).astype(np.uint8)


def depth_mm(seed: int, size: tuple[int, int] = SIZE) -> np.ndarray:
    """16 bits, one to three metres away, with a hole."""
    x, _ = np.meshgrid(np.arange(size[0]), np.arange(size[1]))
    values = (1000 + 100 * x + seed).astype(np.uint16)
    values[0, 0] = 0
    return values


def save(path: Path, pixels: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)


def make_manifest(folder: Path, count: int = 6, *, unit: str = "rad", size: tuple[int, int] = SIZE) -> Path:
    """Lines of a domain in another order than those of the other; one file holds the camera."""
    lines = []
    for pair in range(count):
        for domain in ("sim", "real"):
            save(folder / f"images/{domain}_{pair}.jpg", colours(pair + (100 if domain == "real" else 0), size))
            save(folder / f"images/{domain}_{pair}_depth.png", depth_mm(pair, size))
        angle = -3 + pair if unit == "rad" else 60.0 * pair + 0.5
        for domain in ("sim", "real"):
            name = f"images/{domain}_{pair}"
            facts = f"{pair / 2},{pair},{angle},p{pair},{domain},cam.json,room {pair % 2}"
            lines.append((domain, pair, f"{name}.jpg,{name}_depth.png,{facts}"))
    ordered = sorted(lines, key=lambda line: (line[0], line[1] if line[0] == "sim" else -line[1]))
    head = f"image,depth [mm],x [m],y [m],angle [{unit}],pair,domain,camera,room"
    (folder / "cam.json").write_text('{"width_px": 12, "height_px": 10, "focal_px": [9, 9], "centre_px": [6, 5]}')
    path = folder / "manifest.csv"
    path.write_text("\n".join([head, *(text for *_, text in ordered)]) + "\n")
    return path


def sim_name(row: int) -> str:
    """As Habitat has it: y is up."""
    return f"x{row / 2:.3f}_y0.047_z{-row:.3f}_r{30 * row - 170}"


def real_name(row: int) -> str:
    """In the robot's own frame: z is up."""
    return f"x{row:.3f}_y{row / 4:.3f}_z0.000_r-{row}"


def make_sim2realviz(folder: Path, count: int = 6, *, size: tuple[int, int] = SIZE) -> None:
    """match.csv lies beside the simulated images, in another order; depth is JPEG, of three channels or one."""
    for row in range(count):
        for domain, name in (("sim", sim_name(row)), ("real", real_name(row))):
            save(folder / domain / f"{name}_rgb.jpeg", colours(row + (100 if domain == "real" else 0), size))
            grey = (depth_mm(row, size) / 39.2157).astype(np.uint8)
            save(folder / domain / f"{name}_depth.jpeg", np.stack([grey] * 3, -1) if domain == "real" else grey)
    lines = [f"{real_name(row)}_rgb.jpeg,{sim_name(row)}_rgb.jpeg" for row in reversed(range(count))]
    (folder / "sim/match.csv").write_text("\n".join(["REAL_RGB,SIM_RGB", *lines]) + "\n")


def looking(heading_rad: float) -> tuple[float, ...]:
    """The quaternion x, y, z, w of a level camera whose z axis looks that way, with y down."""
    c, s = math.cos(heading_rad), math.sin(heading_rad)
    # Columns: right, down, ahead.
    matrix = np.array([[s, 0, c], [-c, 0, s], [0, -1, 0]])
    w = math.sqrt(max(0.0, 1 + np.trace(matrix))) / 2
    if w > 1e-6:
        x, y, z = (matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1])
        return (x / 4 / w, y / 4 / w, z / 4 / w, w)
    values, vectors = np.linalg.eig(matrix)
    axis = np.real(vectors[:, int(np.argmin(abs(values - 1)))])
    return (*axis.tolist(), 0.0)


def make_tum(folder: Path, count: int = 6, *, size: tuple[int, int] = SIZE) -> None:
    """Depth some milliseconds later, poses at four times the rate and in another order; comments; 5,000 a metre."""
    rgb, depth, truth = (
        ["# colour images", "# timestamp filename"],
        ["# depth maps"],
        ["# timestamp tx ty tz qx qy qz qw"],
    )
    for row in range(count):
        time = 1305031102.1 + row / 30
        save(folder / f"rgb/{time:.6f}.png", colours(row, size))
        save(folder / f"depth/{time + 0.004:.6f}.png", (depth_mm(row, size).astype(np.uint32) * 5).astype(np.uint16))
        rgb.append(f"{time:.6f} rgb/{time:.6f}.png")
        depth.append(f"{time + 0.004:.6f} depth/{time + 0.004:.6f}.png")
    for tick in reversed(range(4 * count)):
        q = looking(tick * 0.1)
        truth.append(
            f"{1305031102.1 + tick / 120:.4f} {tick * 0.25:.4f} {-tick:.4f} 1.3 " + " ".join(f"{v:.6f}" for v in q)
        )
    for name, lines in (("rgb", rgb), ("depth", depth), ("groundtruth", truth)):
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")
