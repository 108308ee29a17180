"""Both command lines, ours and Java's, for the tests of this folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.java.admin.commands import Ours
from tests.support import admin_process

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.peers.cluster import JavaCluster
    from tests.peers.peers import JavaPeer


@pytest.fixture
def ours(java_cluster: JavaCluster, capsys: pytest.CaptureFixture[str]) -> Ours:
    """``rocketwire-admin`` in this process."""
    return Ours(java_cluster.address, capsys)


@pytest.fixture
def mqadmin(java_cluster: JavaCluster, java_peer: JavaPeer) -> Callable[[str], str]:
    """Return the output of Java's mqadmin for a command."""
    return lambda line: java_peer.admin(java_cluster.address, line).out


@pytest.fixture(autouse=True)
def _no_process_stays() -> Iterator[None]:
    yield
    admin_process.kill_all()
