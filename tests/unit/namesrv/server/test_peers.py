"""Connections, notices to brokers, and other name servers; ``test_opening`` and ``test_server`` test what arrives."""

import logging

import pytest
import trio
from trio.testing import memory_stream_pair

from rocketwire.client.net import address_server
from rocketwire.codes import RequestCode
from rocketwire.errors import ClientError
from rocketwire.serving.events import Event, LimitExceeded
from rocketwire.serving.tls.contexts import TlsContexts
from rocketwire.wire.command import RemotingCommand
from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.events import Reason
from rocketwire_namesrv.protocol.handlers import Peer
from rocketwire_namesrv.protocol.session import Session
from rocketwire_namesrv.protocol.state import State
from rocketwire_namesrv.routes.table_digest import TableDigest
from rocketwire_namesrv.server.connection import TaskConnection
from rocketwire_namesrv.server.notifier import Notifier
from rocketwire_namesrv.server.peers import COMPARE_SECONDS, compare_for_ever
from tests.support.fakes.sansio_server import Server


def connection() -> TaskConnection:
    peer = Peer(1, "client:1")
    _, stream = memory_stream_pair()
    return TaskConnection(stream, Session(State(Config()), peer), peer)


async def test_the_first_reason_for_its_end_is_the_one() -> None:
    task = connection()
    task.finish("idle", Reason.IDLE)
    task.close("closed by the peer")

    assert (task.closing, task.reason) == ("idle", Reason.IDLE)
    assert task.scope.cancel_called


async def test_only_a_connection_that_reads_is_cancelled() -> None:
    for is_reading in (False, True):
        task = connection()
        task.reading = is_reading
        task.finish("the server stops")
        assert task.scope.cancel_called == is_reading


COMMAND = RemotingCommand(code=RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE)


def make_notifier(config: Config, events: list[Event]) -> Notifier:
    state = State(config)
    return Notifier(state, TlsContexts(config.tls), lambda added, _peer: events.extend(added))


async def notify(notifier: Notifier, count: int) -> None:
    async with trio.open_nursery() as nursery:
        notifier.tasks = nursery
        notifier.send([("nowhere", COMMAND)] * count)


async def test_without_a_running_server_no_broker_is_notified() -> None:
    make_notifier(Config(), []).send([("127.0.0.1:1", COMMAND)])


async def test_an_address_that_is_none_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    await notify(make_notifier(Config(), []), 1)

    (text,) = caplog.messages
    assert text.startswith("broker nowhere is not notified of the")


async def test_beyond_the_limit_brokers_are_not_told(caplog: pytest.LogCaptureFixture) -> None:
    events: list[Event] = []
    notifier = make_notifier(Config(max_notifications=2), events)
    await notify(notifier, 3)
    await notify(notifier, 1)

    assert len(caplog.records) == 3
    (refusal,) = events
    assert isinstance(refusal, LimitExceeded)
    assert refusal.limit == "rocketwire.maxNotifications"


PEER = "ns2:5558"


class OtherServer:
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
def peer(monkeypatch: pytest.MonkeyPatch) -> OtherServer:
    fake = OtherServer()
    monkeypatch.setattr(address_server, "fetch_text", fake.fetch_text)
    return fake


async def test_differences_are_logged_once_and_their_end_too(
    peer: OtherServer,
    nursery: trio.Nursery,
    autojump_clock: object,
    caplog: pytest.LogCaptureFixture,
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
