"""``fault_proxy``: what each fault does to bytes, seen from both ends of plain sockets."""

import socket
import threading
from collections.abc import Iterator

import pytest
import trio
import trio.testing

from rocketwire_tools.pytest_plugin.faults import Direction, FaultProxy
from rocketwire_tools.pytest_plugin.trio_thread import Backstage, host_and_port


class Ends:
    def __init__(self, proxy: FaultProxy, listener: socket.socket) -> None:
        self.proxy = proxy
        self.client = socket.create_connection(host_and_port(proxy.address), 60)
        self.server, _ = listener.accept()
        self.server.settimeout(10)

    def close(self) -> None:
        self.client.close()
        self.server.close()


def exactly(stream: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count and (piece := stream.recv(count - len(data))):
        data += piece
    return data


@pytest.fixture
def backstage() -> Iterator[Backstage]:
    with Backstage() as backstage:
        yield backstage


@pytest.fixture
def ends(backstage: Backstage) -> Iterator[Ends]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with FaultProxy(backstage, f"127.0.0.1:{port}") as proxy:
            ends = Ends(proxy, listener)
            yield ends
            ends.close()


def test_bytes_and_ends_are_passed_on_unchanged(ends: Ends) -> None:
    ends.client.sendall(b"question")
    ends.client.shutdown(socket.SHUT_WR)
    assert b"question" == exactly(ends.server, 100)

    ends.server.sendall(b"answer")
    ends.server.close()
    assert b"answer" == exactly(ends.client, 100)
    assert (8, 6) == (ends.proxy.to_server.passed, ends.proxy.to_client.passed)
    assert 1 == ends.proxy.accepted


def test_chosen_bytes_are_corrupted_and_no_others(ends: Ends) -> None:
    ends.client.sendall(b"1234")
    assert b"1234" == exactly(ends.server, 4)

    ends.proxy.to_server.corrupt(1, mask=0x01)
    ends.proxy.to_server.corrupt(6)
    ends.client.sendall(b"AAAA")
    ends.client.sendall(b"AAAA")

    assert b"A@AAAA\xbeA" == exactly(ends.server, 8)


def test_a_healed_direction_corrupts_no_byte_that_comes_later(ends: Ends) -> None:
    ends.proxy.to_server.corrupt(2)
    ends.proxy.heal()

    ends.client.sendall(b"1234")

    assert b"1234" == exactly(ends.server, 4)


def test_a_stall_holds_back_until_it_is_resumed(ends: Ends) -> None:
    ends.proxy.to_client.stall()
    ends.server.sendall(b"late")
    ends.client.settimeout(0.05)
    with pytest.raises(TimeoutError):
        ends.client.recv(1)

    ends.client.settimeout(10)
    ends.proxy.to_client.resume()

    assert b"late" == exactly(ends.client, 4)


async def pieces_of(direction: Direction, data: bytes) -> tuple[list[bytes], bool]:
    source, feeder = trio.testing.memory_stream_pair()
    sink, _ = trio.testing.memory_stream_pair()
    pieces: list[bytes] = []

    async def note() -> None:
        pieces.append(bytes(sink.send_stream.get_data_nowait()))
        await trio.lowlevel.checkpoint()

    sink.send_stream.send_all_hook = note
    await feeder.send_all(data)
    await feeder.send_eof()
    return pieces, await direction.carry(source, sink)


async def test_slices_are_passed_on_one_by_one_each_with_its_delay(
    backstage: Backstage, autojump_clock: trio.testing.MockClock
) -> None:
    direction = Direction(backstage)
    direction.slice_size = 3
    direction.delay = 5.0
    start = trio.current_time()

    assert ([b"012", b"345", b"678", b"9"], False) == await pieces_of(direction, b"0123456789")
    assert 20.0 == trio.current_time() - start


async def test_no_more_than_the_bytes_before_a_reset_are_passed_on(backstage: Backstage) -> None:
    direction = Direction(backstage)
    direction.reset_after(5)

    assert ([b"01234"], True) == await pieces_of(direction, b"0123456789")
    assert ([b"next"], False) == await pieces_of(direction, b"next")


def test_a_connection_is_reset_after_so_many_bytes(ends: Ends) -> None:
    ends.proxy.to_server.reset_after(5)
    ends.client.sendall(b"0123456789")

    with pytest.raises(ConnectionResetError):
        ends.client.recv(1)


def test_all_connections_are_reset_at_once(ends: Ends) -> None:
    ends.client.sendall(b"x")
    assert b"x" == exactly(ends.server, 1)
    assert 1 == ends.proxy.open_connections

    ends.proxy.reset()

    for end in (ends.client, ends.server):
        with pytest.raises(ConnectionResetError):
            end.recv(1)


def test_new_connections_are_refused_until_it_is_healed(ends: Ends) -> None:
    ends.proxy.refusing = True
    with (
        pytest.raises(ConnectionResetError),  # while it connects, or when it reads
        socket.create_connection(host_and_port(ends.proxy.address), 60) as refused,
    ):
        refused.recv(1)

    ends.proxy.to_server.stall()
    ends.client.sendall(b"still here")
    ends.proxy.heal()

    assert b"still here" == exactly(ends.server, 10)
    assert not ends.proxy.refusing


def test_without_a_server_connections_are_reset(backstage: Backstage) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with (
        FaultProxy(backstage, f"127.0.0.1:{port}") as proxy,
        pytest.raises(ConnectionResetError),
        socket.create_connection(host_and_port(proxy.address), 60) as client,
    ):
        client.recv(1)


def test_an_address_without_a_host_is_refused(backstage: Backstage) -> None:
    with pytest.raises(ValueError, match="not host:port: '9876'"):
        FaultProxy(backstage, "9876")


def test_the_thread_ends_with_the_block_and_gives_errors_back() -> None:
    def fail() -> None:
        raise LookupError("seen")

    with Backstage() as backstage:
        with pytest.raises(LookupError, match="seen"):
            backstage.do(fail)
        assert "rocketwire backstage" in [thread.name for thread in threading.enumerate()]

    assert "rocketwire backstage" not in [thread.name for thread in threading.enumerate()]
