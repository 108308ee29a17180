"""A client at Java's cluster, and Java's command line."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TypeAlias

import pytest
import trio

from rocketwire.client import ClientInstance, open_client
from tests.peers.client_settings import patient
from tests.peers.cluster import JavaCluster
from tests.peers.peers import JavaPeer

Mqadmin: TypeAlias = Callable[[str], Awaitable[str]]
"""Runs a line of mqadmin and returns what it prints."""


@pytest.fixture
async def client(java_cluster: JavaCluster) -> AsyncGenerator[ClientInstance]:
    async with open_client(patient(namesrv_addr=java_cluster.address)) as opened:
        yield opened


@pytest.fixture
def mqadmin(java_cluster: JavaCluster, java_peer: JavaPeer) -> Mqadmin:
    async def run(line: str) -> str:
        output = await trio.to_thread.run_sync(java_peer.admin, java_cluster.address, line)
        return output.out + output.err

    return run
