"""What a person does with the page, as a test says it."""

from __future__ import annotations

import re
import time
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
from playwright.sync_api import ConsoleMessage, Locator, Page, Request, Response, expect

# Pixels travel as text: as a list of numbers a large canvas takes many seconds.
TOLD = """canvas => {
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    let text = "";
    for (let i = 0; i < pixels.length; i += 8192) text += String.fromCharCode(...pixels.subarray(i, i + 8192));
    return {row: canvas.dataset?.row, width: canvas.width, height: canvas.height, rgba: btoa(text)};
}"""
READ_PICTURE = f"""async image => {{
    await image.decode();
    const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight);
    canvas.getContext("2d").drawImage(image, 0, 0);
    return ({TOLD})(canvas);
}}"""
TELL_BLOCKED = """addEventListener("securitypolicyviolation",
    event => console.error(`The policy blocked ${event.blockedURI} (${event.violatedDirective})`))"""
STILL = """() => {
    const seen = image => {
        const box = image.getBoundingClientRect();
        return document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2) === image;
    };
    const busy = /(counting|ranking|averaging)…/i.test(document.body.innerText);
    return !busy && document.fonts.status === "loaded" && [...document.images].every(i => i.complete || !seen(i));
}"""
"""Nothing that a person sees says that it is still at work, and every picture in sight is there."""
FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
PATIENCE_S = 45
EXPECTED = ("willReadFrequently", "GL Driver Message")


@dataclass
class Watch:
    """Everything that went wrong in a page; a test says what it expects to go wrong."""

    page: Page
    home: str = ""
    problems: list[str] = field(default_factory=list)
    # The tests read canvases, the page does not; a browser without a GPU says how slow it is.
    expected: list[str] = field(default_factory=lambda: list(EXPECTED))

    def __post_init__(self) -> None:
        self.page.add_init_script(TELL_BLOCKED)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.problems.append(f"page error: {error}"))
        self.page.on("response", self._response)
        self.page.on("request", self._request)

    def begin(self, home: str) -> None:
        """Watch a new visit: what was before is forgotten."""
        self.home, self.problems, self.expected = home, [], list(EXPECTED)

    def check(self) -> None:
        """Fail where something went wrong that nobody expected."""
        left = [p for p in self.problems if not any(re.search(e, p) for e in self.expected)]
        assert not left, "The page complained:\n" + "\n".join(left)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            where = message.location.get("url", "") if message.location else ""
            self.problems.append(f"console {message.type}: {message.text} {where}")

    def _response(self, response: Response) -> None:
        if response.status >= 500:
            self.problems.append(f"reply {response.status}: {response.url}")

    def _request(self, request: Request) -> None:
        if not request.url.startswith((self.home, "data:", "blob:")):
            self.problems.append(f"request to elsewhere: {request.url}")


@dataclass(frozen=True)
class Workbench:
    """A page that shows a study."""

    page: Page
    watch: Watch
    home: str

    def get(self, testid: str) -> Locator:
        """What carries this id."""
        return self.page.get_by_test_id(testid)

    def ready(self) -> None:
        """Wait until the workspace stands, its first picture is drawn and time has its lines."""
        drawn = '[data-testid="observation-canvas"]:not([data-row=""]), [data-testid="pair-picture"]'
        lines = '[data-testid="track"], [data-testid="pair-values"]'
        # Waiting this way sees a change at once; `expect` looks again after up to a second.
        for part in ('[data-testid="workspace"]', drawn, lines):
            self.page.locator(part).first.wait_for()

    def still(self) -> None:
        """Wait until nothing in the page is at work, and all of it is drawn."""
        self.page.wait_for_function(STILL)
        self.page.evaluate(FRAMES)

    def until(self, holds: Callable[[], bool]) -> None:
        """Look again until something holds or patience ends; who calls asserts it, and so tells what is amiss."""
        end = time.monotonic() + PATIENCE_S
        while not holds() and time.monotonic() < end:
            self.page.wait_for_timeout(50)

    @property
    def step(self) -> int:
        """The step that the transport tells."""
        return int(self.get("step").inner_text().split("/")[0].replace(",", ""))

    def at_step(self, step: int) -> None:
        """Wait until the transport tells this step."""
        expect(self.get("step")).to_have_text(re.compile(rf"^{step:,} / "))

    def selected(self, count: int) -> None:
        """Wait until the page counts this many selected rows."""
        expect(self.get("selection-count")).to_have_text(re.compile(rf"^\s*{count:,} of "))

    @property
    def select(self) -> list[list[str]]:
        """The terms of the selection in the address: `[["ub", "place 1", "x", …], …]`."""
        found = re.search(r"[?&]select=([^&]*)", urlsplit(self.page.url).fragment)
        return [[unquote(part) for part in term.split(",")] for term in found[1].split(";")] if found else []

    def settled(self, pattern: str) -> None:
        """Wait until the address says so: it is written a moment after what it tells."""
        self.page.wait_for_url(re.compile(pattern))

    def drag(self, on: Locator, start: tuple[float, float], end: tuple[float, float], *, shift: bool = False) -> None:
        """Press at a pixel of an element, move, let go."""
        box = box_of(on)
        if shift:
            self.page.keyboard.down("Shift")
        self.page.mouse.move(box["x"] + start[0], box["y"] + start[1])
        self.page.mouse.down()
        self.page.mouse.move(box["x"] + (start[0] + end[0]) / 2, box["y"] + (start[1] + end[1]) / 2)
        self.page.mouse.move(box["x"] + end[0], box["y"] + end[1])
        self.page.mouse.up()
        if shift:
            self.page.keyboard.up("Shift")

    def brush_steps(self, testid: str, first: int, last: int, *, of: int) -> None:
        """Drag over a stretch of time, from the middle of one step to the middle of another."""
        on = self.get(testid)
        width = box_of(on)["width"]
        self.drag(on, ((first + 0.5) / of * width, 9), ((last + 0.5) / of * width, 12))

    def condition(self, column: str, *, low: float | None = None, high: float | None = None, join: str = "") -> None:
        """Select by a condition on a column of numbers."""
        self.get("condition").click()
        self.get("condition-column").select_option(column)
        if low is not None:
            self.get("condition-low").fill(str(low))
        if high is not None:
            self.get("condition-high").fill(str(high))
        if join:
            self.get("condition-operator").select_option(join)
        self.get("condition-add").click()

    def drawn(self) -> tuple[int, np.ndarray]:
        """The row that the observation says it shows, and its pixels, [height, width, 3]."""
        told: dict[str, Any] = self.get("observation-canvas").evaluate(TOLD)
        return int(told["row"]), _opaque(_pixels(told))

    def at_row(self, row: int) -> np.ndarray:
        """Wait until the observation shows a row; its pixels."""
        expect(self.get("observation-canvas")).to_have_attribute("data-row", str(row))
        return self.drawn()[1]


def picture_of(image: Locator) -> np.ndarray:
    """The pixels of an image element, [height, width, 3]."""
    return _opaque(_pixels(image.evaluate(READ_PICTURE)))


def canvas_of(canvas: Locator) -> np.ndarray:
    """The pixels of a canvas, [height, width, 4]."""
    return _pixels(canvas.evaluate(TOLD))


def box_of(element: Locator) -> dict[str, float]:
    """Where an element lies on the screen."""
    box = element.bounding_box()
    assert box is not None, "the element is not on the screen"
    return {"x": box["x"], "y": box["y"], "width": box["width"], "height": box["height"]}


def _pixels(told: dict[str, Any]) -> np.ndarray:
    return np.frombuffer(b64decode(told["rgba"]), np.uint8).reshape(told["height"], told["width"], 4)


def _opaque(rgba: np.ndarray) -> np.ndarray:
    assert (rgba[..., 3] == 255).all(), "a picture is opaque"
    return rgba[..., :3]
