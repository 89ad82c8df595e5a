"""Pages that go from test to test: a new one costs a process each time, an emptied one knows just as little."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, CDPSession, Page

from .workbench import PATIENCE_S, Watch

SIZE = {"width": 1440, "height": 900}
PATIENCE_MS = 1000 * PATIENCE_S
CHANGEABLE = {"viewport", "color_scheme", "reduced_motion"}
"""Settings of a context that a page can change later."""


@dataclass
class PooledPage:
    """A page in a context of its own, and what it complained about."""

    page: Page
    watch: Watch
    session: CDPSession
    usual: bool

    def arrange(self, *, viewport: Any = None, color_scheme: Any = None, reduced_motion: Any = None) -> None:
        """Make it as a new page with these settings would be."""
        self.page.mouse.move(-10, -10)
        self.page.set_viewport_size(viewport or SIZE)
        self.page.emulate_media(color_scheme=color_scheme or "light", reduced_motion=reduced_motion or "reduce")

    def empty(self) -> None:
        """Leave what is shown and forget it: storage, cookies, cache and permissions."""
        self.page.unroute_all(behavior="ignoreErrors")
        self.page.goto("about:blank")
        origin = self.watch.home.rstrip("/")
        self.session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        self.session.send("Network.clearBrowserCache")
        self.page.context.clear_cookies()
        self.page.context.clear_permissions()


@dataclass
class Pages:
    """Lends pages, as many at a time as a test asks for; those with unusual settings are not kept."""

    browser: Browser
    free: list[PooledPage] = field(default_factory=list)
    lent: list[PooledPage] = field(default_factory=list)

    def lend(self, home: str, *, fresh: bool = False, **settings: Any) -> tuple[Page, Watch]:
        """A page that knows nothing yet, and who watches it; a fresh one has a process of its own."""
        usual = not fresh and settings.keys() <= CHANGEABLE
        kept = self.free.pop() if usual and self.free else self._open(settings, usual=usual)
        self.lent.append(kept)
        if usual:
            kept.arrange(**settings)
        kept.watch.begin(home)
        return kept.page, kept.watch

    def take_back(self, *, keep: bool) -> list[Watch]:
        """End the test's visits; after one that went wrong no page is kept."""
        watches = [kept.watch for kept in self.lent]
        for kept in self.lent:
            if keep and kept.usual and not kept.page.is_closed():
                kept.empty()
                self.free.append(kept)
            else:
                kept.page.context.close()
        self.lent = []
        return watches

    def _open(self, settings: dict[str, Any], *, usual: bool) -> PooledPage:
        context = self.browser.new_context(**({"viewport": SIZE, "reduced_motion": "reduce"} | settings))
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        return PooledPage(page, Watch(page), context.new_cdp_session(page), usual)
