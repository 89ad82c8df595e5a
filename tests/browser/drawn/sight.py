"""Views of what an agent sees and what its layers respond to, over levels of the platformer with factors."""

from __future__ import annotations

import re

import numpy as np
import torch
from playwright.sync_api import expect

from ..workbench import Workbench, canvas_of
from .reading import check, check_column, fill_of, near, number, surface, table
from .stored import Stored, result_of


def _named(factor: dict, place: int) -> str:
    return (factor["meaning"] or {}).get("name") or f"factor {place + 1}"


def legend(bench: Workbench, stored: Stored, row: int) -> None:
    """A card per factor: its share, its automatic name with how sure it is, and a colour of its own."""
    value, _ = result_of(stored.study, "factors")
    bench.get("factor").first.wait_for()
    cards = bench.get("factor").all()
    assert len(cards) == len(value["factors"])
    colours = []
    for card, (place, factor) in zip(cards, enumerate(value["factors"]), strict=True):
        check(card.get_by_test_id("factor-pin").inner_text(), 100 * factor["share"], f"share of factor {place + 1}")
        assert card.get_by_test_id("factor-hide").inner_text() == str(place + 1)
        drawn = card.get_by_test_id("factor-name").inner_text()
        assert drawn.startswith(_named(factor, place)), f"factor {place + 1}: drawn {drawn!r}"
        meaning = factor["meaning"] or {}
        for name, share in re.findall(r"([^,?]+)\? (\d+) %", drawn):
            line = next(line for line in meaning["classes"] if line["class"] == name.strip())
            assert abs(line["share"] * 100 - int(share)) <= 0.51, f"factor {place + 1}: {name} {share} %"
        colours.append(tuple(fill_of(card)))
    assert len(set(colours)) == len(colours), "two factors have one colour"
    explained = bench.get("view-legend").locator("header small").first.inner_text()
    check(explained, 100 * value["explained"], "what the factors explain")
    lines = table(bench, "view-legend")
    check_column(lines, "share", [factor["share"] for factor in value["factors"]], "factors.csv")


def factor(bench: Workbench, stored: Stored, row: int) -> None:
    """The factor with the largest share: what it lies on, and how much would by chance."""
    value, _ = result_of(stored.study, "factors")
    told = value["factors"][0]
    view = bench.get("view-factor")
    check(view.locator("header small").first.inner_text(), 100 * told["share"], "share of the factor")
    lines = table(bench, "view-factor")
    kept = told["meaning"]["classes"]
    assert [line["class"] for line in lines] == [line["class"] for line in kept]
    for name, key in (
        ("share", "share"),
        ("by chance", "chance"),
        ("excess", "excess"),
        ("consistency", "consistency"),
    ):
        check_column(lines, name, [line[key] for line in kept], "factor.csv")


def attribution(bench: Workbench, stored: Stored, row: int) -> None:
    """The picture that it saw, the amount of each factor in each cell, and their sums."""
    expect(bench.get("attribution-seen")).to_have_attribute("data-row", str(row))
    seen = stored.array_rows("observation", row, row + 1)[0]
    for name in ("seen", "good", "bad"):
        assert np.array_equal(canvas_of(bench.get(f"attribution-{name}-picture"))[..., :3], seen), name
    value, arrays = result_of(stored.study, "factors")
    amounts = arrays["amounts"][row].astype(float) * float(arrays["scale"][row, 0]) / 127
    lines = table(bench, "view-attribution")
    names = [_named(told, place) for place, told in enumerate(value["factors"])]
    same = {name for name in names if names.count(name) > 1}
    for place, name in enumerate(names):
        own = [line for line in lines if line["factor"] == (f"{name} {place + 1}" if name in same else name)]
        drawn = np.zeros(amounts.shape[1:])
        for line in own:
            drawn[int(line["y"]), int(line["x"])] = float(line["amount"])
        assert np.allclose(drawn, amounts[place], rtol=1e-5, atol=1e-7), f"amounts of factor {place + 1}"
    captions = bench.get("view-attribution").locator("figcaption").all_inner_texts()
    for caption, sign in ((captions[1], 1), (captions[2], -1)):
        total = float((sign * amounts).clip(0).sum())
        text = re.split(r"[+−]", caption)[-1]
        drawn_total, half = number(text)
        assert abs(drawn_total - total) <= half * 1.01 + 0.02 * total, f"sum: drawn {caption!r}, stored {total:.3f}"


def totals(bench: Workbench, stored: Stored, row: int) -> None:
    """Of each row of the episode what each factor adds and takes, and the bands that are drawn of it."""
    _, arrays = result_of(stored.study, "factors")
    episode, _ = stored.place(row)
    start, stop = stored.span(episode)
    both = arrays["totals"][start:stop].astype(float)
    lines = table(bench, "view-totals")
    assert [int(line["row"]) for line in lines] == list(range(start, stop))
    drawn = np.array([[float(cell) for cell in list(line.values())[1:]] for line in lines])
    assert np.allclose(drawn, both.reshape(stop - start, -1), rtol=1e-5, atol=1e-7), "totals.csv"
    now = bench.get("totals-now").inner_text().replace("\n", " ")
    up, down = re.match(r"\+(\S+) −(\S+)", now).groups()  # type: ignore[union-attr]
    check(up, float(both[row - start, :, 0].sum()), "what raises the value")
    check(down, float(both[row - start, :, 1].sum()), "what lowers the value")
    _bands(bench, both)


def _bands(bench: Workbench, both: np.ndarray) -> None:
    """Above the middle what raises, below it what lowers: each band in the colour of its factor, as high as it is."""
    canvas = surface(bench.get("totals-canvas"))
    height, width = canvas.shape[:2]
    cards = [fill_of(card) for card in bench.get("factor").all()]
    good, bad = both[..., 0].sum(axis=1).max(), both[..., 1].sum(axis=1).max()
    scale, middle = height / (good + bad), good / (good + bad) * height
    tried = 0
    for step in range(len(both)):
        x = int((step + 0.5) / len(both) * width)
        for side, sign in ((0, -1), (1, 1)):
            reach = middle
            for place, colour in enumerate(cards):
                tall = both[step, place, side] * scale
                if tall > 9:
                    tried += 1
                    column = canvas[int(reach + sign * tall / 2) - 2 : int(reach + sign * tall / 2) + 3, x, :3]
                    found = any(near(pixel, colour, 16) for pixel in column)
                    assert found, f"step {step}, factor {place + 1}: drawn {column[2]}, its colour is {colour}"
                reach += sign * tall
    assert tried > 5, "no band is high enough to be looked at"


def ablation(bench: Workbench, stored: Stored, row: int) -> None:
    """Factors to choose from, by name and in their colours."""
    value, _ = result_of(stored.study, "factors")
    chips = bench.get("ablate-factor").all()
    cards = [fill_of(card) for card in bench.get("factor").all()]
    for chip, (place, told) in zip(chips, enumerate(value["factors"]), strict=True):
        number_, name = chip.inner_text().split("\n")
        assert (number_, name) == (str(place + 1), _named(told, place)), f"drawn {chip.inner_text()!r}"
        assert near(fill_of(chip), cards[place]), f"factor {place + 1} has another colour here"


def what_if(bench: Workbench, stored: Stored, row: int) -> None:
    """Before the first move the game is as it was recorded."""
    seen = stored.array_rows("observation", row, row + 1)[0]
    drawn = canvas_of(bench.get("what-if-seen-picture"))[..., :3]
    assert drawn.shape == seen.shape and np.array_equal(drawn, seen), "it did not look like this"
    lines = table(bench, "view-what-if")
    assert int(lines[0]["step"]) == stored.place(row)[1]
    check_column(lines[:1], "value", [stored.rows["value"][row]], "what-if.csv", rtol=1e-4)


def moves(bench: Workbench, stored: Stored, row: int) -> None:
    """What it wants, what was recorded, and the value then."""
    names = stored.spec("action")["categories"]
    chances = stored.array_rows("probabilities", row, row + 1)[0]
    lines = bench.get("what-if-act").all()
    assert [line.locator(".name").inner_text() for line in lines] == list(names)
    for line, name, chance in zip(lines, names, chances, strict=True):
        drawn = number(line.locator(".share").inner_text())[0] / 100
        assert abs(drawn - chance) <= 0.0051, f"{name}: drawn {drawn}, stored {chance}"
    marks = [line.locator(".mark").inner_text().strip() for line in lines]
    assert marks.index("◂") == stored.rows["action"][row], "the mark is on another action"
    for name in ("what-if-value", "what-if-recorded"):
        check(bench.get(name).inner_text(), stored.rows["value"][row], name)


def course(bench: Workbench, stored: Stored, row: int) -> None:
    """The recorded value of every step, and how the episode went."""
    episode, _ = stored.place(row)
    start, stop = stored.span(episode)
    lines = table(bench, "view-course")
    check_column(lines, "recorded", stored.rows["value"][start:stop].to_list(), "course.csv")
    told = bench.get("course-outcome-real").inner_text()
    line = stored.groups.row(episode, named=True)
    assert told.startswith(f"{line['outcome']} after {line['length']} steps"), f"drawn {told!r}"


def saliency(bench: Workbench, stored: Stored, row: int, module: torch.nn.Module) -> None:
    """A map is as strong in each pixel as the gradient there, on the scale that stands below it."""
    cell = bench.page.locator(f'[data-testid="saliency-cell"][data-row="{row}"]')
    cell.wait_for()
    bench.still()
    seen = stored.array_rows("observation", row, row + 1)
    picture = canvas_of(cell.locator(".picture > canvas").first)[..., :3]
    assert np.array_equal(picture, seen[0]), "the map lies over another picture"
    given = torch.from_numpy(seen).permute(0, 3, 1, 2).float() / 255
    given.requires_grad_(True)
    module(given)[1].sum().backward()
    assert given.grad is not None
    strength = given.grad[0].abs().amax(dim=0).numpy()
    drawn = canvas_of(cell.get_by_test_id("saliency-heat"))[..., 3].astype(float)
    assert np.abs(drawn - 255 * np.minimum(0.85, 1.1 * strength / strength.max())).max() < 2.5
    check(cell.get_by_test_id("saliency-scale").inner_text().strip().lstrip("±"), float(strength.max()), "scale")
