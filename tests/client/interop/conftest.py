"""What operators type, ours and Java's, for the tests of this folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.client.interop.commands import Ours

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.javacluster import JavaCluster
    from tests.support.javapeers import JavaPeer


@pytest.fixture
def ours(java_cluster: JavaCluster, capsys: pytest.CaptureFixture[str]) -> Ours:
    """``rocketwire-admin`` in this process."""
    return Ours(java_cluster.address, capsys)


@pytest.fixture
def mqadmin(java_cluster: JavaCluster, java_peer: JavaPeer) -> Callable[[str], str]:
    """What Java's mqadmin prints of a command."""
    return lambda line: java_peer.admin(java_cluster.address, line).out
