"""``StreamReader`` over real sockets: what comes in, and who waits for it."""

from __future__ import annotations

import os
import platform
import select
import socket
import subprocess
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
import trio
import trio.testing

from rocketwire.errors import (
    ChannelBrokenError,
    ChannelClosedError,
    ChannelError,
    RequestTimeoutError,
)
from rocketwire.transport.channel import Channel, open_channel_over
from rocketwire.transport.reader import StreamReader
from rocketwire.wire.command import CommandDecoder, RemotingCommand, encode
from tests.support.tcp_pair import pair

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rocketwire.transport.peer_requests import Handler


async def test_a_socket_that_is_readable_without_bytes_is_waited_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = list[int]()
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


async def test_what_is_missing_comes_in_one_piece_and_an_end_before_it_is_seen() -> None:
    async def late() -> None:
        await trio.testing.wait_all_tasks_blocked()
        for _ in range(4):
            there.sendall(bytes(2000))
            await trio.testing.wait_all_tasks_blocked(0.01)

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


async def test_nothing_is_read_once_the_connection_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    async def over_meanwhile(descriptor: int) -> None:
        inlet.close()

    monkeypatch.setattr("trio.lowlevel.wait_readable", over_meanwhile)
    with pair() as (stream, there):
        async with stream:
            inlet = StreamReader(stream)
            there.sendall(b"late")
            with pytest.raises(trio.ClosedResourceError, match="the channel was closed"):
                await inlet.receive()


@asynccontextmanager
async def next_to_a_thread() -> AsyncGenerator[tuple[Channel, socket.socket]]:
    """A channel that reads its own answers, the other end left to whoever is no task."""
    with pair() as (stream, there):
        async with open_channel_over(stream, peer="peer", idle_timeout=None) as channel:
            for code in range(8):
                there.sendall(answer_to(code))
                assert (await channel.request(RemotingCommand(code=code))).code == code + 100
            yield channel, there


def answer_to(opaque: int) -> bytes:
    return encode(RemotingCommand(code=opaque + 100, opaque=opaque, flag=1))


def always(_: object) -> bool:
    return True


def never(_: int) -> None:
    return None


@pytest.mark.parametrize("fast_path", ["on"], indirect=True)
async def test_who_is_alone_reads_his_answer_without_a_turn_of_the_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def turn(descriptor: int) -> None:
        raise AssertionError(descriptor)

    async with next_to_a_thread() as (channel, there):
        with monkeypatch.context() as context:
            context.setattr("trio.lowlevel.wait_readable", turn)
            context.setattr(
                "rocketwire.transport.fastpath.epoll_bypass.EpollBypass.is_ready", always
            )
            there.sendall(answer_to(8))

            assert (await channel.request(RemotingCommand(code=1))).code == 108
        assert channel.in_flight == 0


@pytest.mark.parametrize("cut", [1, 8, 60])
async def test_an_answer_that_comes_in_parts_or_behind_others_is_read_to_its_end(
    monkeypatch: pytest.MonkeyPatch, cut: int
) -> None:
    monkeypatch.setattr("rocketwire.transport.fastpath.epoll_bypass.EpollBypass.is_ready", always)
    bytes_ = answer_to(3) + answer_to(8) + answer_to(9)

    async def later() -> None:
        await trio.testing.wait_all_tasks_blocked()
        there.sendall(bytes_[-cut:])

    async with next_to_a_thread() as (channel, there), trio.open_nursery() as nursery:
        there.sendall(bytes_[:-cut])
        nursery.start_soon(later)
        assert (await channel.request(RemotingCommand(code=1))).code == 108
        assert (await channel.request(RemotingCommand(code=1))).code == 109
        assert channel.in_flight == 0


async def test_what_is_wrong_with_a_connection_is_told_as_ever_by_who_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rocketwire.transport.fastpath.epoll_bypass.EpollBypass.is_ready", always)

    async with next_to_a_thread() as (channel, there):
        nothing_there = trio.move_on_after(0.01)
        with nothing_there:
            await channel.request(RemotingCommand(code=1))
        assert nothing_there.cancelled_caught
        assert channel.in_flight == 0
        there.shutdown(socket.SHUT_WR)
        with pytest.raises(ChannelBrokenError, match="the peer closed the connection"):
            await channel.request(RemotingCommand(code=2))


@pytest.mark.parametrize("fast_path", ["on"], indirect=True)
async def test_who_is_interrupted_at_the_keyboard_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(_: object) -> bool:
        raise KeyboardInterrupt

    async with next_to_a_thread() as (channel, there):
        with monkeypatch.context() as context:
            context.setattr(
                "rocketwire.transport.fastpath.epoll_bypass.EpollBypass.is_ready", interrupted
            )
            with pytest.raises(KeyboardInterrupt):
                await channel.request(RemotingCommand(code=1))
        assert channel.in_flight == 0
        there.sendall(answer_to(8) + answer_to(9))

        assert (await channel.request(RemotingCommand(code=2))).code == 109


async def test_nothing_is_read_directly_without_bypass_or_with_low_water(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pair() as (stream, there):
        async with stream:
            inlet = StreamReader(stream)
            there.sendall(bytes(8000))
            assert await inlet.receive(8000) == bytes(8000)
            assert inlet.receive_directly() is None
            monkeypatch.setattr("rocketwire.transport.fastpath.hook.bypass_for", never)
            assert StreamReader(stream).receive_directly() is None


class Peer:
    """The other end of a channel over TCP, moved by hand."""

    def __init__(self, there: socket.socket) -> None:
        there.setblocking(False)
        self._stream = trio.SocketStream(trio.socket.from_stdlib_socket(there))
        self._decoder = CommandDecoder()
        self.receives = 0

    @property
    def has_bytes(self) -> bool:
        return bool(select.select([self._stream.socket.fileno()], [], [], 0)[0])

    async def next(self) -> RemotingCommand:
        while (command := self._decoder.next_command()) is None:
            self.receives += 1
            self._decoder.feed(bytes(await self._stream.receive_some()))
        return command

    async def answer(self, *requests: RemotingCommand) -> None:
        answers = [
            encode(RemotingCommand(code=one.code + 100, opaque=one.opaque, flag=1))
            for one in requests
        ]
        await self.say(b"".join(answers))

    async def say(self, data: bytes) -> None:
        await self._stream.send_all(data)

    async def close(self) -> None:
        await self._stream.aclose()


@asynccontextmanager
async def alone(handler: Handler | None = None) -> AsyncGenerator[tuple[Channel, Peer]]:
    """A channel after enough single requests that each of them reads its own response."""
    with pair() as (stream, there):
        async with open_channel_over(
            stream, peer="peer", handler=handler, idle_timeout=None
        ) as channel:
            peer = Peer(there)
            for code in range(8):
                assert await asked(channel, peer, code) == code + 100
            yield channel, peer


async def asked(channel: Channel, peer: Peer, code: int) -> int:
    """The code of the answer to a request that is made while no other one waits."""

    async def answer() -> None:
        await peer.answer(await peer.next())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(answer)
        return (await channel.request(RemotingCommand(code=code))).code


async def test_requests_of_the_peer_are_answered_amid_sequential_requests() -> None:
    async def handler(request: RemotingCommand) -> RemotingCommand:
        return RemotingCommand(code=7)

    async with alone(handler) as (channel, peer):
        await peer.say(encode(RemotingCommand(code=40, opaque=3)))
        await trio.testing.wait_all_tasks_blocked()
        assert peer.has_bytes
        assert (await peer.next()).code == 7
        assert await asked(channel, peer, 5) == 105


async def test_an_end_is_seen_where_nobody_reads_for_himself_any_more() -> None:
    async with alone() as (channel, peer):
        await peer.close()
        await channel.wait_closed()
        with pytest.raises(ChannelBrokenError, match="the peer closed the connection"):
            await channel.request(RemotingCommand(code=1))


async def test_a_direct_read_ends_at_its_deadline_and_late_responses_are_dropped() -> None:
    async with alone() as (channel, peer):
        with pytest.raises(RequestTimeoutError):
            await channel.request(RemotingCommand(code=1), deadline=trio.current_time() + 0.01)
        assert channel.in_flight == 0
        await peer.answer(await peer.next())

        assert await asked(channel, peer, 2) == 102


async def test_whoever_is_cancelled_while_he_reads_leaves_nothing_behind() -> None:
    async with alone() as (channel, peer):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(channel.request, RemotingCommand(code=1))
            first = await peer.next()
            nursery.cancel_scope.cancel()
        assert channel.in_flight == 0
        await peer.answer(first)

        assert await asked(channel, peer, 2) == 102


async def test_later_requests_are_read_by_the_reader_task_after_a_direct_read() -> None:
    codes = list[int]()
    answered = {code: trio.Event() for code in (1, 2, 3, 4)}

    async with alone() as (channel, peer), trio.open_nursery() as nursery:

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
async def test_who_reads_for_himself_and_who_waits_for_him_are_told_of_the_end(
    by_peer: bool,
) -> None:
    errors = list[type[ChannelError]]()

    async with alone() as (channel, peer), trio.open_nursery() as nursery:

        async def ask(code: int) -> None:
            with pytest.raises(ChannelError) as caught:
                await channel.request(RemotingCommand(code=code))
            errors.append(type(caught.value))

        for code in (1, 2):
            nursery.start_soon(ask, code)
            await peer.next()
        await (peer.close() if by_peer else channel.aclose())

    assert errors == [ChannelBrokenError if by_peer else ChannelClosedError] * 2


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
    done = subprocess.run(
        [sys.executable, "-c", _READS], check=True, capture_output=True, text=True, timeout=60
    )

    assert int(done.stdout) < 1000  # 32 pages for each of a hundred reads otherwise
