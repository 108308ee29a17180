"""Chromium for tests of pages, which are skipped where it or the extra ``browser`` is missing."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from publishing.browser import visits

if TYPE_CHECKING:
    from collections.abc import Generator


@contextmanager
def opened() -> Generator[Any]:
    """Start Chromium; the value is the ``browser`` of ``publishing.browser.visits.Visit``."""
    for library in visits.LIBRARIES:
        pytest.importorskip(library, reason="the extra browser is missing")
    path = visits.chromium()
    if path is None:
        pytest.skip("no Chromium on the path (apt-get install chromium-headless-shell)")
    with visits.opened(path) as browser:
        yield browser
