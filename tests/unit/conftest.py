"""Coverage is demanded of the library and of the name server's pure rooms: their tests have the marker ``covered``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

HERE: Final = Path(__file__).parent

ROOMS: Final = [
    HERE / room
    for room in ("connection", "messages", "namesrv", "policy", "store", "transport", "wire")
]

LEFT_OUT: Final = ("java", "process", "slow")
"""Markers of tests that are not needed for it; the tracer makes the slow ones two to five times slower."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests before tests are chosen by their markers."""
    rooms = set(ROOMS)
    for item in items:
        if not rooms.isdisjoint(item.path.parents) and not any(
            map(item.get_closest_marker, LEFT_OUT)
        ):
            item.add_marker(pytest.mark.covered)
