"""No process of a test outlives it."""

from collections.abc import Iterator

import pytest

from tests.support import admin_process


@pytest.fixture(autouse=True)
def _no_process_stays() -> Iterator[None]:
    yield
    admin_process.kill_all()
