"""No process of a test outlives it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support import admin_process

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _no_process_stays() -> Iterator[None]:
    yield
    admin_process.kill_all()
