"""Runs each transport test with the fast path and without it."""

from pathlib import Path

import pytest

from rocketwire.transport.fastpath import direct_requests


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Add both states of the fast path to the tests of this folder that do not set it."""
    marks = metafunc.definition.iter_markers("parametrize")
    is_set = any(mark.args[0] == "fast_path" for mark in marks)
    if metafunc.definition.path.parent == Path(__file__).parent and not is_set:
        metafunc.parametrize("fast_path", ["on", "off"], indirect=True)


@pytest.fixture(autouse=True)
def fast_path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn the fast path on, or off if the test's parameter is ``off``."""
    monkeypatch.setattr(direct_requests, "is_on", getattr(request, "param", "on") == "on")
