"""What all tests share: how hard Hypothesis tries, what the real peers need, and that no test reaches beyond loopback."""

from __future__ import annotations

import ipaddress
import os
import socket
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.support import javacache

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest_plugins = ["pytester"]  # runs pytest for the tests of the plugin; must stand in this file
pytest.register_assert_rewrite("tests.support.golden")

# "quick" finds the same examples on every run; HYPOTHESIS_PROFILE=deep searches
settings.register_profile("quick", max_examples=50, derandomize=True, deadline=None)
settings.register_profile(
    "deep", max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs Java where it is missing; in CI that is an error of the machine, not a reason to skip."""
    marked = [item for item in items if item.get_closest_marker("java")]
    if not marked:
        return
    try:
        javacache.check_tools()
    except javacache.JavaUnavailableError as missing:
        if os.environ.get("CI") == "true":
            raise pytest.UsageError(
                f"CI must run the tests with real peers: {missing}"
            ) from missing
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=str(missing)))


@pytest.fixture(autouse=True, scope="session")
def _only_loopback() -> Iterator[None]:
    """Let no test connect to anything but this machine; the Java peers are told loopback by their configuration."""
    connect = socket.socket.connect

    def checked(self: socket.socket, address: tuple[object, ...] | str | bytes) -> None:
        if isinstance(address, tuple):
            host = str(address[0])
            assert host == "localhost" or ipaddress.ip_address(host).is_loopback, address
        connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", checked)
        yield
