"""Both command lines, ours and Java's, and the calls of operators, for the tests of this folder."""

from collections.abc import AsyncGenerator, Iterator

import pytest

from rocketwire.client.admin import Admin, open_admin
from tests.java.admin.commands import Mqadmin, Ours
from tests.peers.client_settings import PATIENCE, patient
from tests.peers.cluster import JavaCluster
from tests.peers.peers import JavaPeer
from tests.support import admin_process


@pytest.fixture
def ours(java_cluster: JavaCluster, capsys: pytest.CaptureFixture[str]) -> Ours:
    return Ours(java_cluster, capsys)


@pytest.fixture
def mqadmin(java_cluster: JavaCluster, java_peer: JavaPeer) -> Mqadmin:
    return lambda line: java_peer.admin(java_cluster.address, line).out


@pytest.fixture
async def admin(java_cluster: JavaCluster) -> AsyncGenerator[Admin]:
    async with open_admin(patient(namesrv_addr=java_cluster.address), within=PATIENCE) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _no_process_stays() -> Iterator[None]:
    yield
    admin_process.kill_all()
