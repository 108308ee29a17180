"""``StreamReader`` over real sockets: reads by the reader task, and direct reads of a sole request."""

import os
import platform
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from rocketwire import errors
from rocketwire.transport.channel import Channel
from rocketwire.transport.peer_requests import Handler
from rocketwire.transport.reader import StreamReader
from rocketwire.wire.command import RemotingCommand
from tests.support.tcp_pair import pair
from tests.unit.transport.loopback import SEQUENTIAL, encode_answer, open_sequential_channel
from tests.unit.transport.test_channel import Peer


async def test_a_readable_socket_may_have_no_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    read = os.read

    def read_late(descriptor: int, size: int) -> bytes:
        calls.append(size)
        if len(calls) == 1:
            raise BlockingIOError
        return read(descriptor, size)

    with pair() as (stream, there):
        async with stream:
            monkeypatch.setattr("rocketwire.transport.reader.os.read", read_late)
            there.sendall(b"bytes")

            assert await StreamReader(stream).receive() == b"bytes"


async def test_a_connection_that_is_reset_is_broken() -> None:
    with pair() as (stream, there):
        async with stream:
            there.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, (1).to_bytes(4, "little") + bytes(4)
            )
            there.close()
            with pytest.raises(trio.BrokenResourceError):
                await StreamReader(stream).receive()


async def test_missing_bytes_come_in_one_piece_and_an_earlier_end_is_seen() -> None:
    async def late() -> None:
        await wait_all_tasks_blocked()
        for _ in range(4):
            there.sendall(bytes(2000))
            await wait_all_tasks_blocked(0.01)

    with pair() as (stream, there):
        async with stream, trio.open_nursery() as nursery:
            inlet = StreamReader(stream)
            nursery.start_soon(late)
            assert await inlet.receive(8000) == bytes(8000)
            there.sendall(b"a")
            assert await inlet.receive(4) == b"a"
            there.sendall(b"b")
            there.shutdown(socket.SHUT_WR)
            assert await inlet.receive(8000) == b"b"
            assert await inlet.receive(7999) == b""


async def test_nothing_is_read_after_the_close(monkeypatch: pytest.MonkeyPatch) -> None:
    async def over_meanwhile(descriptor: int) -> None:
        inlet.close()

    monkeypatch.setattr("trio.lowlevel.wait_readable", over_meanwhile)
    with pair() as (stream, there):
        async with stream:
            inlet = StreamReader(stream)
            there.sendall(b"late")
            with pytest.raises(trio.ClosedResourceError, match="the channel was closed"):
                await inlet.receive()


IS_READY = "rocketwire.transport.fastpath.epoll_bypass.EpollBypass.is_ready"


def always(_: object) -> bool:
    return True


@pytest.mark.parametrize("fast_path", ["on"], indirect=True)
async def test_a_sole_request_reads_its_response(monkeypatch: pytest.MonkeyPatch) -> None:
    async def turn(descriptor: int) -> None:
        raise AssertionError(descriptor)

    async with open_sequential_channel() as (channel, there):
        with monkeypatch.context() as context:
            context.setattr("trio.lowlevel.wait_readable", turn)
            context.setattr(IS_READY, always)
            there.sendall(encode_answer(8))

            assert (await channel.request(RemotingCommand(code=1))).code == 108
        assert channel.in_flight == 0


@pytest.mark.parametrize("cut", [1, 8, 60])
async def test_parts_of_a_response_are_read(monkeypatch: pytest.MonkeyPatch, cut: int) -> None:
    monkeypatch.setattr(IS_READY, always)
    data = encode_answer(3) + encode_answer(8) + encode_answer(9)

    async def later() -> None:
        await wait_all_tasks_blocked()
        there.sendall(data[-cut:])

    async with open_sequential_channel() as (channel, there), trio.open_nursery() as nursery:
        there.sendall(data[:-cut])
        nursery.start_soon(later)
        assert (await channel.request(RemotingCommand(code=1))).code == 108
        assert (await channel.request(RemotingCommand(code=1))).code == 109
        assert channel.in_flight == 0


async def test_a_direct_read_waits_and_notices_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IS_READY, always)

    async with open_sequential_channel() as (channel, there):
        nothing_there = trio.move_on_after(0.01)
        with nothing_there:
            await channel.request(RemotingCommand(code=1))
        assert nothing_there.cancelled_caught
        assert channel.in_flight == 0
        there.shutdown(socket.SHUT_WR)
        with pytest.raises(errors.ChannelBrokenError, match="the peer closed the connection"):
            await channel.request(RemotingCommand(code=2))


@pytest.mark.parametrize("fast_path", ["on"], indirect=True)
async def test_a_keyboard_interrupt_forgets_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: object) -> bool:
        raise KeyboardInterrupt

    async with open_sequential_channel() as (channel, there):
        with monkeypatch.context() as context:
            context.setattr(IS_READY, interrupt)
            with pytest.raises(KeyboardInterrupt):
                await channel.request(RemotingCommand(code=1))
        assert channel.in_flight == 0
        there.sendall(encode_answer(8) + encode_answer(9))

        assert (await channel.request(RemotingCommand(code=2))).code == 109


async def test_direct_reads_need_a_bypass(monkeypatch: pytest.MonkeyPatch) -> None:
    with pair() as (stream, there):
        async with stream:
            inlet = StreamReader(stream)
            there.sendall(bytes(8000))
            assert await inlet.receive(8000) == bytes(8000)
            assert inlet.receive_directly() is None
            monkeypatch.setattr(
                "rocketwire.transport.fastpath.direct_requests.bypass_for", lambda _: None
            )
            assert StreamReader(stream).receive_directly() is None


@asynccontextmanager
async def open_sequential_pair(
    handler: Handler | None = None,
) -> AsyncGenerator[tuple[Channel, Peer]]:
    """A channel after enough sequential requests for direct reads, and its other end."""
    async with open_sequential_channel(handler) as (channel, there):
        peer = Peer.of_socket(there)
        for _ in range(SEQUENTIAL):
            await peer.next()
        yield channel, peer


async def exchange(channel: Channel, peer: Peer, code: int) -> int:
    """The code of the response to a request that is the only one."""

    async def answer() -> None:
        await peer.answer(await peer.next())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(answer)
        return (await channel.request(RemotingCommand(code=code))).code


async def test_requests_of_the_peer_are_answered_amid_sequential_requests() -> None:
    async def handler(request: RemotingCommand) -> RemotingCommand:
        return RemotingCommand(code=7)

    async with open_sequential_pair(handler) as (channel, peer):
        await peer.send(RemotingCommand(code=40, opaque=3))
        with trio.fail_after(5):
            assert (await peer.next()).code == 7
        assert await exchange(channel, peer, 5) == 105


async def test_an_end_is_seen_without_a_pending_request() -> None:
    async with open_sequential_pair() as (channel, peer):
        await peer.stream.aclose()
        await channel.wait_closed()
        with pytest.raises(errors.ChannelBrokenError, match="the peer closed the connection"):
            await channel.request(RemotingCommand(code=1))


async def test_a_direct_read_ends_at_its_deadline_and_late_responses_are_dropped() -> None:
    async with open_sequential_pair() as (channel, peer):
        with pytest.raises(errors.RequestTimeoutError):
            await channel.request(RemotingCommand(code=1), deadline=trio.current_time() + 0.01)
        assert channel.in_flight == 0
        await peer.answer(await peer.next())
        assert await exchange(channel, peer, 2) == 102


async def test_a_cancelled_direct_read_forgets_its_request() -> None:
    async with open_sequential_pair() as (channel, peer):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(channel.request, RemotingCommand(code=1))
            first = await peer.next()
            nursery.cancel_scope.cancel()
        assert channel.in_flight == 0
        await peer.answer(first)

        assert await exchange(channel, peer, 2) == 102


async def test_later_requests_are_read_by_the_reader_task_after_a_direct_read() -> None:
    codes: list[int] = []
    answered = {code: trio.Event() for code in (1, 2, 3, 4)}

    async with open_sequential_pair() as (channel, peer), trio.open_nursery() as nursery:

        async def ask(code: int) -> None:
            codes.append((await channel.request(RemotingCommand(code=code))).code)
            answered[code].set()

        async def begin(code: int) -> RemotingCommand:
            nursery.start_soon(ask, code)
            return await peer.next()

        first, second, third, fourth = [await begin(code) for code in answered]
        for request in (third, first, fourth, second):
            await peer.answer(request)
            await answered[request.code].wait()

    assert codes == [103, 101, 104, 102]


@pytest.mark.parametrize("by_peer", [False, True])
async def test_the_end_fails_the_direct_read_and_the_waiting_request(by_peer: bool) -> None:
    failures: list[type[errors.ChannelError]] = []

    async with open_sequential_pair() as (channel, peer), trio.open_nursery() as nursery:

        async def ask(code: int) -> None:
            with pytest.raises(errors.ChannelError) as caught:
                await channel.request(RemotingCommand(code=code))
            failures.append(type(caught.value))

        for code in (1, 2):
            nursery.start_soon(ask, code)
            await peer.next()
        await (peer.stream.aclose() if by_peer else channel.aclose())

    assert failures == [errors.ChannelBrokenError if by_peer else errors.ChannelClosedError] * 2


_READS = """
import os, resource, socket
import rocketwire.transport.reader as inlet

here, there = socket.socketpair()
there.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
piece = bytes(131_072)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(100):
    there.sendall(piece)
    os.read(here.fileno(), inlet._READ_SIZE)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.process
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="others keep what is freed, or not")
def test_memory_of_reads_is_reused_and_not_mapped_for_each_read() -> None:
    process = subprocess.run(
        [sys.executable, "-c", _READS], check=True, capture_output=True, text=True, timeout=60
    )
    assert int(process.stdout) < 1000  # 32 pages for each of a hundred reads otherwise
