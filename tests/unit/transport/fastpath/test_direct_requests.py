"""``DirectRequests`` over real sockets: responses that the caller reads, and cases for the channel."""

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing
from trio.testing import wait_all_tasks_blocked

from rocketwire.codes import RequestCode
from rocketwire.errors import (
    ChannelBrokenError,
    EncodeError,
    IllegalValueError,
    RequestTimeoutError,
)
from rocketwire.transport.channel import Channel, open_channel_over
from rocketwire.transport.fastpath import direct_requests
from rocketwire.transport.fastpath.direct_requests import StartedRequest
from rocketwire.wire.command import CommandDecoder, RemotingCommand, decode, encode
from rocketwire.wire.request_template import build_template
from tests.unit.transport.loopback import encode_answer, open_sequential_channel

CODE = RequestCode.SEND_MESSAGE_V2
LONG = 60.0


def ask(
    channel: Channel, body: bytes = b"body", within: float = LONG
) -> int | StartedRequest | None:
    """The code of the response to a request; the started request if it has no response yet."""
    form = build_template(RemotingCommand(code=CODE), (), "i")
    assert form is not None
    values = form.values((), "text")
    assert values is not None
    if channel.direct is None:
        return None
    started = channel.direct.request(form, values, body, within)
    if started is None or started.data is None or started.data != encode_answer(started.opaque):
        return started
    return decode(started.data).code


def start(channel: Channel, body: bytes = b"body", within: float = LONG) -> StartedRequest:
    started = ask(channel, body, within)
    assert isinstance(started, StartedRequest)
    return started


async def finish(
    channel: Channel, started: StartedRequest, within: float = LONG
) -> RemotingCommand:
    return await channel.finish_request(started, CODE, trio.current_time() + within)


@asynccontextmanager
async def open_channel() -> AsyncGenerator[tuple[Channel, socket.socket]]:
    """A channel that allows direct requests, and its other end."""
    async with open_sequential_channel() as (channel, there):
        await wait_all_tasks_blocked()
        yield channel, there


async def test_the_caller_reads_its_response() -> None:
    async with open_channel() as (channel, there):
        started = trio.current_time()
        there.sendall(encode_answer(8))
        assert ask(channel) == 108
        assert started <= channel.received_at <= trio.current_time()
        there.sendall(encode_answer(9))
        assert ask(channel) == 109
        there.sendall(encode_answer(10))
        assert (await channel.request(RemotingCommand(code=1))).code == 110
        assert channel.in_flight == 0
        decoder = CommandDecoder()
        decoder.feed(there.recv(65536))
        codes = [command.code for command in iter(decoder.next_command, None)]
        assert codes == [*range(8), 310, 310, 1]


@pytest.mark.parametrize("cut", [0, 1, 60])
async def test_other_commands_and_parts_are_left_to_the_channel(cut: int) -> None:
    both = encode(RemotingCommand(code=40, opaque=3, flag=2)) + encode_answer(8)

    async with open_channel() as (channel, there):
        there.sendall(both[: len(both) - cut])
        started = start(channel)
        assert started.data == both[: len(both) - cut]
        there.sendall(both[len(both) - cut :])

        assert (await finish(channel, started)).code == 108
        assert channel.in_flight == 0


async def test_a_long_response_is_left_to_the_channel() -> None:
    async with open_channel() as (channel, there):
        there.sendall(encode(RemotingCommand(code=1, opaque=8, flag=1, remark="x" * 5000)))
        started = start(channel)

        answer = await finish(channel, started)
        assert answer.remark == "x" * 5000
        there.sendall(encode_answer(9))
        assert (await channel.request(RemotingCommand(code=1))).code == 109


async def test_the_channel_waits_for_a_late_response() -> None:
    async with open_channel() as (channel, there):
        started = start(channel, within=0.001)
        assert started.data is None
        with pytest.raises(RequestTimeoutError):
            await finish(channel, started, within=0.001)
        assert channel.in_flight == 0
        there.sendall(encode_answer(8) + encode_answer(9))

        assert (await channel.request(RemotingCommand(code=1))).code == 109


async def test_the_channel_reports_the_end() -> None:
    async with open_channel() as (channel, there):
        there.sendall(encode_answer(8))
        sooner = trio.current_time() + LONG / 2
        assert (await channel.request(RemotingCommand(code=1), deadline=sooner)).code == 108
        await wait_all_tasks_blocked()
        there.shutdown(socket.SHUT_WR)
        started = start(channel)
        with pytest.raises(ChannelBrokenError, match="the peer closed the connection"):
            await finish(channel, started)
        assert ask(channel) is None


async def test_a_failing_read_is_left_to_the_channel(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(descriptor: int, size: int) -> bytes:
        raise ConnectionResetError(descriptor, size)

    async with open_channel() as (channel, there):
        there.sendall(encode_answer(8))
        with monkeypatch.context() as context:
            context.setattr("rocketwire.transport.fastpath.direct_requests.os.read", refuse)
            started = start(channel)
        assert started.data is None

        assert (await finish(channel, started)).code == 108


async def test_a_large_request_is_written_by_the_channel() -> None:
    async with open_channel() as (channel, _):
        started = start(channel, bytes(8_000_000))
        assert started.data is None
        assert ask(channel) is None


async def test_a_refused_write_is_repeated_by_the_channel(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(descriptor: int, data: bytes) -> int:
        raise BlockingIOError(descriptor, len(data))

    async with open_channel() as (channel, there):
        with monkeypatch.context() as context:
            context.setattr("rocketwire.transport.fastpath.direct_requests.os.write", refuse)
            started = start(channel)
        assert started.data is None
        there.sendall(encode_answer(8))

        assert (await finish(channel, started)).code == 108
        decoder = CommandDecoder()
        decoder.feed(there.recv(65536))
        assert [command.code for command in iter(decoder.next_command, None)][-1] == 310


async def test_nothing_is_sent_with_other_requests_or_without_time() -> None:
    async with open_channel() as (channel, there), trio.open_nursery() as nursery:
        assert channel.reader.allows_bypass
        assert ask(channel, within=0.0) is None
        nursery.start_soon(channel.request, RemotingCommand(code=1))
        await wait_all_tasks_blocked()
        assert ask(channel) is None
        there.sendall(encode_answer(8))


async def test_nothing_is_sent_directly_after_half_a_frame() -> None:
    async with open_channel() as (channel, there):
        started = start(channel, within=0.001)
        there.sendall(encode_answer(8) + encode_answer(9)[:30])
        assert (await finish(channel, started)).code == 108
        await wait_all_tasks_blocked()
        assert ask(channel) is None


async def test_a_cancelled_task_sends_nothing_directly() -> None:
    async with open_channel() as (channel, _):
        with trio.CancelScope() as scope:
            scope.cancel()
            assert ask(channel) is None
            await trio.lowlevel.checkpoint()
        assert scope.cancelled_caught


async def test_a_request_that_cannot_be_encoded_is_forgotten() -> None:
    async with open_channel() as (channel, there):
        with pytest.raises(EncodeError):
            ask(channel, bytes(17_000_000))
        there.sendall(encode_answer(8))
        assert ask(channel) == 108


async def test_nothing_is_sent_without_a_bypass(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(_: int) -> None:
        return None

    monkeypatch.setattr("rocketwire.transport.fastpath.direct_requests.bypass_for", never)
    async with open_channel() as (channel, there):
        assert ask(channel) is None
        there.sendall(encode_answer(8))
        assert (await channel.request(RemotingCommand(code=1))).code == 108


@pytest.mark.parametrize(("value", "is_on"), [("", True), ("on", True), ("off", False)])
def test_the_environment_has_a_switch(
    value: str, is_on: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(direct_requests.SWITCH, value)
    assert direct_requests.is_switched_on() == is_on


@pytest.mark.parametrize("value", ["0", "false", "OFF"])
def test_other_values_of_the_switch_fail(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(direct_requests.SWITCH, value)
    with pytest.raises(IllegalValueError, match="ROCKETWIRE_FASTPATH must be on or off"):
        direct_requests.is_switched_on()


async def test_a_channel_without_it_uses_the_reader_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(direct_requests, "is_on", False)
    async with open_sequential_channel() as (channel, _):
        await trio.testing.wait_all_tasks_blocked()
        assert channel.direct is None
        assert channel.reader.bypass is None
        assert not channel.reader.allows_bypass


async def test_a_stream_that_is_not_tcp_has_none() -> None:
    stream, _ = trio.testing.memory_stream_pair()
    async with open_channel_over(stream, idle_timeout=None) as channel:
        assert channel.direct is None
