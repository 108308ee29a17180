"""The comparison with other name servers: requests, log lines and results."""

import logging

import pytest
import trio

from rocketwire.client.net import address_server
from rocketwire.errors import ClientError
from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.routes.table_digest import TableDigest
from rocketwire_namesrv.server.peers import COMPARE_SECONDS, compare_for_ever
from tests.support.fakes.sansio_server import Server

PEER = "ns2:5558"


class Peer:
    def __init__(self) -> None:
        self.digest: TableDigest | None = None  #: its answer; None if it does not answer
        self.urls: list[str] = []  #: of all requests to it

    async def fetch_text(self, url: str, *, within: float, limit: int) -> str:
        self.urls.append(url)
        await trio.lowlevel.checkpoint()
        if self.digest is None:
            raise ClientError("no response")
        return self.digest.document().decode()


@pytest.fixture
def peer(monkeypatch: pytest.MonkeyPatch) -> Peer:
    fake = Peer()
    monkeypatch.setattr(address_server, "fetch_text", fake.fetch_text)
    return fake


async def test_differences_are_logged_once_and_their_end_too(
    peer: Peer, nursery: trio.Nursery, autojump_clock: object, caplog: pytest.LogCaptureFixture
) -> None:
    server = Server(Config(peers=f"{PEER}, {PEER}"))
    with caplog.at_level(logging.INFO):
        nursery.start_soon(compare_for_ever, server)
        await trio.sleep(1)
        peer.digest = server.state.peers.digest
        await trio.sleep(COMPARE_SECONDS)
        server.register()
        await trio.sleep(3 * COMPARE_SECONDS)
        peer.digest = server.state.peers.digest
        await trio.sleep(COMPARE_SECONDS)

    assert set(peer.urls) == {f"http://{PEER}/table-digest"}
    lines = [record.getMessage() for record in caplog.records]
    assert [line.partition(" 1 broker")[0] for line in lines] == [
        f"name server {PEER} cannot be compared: no response",
        f"name server {PEER} has the same table again",
        f"name server {PEER} has another table:",
        f"name server {PEER} has the same table again",
    ]
    assert len(peer.urls) == 6


async def test_without_peers_nothing_is_compared(server: Server) -> None:
    await compare_for_ever(server)

    assert server.state.peers.digest is None
