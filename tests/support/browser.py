"""Chromium without a window, for tests of pages; they are skipped where it or Playwright is missing.

Playwright is the extra ``browser``. It drives the machine's Chromium, because browsers that it
downloads itself are in no package registry: ``apt-get install chromium-headless-shell``, or any
other Chromium that the variable ``ROCKETWIRE_CHROMIUM`` names.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

PROGRAMS: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
"""Nothing but the pages is asked for, and the user may be root."""

PHONE: Final = 400
"""Width of a narrow window, in pixels."""

SERIOUS: Final = ("serious", "critical")
"""Impacts of findings of axe-core that fail a test."""

_WIDTH: Final = "document.documentElement.scrollWidth"


def chromium() -> str:
    """Return the path of Chromium; skip the test without one."""
    configured = os.environ.get("ROCKETWIRE_CHROMIUM")
    for program in (configured,) if configured else PROGRAMS:
        path = shutil.which(program)
        if path is not None:
            return path
    pytest.skip("no Chromium on the path (apt-get install chromium-headless-shell)")


@contextmanager
def opened() -> Generator[Any]:
    """Start Chromium; the value opens pages (``playwright.sync_api.Browser``)."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="the extra browser is missing")
    path = chromium()
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


class Visit:
    """A visit to pages, in light or dark colours and a window of some width.

    Args:
        browser: from ``opened``.
        width: of the window, in pixels.
        dark: whether the user prefers dark colours.

    Attributes:
        page: ``playwright.sync_api.Page``.
        complaints: errors and warnings on the console, exceptions of scripts, failed requests.
    """

    def __init__(self, browser: Any, *, width: int = 1280, dark: bool = False) -> None:
        self.page = browser.new_page(
            viewport={"width": width, "height": 800}, color_scheme="dark" if dark else "light"
        )
        self.complaints: list[str] = []
        self.page.on("console", self._note)
        self.page.on("pageerror", self._note_error)
        self.page.on("requestfailed", self._note_request)
        self._width = width

    def _note(self, message: Any) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)

    def _note_error(self, error: Any) -> None:
        self.complaints.append(str(error))

    def _note_request(self, request: Any) -> None:
        self.complaints.append(f"{request.url}: {request.failure}")

    def findings(self, address: str) -> list[str]:
        """Go to a page; return what is wrong with it: complaints, its width, and axe-core's."""
        self.complaints.clear()
        self.page.goto(address)
        width = int(self.page.evaluate(_WIDTH))
        too_wide = [f"{width} pixels wide"] if width > self._width else []
        return [f"{address}: {text}" for text in (*self.complaints, *too_wide, *self._axe())]

    def _axe(self) -> list[str]:
        module = pytest.importorskip("axe_playwright_python.sync_playwright")
        violations = module.Axe().run(self.page).response["violations"]
        return [
            f"{violation['id']} ({violation['impact']}): {violation['help']}, "
            f"{violation['nodes'][0]['html'][:200]}"
            for violation in violations
            if violation["impact"] in SERIOUS
        ]
