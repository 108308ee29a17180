"""Frames leave the broker when their effects are on the disk and at the name servers."""

import socket
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import ExitStack

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.wire.command import CommandDecoder, RemotingCommand, encode
from rocketwire_broker.config import Config
from rocketwire_broker.server.delivery import ALONE, PAUSE, Batching
from rocketwire_broker.server.programs import open_broker
from rocketwire_broker.server.server import BrokerServer
from rocketwire_broker.state.broker import Broker
from rocketwire_broker.tables.topics import new_topic
from tests.support.virtual_disk import VirtualDisk

TIMEOUT = 20.0


class HeldSyncs:
    """Makes each ``fsync`` wait until the test releases it."""

    def __init__(self, disk: VirtualDisk) -> None:
        self._started, self._released = threading.Event(), threading.Event()
        self.release = self._released.set  #: end the wait of this sync and of all later ones
        disk.on_sync = self._hold

    def _hold(self) -> None:
        self._started.set()
        assert self._released.wait(TIMEOUT)

    async def wait_for_start(self) -> None:
        assert await trio.to_thread.run_sync(self._started.wait, TIMEOUT)


class Peer:
    def __init__(self, server: BrokerServer) -> None:
        self._server = server
        address = ("127.0.0.1", server.broker.config.listen_port)
        self.socket = socket.create_connection(address)
        self._decoder = CommandDecoder()

    def send(self, body: bytes, *topics: str) -> None:
        data = b""
        for topic in topics or ("orders",):
            values = (topic, "TBW102", "4", "0", "0", "0", "0", "")
            fields = dict(zip("bcdefghi", values, strict=True))
            command = RemotingCommand(
                code=Code.SEND_MESSAGE_V2, opaque=1, ext_fields=fields, body=body
            )
            data += encode(command)
        self.socket.sendall(data)

    def ask(self) -> None:
        self.socket.sendall(encode(RemotingCommand(code=Code.GET_BROKER_CONFIG, opaque=3)))

    def pull(self, offset: int) -> None:
        fields = {"consumerGroup": "readers", "topic": "orders", "queueId": "0", "sysFlag": "6"}
        fields |= {"queueOffset": str(offset), "maxMsgNums": "1", "suspendTimeoutMillis": "60000"}
        command = RemotingCommand(code=Code.PULL_MESSAGE, opaque=2, ext_fields=fields)
        self.socket.sendall(encode(command))

    async def answer(self) -> RemotingCommand:
        with trio.fail_after(TIMEOUT):
            while (command := self._decoder.next_command()) is None:
                await trio.lowlevel.wait_readable(self.socket)
                data = self.socket.recv(4096)
                if not data:
                    raise EOFError
                self._decoder.feed(data)
        return command

    def has_answer(self) -> bool:
        try:
            return bool(self.socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
        except BlockingIOError:
            return False


@pytest.fixture
async def server(disk: VirtualDisk) -> AsyncGenerator[BrokerServer]:
    config = Config(
        listen_port=0,
        flush_disk_type="SYNC_FLUSH",
        store_path=str(disk.root),
        log_file_size=1 << 20,
    )
    async with open_broker(config) as server:
        server.broker.topics.put(new_topic("orders", 4), 0)
        server.broker.topics.changed.clear()
        yield server


@pytest.fixture
def syncs(disk: VirtualDisk, server: BrokerServer) -> Iterator[HeldSyncs]:
    syncs = HeldSyncs(disk)
    yield syncs
    syncs.release()


@pytest.fixture
async def peers(server: BrokerServer) -> AsyncGenerator[list[Peer]]:
    with ExitStack() as opened:
        peers = [Peer(server) for _ in range(3)]
        for peer in peers:
            opened.enter_context(peer.socket)
        with trio.fail_after(TIMEOUT):
            while len(server.broker.peers) < 3:
                await trio.lowlevel.checkpoint()
        yield peers


async def test_a_send_is_acknowledged_after_its_sync(peers: list[Peer], syncs: HeldSyncs) -> None:
    peers[0].send(b"paid")
    await syncs.wait_for_start()
    await wait_all_tasks_blocked()
    assert not peers[0].has_answer()

    syncs.release()

    assert (await peers[0].answer()).code == 0


async def test_the_end_of_another_connection_sends_nothing_early(
    peers: list[Peer], syncs: HeldSyncs
) -> None:
    peers[0].send(b"paid")
    peers[1].socket.close()
    await syncs.wait_for_start()
    await wait_all_tasks_blocked()
    assert not peers[0].has_answer()

    syncs.release()

    assert (await peers[0].answer()).code == 0


async def test_one_sync_serves_all(peers: list[Peer], syncs: HeldSyncs, disk: VirtualDisk) -> None:
    peers[0].send(b"1")
    await syncs.wait_for_start()
    for peer in peers[1:]:
        peer.send(b"2")
    await wait_all_tasks_blocked()
    disk.calls.clear()
    syncs.release()

    for peer in peers:
        await peer.answer()

    assert disk.calls.count("fsync") <= 3  # two of the first sync: the file and its folder


async def test_sends_are_refused_after_a_sync_that_failed(
    peers: list[Peer], disk: VirtualDisk, caplog: pytest.LogCaptureFixture
) -> None:
    disk.failing_syncs = 1
    peers[0].send(b"lost")
    with pytest.raises(EOFError):
        await peers[0].answer()

    peers[1].send(b"refused")
    refused = await peers[1].answer()

    assert refused.code == ResponseCode.SERVICE_NOT_AVAILABLE
    assert "a sync failed, restart the broker: Input/output error" in (refused.remark or "")
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == [
        f"{disk.root}: messages are refused from now on, "
        "a sync failed, restart the broker: Input/output error"
    ]


async def test_frames_of_others_survive_the_end_of_a_connection(
    server: BrokerServer, peers: list[Peer]
) -> None:
    announcing, may_go_on = trio.Event(), trio.Event()

    async def announce(broker: Broker) -> None:
        broker.topics.changed.clear()
        announcing.set()
        await may_go_on.wait()

    server.announce = announce
    sender, reader, neighbour = peers
    reader.send(b"first")
    await reader.answer()
    reader.pull(1)
    await wait_all_tasks_blocked()
    sender.send(b"wakes the reader", "new", "orders")
    await announcing.wait()
    first_connection = min(server.broker.peers)
    server.broker.closing[first_connection] = "a test asks for it"
    for _ in range(2):
        neighbour.ask()
        await neighbour.answer()
    may_go_on.set()

    assert b"wakes the reader" in ((await reader.answer()).body or b"")


async def count_answering(batching: Batching, tasks: int) -> int:
    answers: list[bool] = []

    async def ask() -> None:
        answers.append(await batching.is_last())

    async with trio.open_nursery() as nursery:
        for _ in range(tasks):
            nursery.start_soon(ask)
    return sum(answers)


async def test_one_of_several_answers_for_all() -> None:
    assert await count_answering(Batching(), 5) == 1


async def test_a_connection_alone_answers_for_itself() -> None:
    batching = Batching()

    assert [await batching.is_last() for _ in range(3)] == [True] * 3


async def test_after_a_pause_connections_are_answered_together_again() -> None:
    batching = Batching()
    for _ in range(ALONE):
        await count_answering(batching, 1)

    assert await count_answering(batching, PAUSE) == PAUSE
    assert await count_answering(batching, 4) == 1


async def test_connections_that_come_together_never_pause() -> None:
    batching = Batching()
    for _ in range(PAUSE):
        await count_answering(batching, ALONE - 1)
        assert await count_answering(batching, 3) == 1
