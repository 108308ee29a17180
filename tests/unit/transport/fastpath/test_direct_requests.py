"""``DirectRequests`` over real sockets: an answer read where it was asked for, and everything that is left to the channel."""

from __future__ import annotations

import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
import trio
import trio.testing

from rocketwire.errors import ChannelBrokenError, EncodeError, RequestTimeoutError
from rocketwire.transport.channel import Channel, open_channel_over
from rocketwire.transport.fastpath.direct_requests import StartedRequest
from rocketwire.wire.command import CommandDecoder, RemotingCommand, decode, encode
from rocketwire.wire.request_template import build_template
from tests.support.tcp_pair import pair

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

LONG = 60.0


def ask(
    channel: Channel, body: bytes = b"body", within: float = LONG
) -> int | StartedRequest | None:
    """The code of the answer to a request, or what else came of it."""
    form = build_template(RemotingCommand(code=310), (), "i")
    assert form is not None
    values = form.values((), "text")
    assert values is not None
    if channel.direct is None:
        return None
    begun = channel.direct.request(form, values, body, within)
    if begun is None or begun.data is None or begun.data != answer_to(begun.opaque):
        return begun
    return decode(begun.data).code


def answer_to(opaque: int) -> bytes:
    return encode(RemotingCommand(code=opaque + 100, opaque=opaque, flag=1))


@asynccontextmanager
async def one_by_one() -> AsyncGenerator[tuple[Channel, socket.socket]]:
    """A channel over which eight requests were made one after the other, and its other end."""
    with pair() as (stream, there):
        async with open_channel_over(stream, peer="peer", idle_timeout=None) as channel:
            for code in range(8):
                there.sendall(answer_to(code))
                assert (await channel.request(RemotingCommand(code=code))).code == code + 100
            await trio.testing.wait_all_tasks_blocked()
            yield channel, there


async def test_an_answer_is_read_where_it_was_asked_for() -> None:
    async with one_by_one() as (channel, there):
        started = trio.current_time()
        there.sendall(answer_to(8))
        assert ask(channel) == 108
        assert started <= channel.received_at <= trio.current_time()
        there.sendall(answer_to(9))
        assert ask(channel) == 109
        there.sendall(answer_to(10))
        assert (await channel.request(RemotingCommand(code=1))).code == 110
        assert channel.in_flight == 0
        decoder = CommandDecoder()
        decoder.feed(there.recv(65536))
        codes = [command.code for command in iter(decoder.next_command, None)]
        assert codes == [*range(8), 310, 310, 1]


@pytest.mark.parametrize("cut", [0, 1, 60])
async def test_what_else_comes_is_left_to_the_channel(cut: int) -> None:
    both = encode(RemotingCommand(code=40, opaque=3, flag=2)) + answer_to(8)

    async with one_by_one() as (channel, there):
        there.sendall(both[: len(both) - cut])
        begun = ask(channel)
        assert isinstance(begun, StartedRequest)
        assert begun.data == both[: len(both) - cut]
        there.sendall(both[len(both) - cut :])

        assert (await channel.finish_request(begun, 310, trio.current_time() + LONG)).code == 108
        assert channel.in_flight == 0


async def test_a_long_answer_is_left_to_the_channel() -> None:
    async with one_by_one() as (channel, there):
        there.sendall(encode(RemotingCommand(code=1, opaque=8, flag=1, remark="x" * 5000)))
        begun = ask(channel)
        assert isinstance(begun, StartedRequest)

        answer = await channel.finish_request(begun, 310, trio.current_time() + LONG)
        assert answer.remark == "x" * 5000
        there.sendall(answer_to(9))
        assert (await channel.request(RemotingCommand(code=1))).code == 109


async def test_an_answer_that_is_late_is_waited_for_by_the_channel() -> None:
    async with one_by_one() as (channel, there):
        begun = ask(channel, within=0.001)
        assert isinstance(begun, StartedRequest)
        assert begun.data is None
        with pytest.raises(RequestTimeoutError):
            await channel.finish_request(begun, 310, trio.current_time() + 0.001)
        assert channel.in_flight == 0
        there.sendall(answer_to(8) + answer_to(9))

        assert (await channel.request(RemotingCommand(code=1))).code == 109


async def test_an_end_is_told_by_the_channel() -> None:
    async with one_by_one() as (channel, there):
        there.sendall(answer_to(8))
        sooner = trio.current_time() + LONG / 2
        assert (await channel.request(RemotingCommand(code=1), deadline=sooner)).code == 108
        await trio.testing.wait_all_tasks_blocked()
        there.shutdown(socket.SHUT_WR)
        begun = ask(channel)
        assert isinstance(begun, StartedRequest)
        with pytest.raises(ChannelBrokenError, match="the peer closed the connection"):
            await channel.finish_request(begun, 310, trio.current_time() + LONG)
        assert ask(channel) is None


async def test_a_socket_that_cannot_be_read_is_left_to_the_channel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(descriptor: int, size: int) -> bytes:
        raise ConnectionResetError(descriptor, size)

    async with one_by_one() as (channel, there):
        there.sendall(answer_to(8))
        with monkeypatch.context() as context:
            context.setattr("rocketwire.transport.fastpath.direct_requests.os.read", refuse)
            begun = ask(channel)
        assert isinstance(begun, StartedRequest)
        assert begun.data is None

        assert (await channel.finish_request(begun, 310, trio.current_time() + LONG)).code == 108


async def test_what_cannot_be_written_at_once_is_left_to_the_channel() -> None:
    async with one_by_one() as (channel, _):
        begun = ask(channel, bytes(8_000_000))
        assert isinstance(begun, StartedRequest)
        assert begun.data is None
        assert ask(channel) is None


async def test_what_the_system_does_not_take_is_left_to_the_channel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(descriptor: int, data: bytes) -> int:
        raise BlockingIOError(descriptor, len(data))

    async with one_by_one() as (channel, there):
        with monkeypatch.context() as context:
            context.setattr("rocketwire.transport.fastpath.direct_requests.os.write", refuse)
            begun = ask(channel)
        assert isinstance(begun, StartedRequest)
        assert begun.data is None
        there.sendall(answer_to(8))

        assert (await channel.finish_request(begun, 310, trio.current_time() + LONG)).code == 108
        decoder = CommandDecoder()
        decoder.feed(there.recv(65536))
        assert [command.code for command in iter(decoder.next_command, None)][-1] == 310


async def test_nothing_is_sent_while_others_wait_or_no_time_is_left() -> None:
    async with one_by_one() as (channel, there), trio.open_nursery() as nursery:
        assert channel.reader.allows_bypass
        assert ask(channel, within=0.0) is None
        nursery.start_soon(channel.request, RemotingCommand(code=1))
        await trio.testing.wait_all_tasks_blocked()
        assert ask(channel) is None
        there.sendall(answer_to(8))


async def test_nothing_is_sent_directly_after_half_a_frame() -> None:
    async with one_by_one() as (channel, there):
        begun = ask(channel, within=0.001)
        assert isinstance(begun, StartedRequest)
        there.sendall(answer_to(8) + answer_to(9)[:30])
        assert (await channel.finish_request(begun, 310, trio.current_time() + LONG)).code == 108
        await trio.testing.wait_all_tasks_blocked()

        assert ask(channel) is None


async def test_nothing_is_sent_by_who_is_cancelled() -> None:
    async with one_by_one() as (channel, _):
        with trio.CancelScope() as scope:
            scope.cancel()
            assert ask(channel) is None
            await trio.lowlevel.checkpoint()
        assert scope.cancelled_caught


async def test_a_request_without_a_form_on_the_wire_leaves_nothing_behind() -> None:
    async with one_by_one() as (channel, there):
        with pytest.raises(EncodeError):
            ask(channel, bytes(17_000_000))
        there.sendall(answer_to(8))

        assert ask(channel) == 108


async def test_without_a_shortcut_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(_: int) -> None:
        return None

    monkeypatch.setattr("rocketwire.transport.fastpath.hook.bypass_for", never)
    async with one_by_one() as (channel, there):
        assert ask(channel) is None
        there.sendall(answer_to(8))
        assert (await channel.request(RemotingCommand(code=1))).code == 108
