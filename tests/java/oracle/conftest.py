"""One oracle for each release that a test asks for, kept for the session."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rocketwire.messages.operations.registry import CLASSES
from tests.peers.oracle import Oracle

Dump = dict[str, Any]


@pytest.fixture(scope="session")
def oracle_of() -> Iterator[Callable[[str], Oracle]]:
    running: dict[str, Oracle] = {}

    def oracle(version: str) -> Oracle:
        if version not in running:
            running[version] = Oracle(version)
        return running[version]

    yield oracle
    for child in running.values():
        child.close()


@pytest.fixture(scope="session")
def dump_of(oracle_of: Callable[[str], Oracle]) -> Callable[[str], Dump]:
    dumps: dict[str, Dump] = {}

    def dump(version: str) -> Dump:
        if version not in dumps:
            dumps[version] = oracle_of(version).find("reflect", also=sorted(CLASSES))
        return dumps[version]

    return dump
