"""Shared by all tests: Hypothesis's profiles, checks for the real peers' tools, and a guard against connections beyond loopback."""

from __future__ import annotations

import gc
import ipaddress
import os
import socket
import sys
from itertools import count
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.peers import cache as java_cache
from tests.peers.peers import MIDDLE, NEWER, OLD
from tests.support.plugins import groups, process_starts, report

if TYPE_CHECKING:
    from collections.abc import Iterator

# pytester runs pytest for the tests of the plugin; plugins must stand in this file
pytest_plugins = ["pytester", "tests.peers.shared_peers", "tests.support.captures.fixtures"]
pytest.register_assert_rewrite("tests.support.golden")

# Rewriting the assertions of all tests takes 10 s of CPU time: keep them, even if the environment
# asks for no byte code.
sys.dont_write_bytecode = False

# "quick" finds the same examples on every run; HYPOTHESIS_PROFILE=deep searches
# No examples are refused because a busy machine made them slowly.
settings.register_profile(
    "quick",
    max_examples=50,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "deep", max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


FREEZE_EVERY = 500
"""Number of tests after which all objects are frozen again."""

_FINISHED = count(1)


def missing_tools() -> str:
    """Missing tools of the real peers, in one line; empty if nothing is missing.

    Raises:
        UsageError: something is missing in CI, where that is an error of the machine and no reason
            to skip.
    """
    try:
        java_cache.check_tools()
    except java_cache.JavaUnavailableError as missing:
        if os.environ.get("CI") == "true":
            text = f"CI must run the tests with real peers: {missing}"
            raise pytest.UsageError(text) from missing
        return str(missing)
    return ""


def pytest_configure(config: pytest.Config) -> None:
    # Check the tools before worker processes start, which could not report the error.
    for plugin in (groups, process_starts, report):
        config.pluginmanager.register(plugin)
    starts_others = config.getoption("dist", "no") != "no" and not hasattr(config, "workerinput")
    if starts_others and "not java" not in str(config.getoption("markexpr")):
        missing_tools()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # Leave older releases of Java to ``make test-all``, but for ``smoke`` tests; skip what needs Java where it is missing.
    for item in items:
        if item.get_closest_marker("smoke") is None and _older_release(item):
            item.add_marker(pytest.mark.full)
    marked = [item for item in items if item.get_closest_marker("java")]
    missing = missing_tools() if marked else ""
    if missing:
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=missing))


def _older_release(item: pytest.Item) -> bool:
    if "tests/java/" not in item.nodeid and item.get_closest_marker("java") is None:
        return False
    callspec = getattr(item, "callspec", None)
    return callspec is not None and any(release in callspec.id for release in (MIDDLE, NEWER, OLD))


def pytest_collection_finish() -> None:
    # Let the garbage collector skip what stays for the whole run: it would take a third of a second to look at it.
    gc.collect()
    gc.freeze()


def pytest_runtest_logfinish() -> None:
    # Do so again from time to time: pytest keeps the reports of tests, and imported modules stay.
    if next(_FINISHED) % FREEZE_EVERY == 0:
        gc.collect()
        gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def _only_loopback() -> Iterator[None]:
    # Let no test connect to another machine; Java peers are configured for loopback.
    connect = socket.socket.connect

    def checked(self: socket.socket, address: tuple[object, ...] | str | bytes) -> None:
        if isinstance(address, tuple):
            host = str(address[0])
            assert host == "localhost" or ipaddress.ip_address(host).is_loopback, address
        connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", checked)
        yield
