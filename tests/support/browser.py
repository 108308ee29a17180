"""Visits to pages in Chromium without a window, for tests that are skipped where it or Playwright is missing.

Playwright and axe-core are the extra ``browser``. Playwright drives the machine's Chromium, because
the browsers that it downloads itself are in no package registry: ``apt-get install
chromium-headless-shell``, or any other Chromium that the variable ``ROCKETWIRE_CHROMIUM`` names.
"""

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Final

import pytest

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

LIBRARIES: Final = ("playwright.sync_api", "axe_playwright_python.sync_playwright")

DESK: Final = 1280
"""Width of a window on a desk, in pixels."""
PHONE: Final = 400
"""Width of a narrow window, in pixels."""

SERIOUS: Final = ("serious", "critical")
"""Impacts of findings of axe-core that count."""

_WIDTH: Final = "document.documentElement.scrollWidth"


@contextmanager
def open_browser() -> Generator[Any]:
    """Start Chromium; the value opens pages (``playwright.sync_api.Browser``)."""
    for library in LIBRARIES:
        pytest.importorskip(library, reason="the extra browser is missing")
    configured = os.environ.get("ROCKETWIRE_CHROMIUM")
    paths = map(shutil.which, (configured,) if configured else PROGRAMS)
    path = next((path for path in paths if path is not None), None)
    if path is None:
        pytest.skip("no Chromium on the path (apt-get install chromium-headless-shell)")
    with import_module(LIBRARIES[0]).sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


class Visit:
    def __init__(
        self, browser: Any, *, width: int = DESK, height: int = 800, dark: bool = False
    ) -> None:
        #: ``playwright.sync_api.Page``
        self.page = browser.new_page(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        #: errors and warnings on the console, exceptions of scripts, failed requests
        self.complaints: list[str] = []
        self.page.on("console", self._note)
        self.page.on("pageerror", self._note_error)
        self.page.on("requestfailed", self._note_request)
        self._width = width
        self._axe = import_module(LIBRARIES[1]).Axe()

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
        findings = (*self.complaints, *too_wide, *self._violations())
        return [f"{address} at {self._width} px: {text}" for text in findings]

    def _violations(self) -> list[str]:
        violations = self._axe.run(self.page).response["violations"]
        return [
            f"{violation['id']} ({violation['impact']}), {len(violation['nodes'])} times: "
            f"{violation['help']}, {violation['nodes'][0]['html'][:200]}"
            for violation in violations
            if violation["impact"] in SERIOUS
        ]

    def close(self) -> None:
        self.page.close()
