"""``Channel.request_chain``: requests that the reader task makes from responses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio
import trio.testing

from rocketwire.errors import ChannelBrokenError, DecodeError, EncodeError, RequestTimeoutError
from rocketwire.transport.channel import open_channel_over
from rocketwire.transport.writer import MAX_UNSENT
from rocketwire.wire.command import RemotingCommand, encode
from tests.support.tcp_pair import pair as tcp_pair
from tests.unit.transport import test_reader
from tests.unit.transport.test_channel import Peer, pair

if TYPE_CHECKING:
    from rocketwire.transport.pending import NextRequest

ASK = RemotingCommand(code=1)


def up_to(last: int, seen: list[int] | None = None) -> NextRequest:
    """Follows each answer with a request of the next code, until the last."""

    def follow(response: RemotingCommand) -> RemotingCommand | None:
        if seen is not None:
            seen.append(response.code)
        return RemotingCommand(code=response.code + 1) if response.code < last else None

    return follow


async def echo(peer: Peer) -> None:
    """Answers every request with its own code."""
    while True:
        request = await peer.next()
        await peer.answer(request, request.code)


async def test_each_answer_is_followed_by_a_request_until_nothing_follows() -> None:
    seen: list[int] = []
    async with pair() as (channel, peer), trio.open_nursery() as nursery:
        nursery.start_soon(echo, peer)
        with trio.fail_after(5):
            response = await channel.request_chain(ASK, up_to(4, seen), response_timeout=3)
        nursery.cancel_scope.cancel()

    assert response.code == 4
    assert seen == [1, 2, 3, 4]
    assert channel.in_flight == 0


async def test_requests_made_of_what_came_together_leave_together() -> None:
    with tcp_pair() as (stream, there):
        async with open_channel_over(stream) as channel, trio.open_nursery() as nursery:
            peer = test_reader.Peer(there)
            for _ in range(3):
                nursery.start_soon(
                    lambda: channel.request_chain(ASK, up_to(102), response_timeout=3)
                )
            await peer.answer(*[await peer.next() for _ in range(3)])
            await trio.testing.wait_all_tasks_blocked()
            requests = [await peer.next() for _ in range(3)]
            assert peer.receives == 2
            assert [one.code for one in requests] == [102] * 3
            await peer.answer(*requests)

        assert channel.in_flight == 0


async def test_who_is_cancelled_is_not_answered_and_asks_nothing_more() -> None:
    seen: list[int] = []
    async with pair() as (channel, peer):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(
                lambda: channel.request_chain(ASK, up_to(9, seen), response_timeout=3)
            )
            await peer.answer(await peer.next(), 1)
            late = await peer.next()
            nursery.cancel_scope.cancel()
        assert channel.in_flight == 0
        await peer.answer(late, 2)
        await trio.testing.wait_all_tasks_blocked()

    assert late.code == 2
    assert seen == [1]


async def test_each_answer_may_take_as_long_as_the_first(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with pair() as (channel, peer):
        started = trio.current_time()

        async def slowly() -> None:
            for _ in range(3):
                request = await peer.next()
                await trio.sleep(2)
                await peer.answer(request, request.code)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(slowly)
            with pytest.raises(RequestTimeoutError) as silent:
                await channel.request_chain(ASK, up_to(9), response_timeout=3)

        assert autojump_clock.current_time() - started == pytest.approx(9)
    assert "4" in str(silent.value)


async def test_the_end_of_the_channel_ends_it() -> None:
    async with pair() as (channel, peer), trio.open_nursery() as nursery:

        async def ask() -> None:
            with pytest.raises(ChannelBrokenError):
                await channel.request_chain(ASK, up_to(9), response_timeout=3)
            with pytest.raises(ChannelBrokenError):
                await channel.request_chain(ASK, up_to(9), response_timeout=3)

        nursery.start_soon(ask)
        await peer.answer(await peer.next(), 1)
        await peer.next()
        await peer.stream.aclose()


async def test_a_response_before_invalid_bytes_is_returned_before_the_error() -> None:
    seen: list[int] = []
    async with pair() as (channel, peer), trio.open_nursery() as nursery:

        async def ask() -> None:
            with pytest.raises(ChannelBrokenError):
                await channel.request_chain(ASK, up_to(9, seen), response_timeout=3)

        nursery.start_soon(ask)
        request = await peer.next()
        answer = RemotingCommand(code=1, opaque=request.opaque, flag=1)
        await peer.stream.send_all(encode(answer) + bytes(8))

    assert seen == [1]


async def test_a_request_that_has_no_form_on_the_wire_is_told_whoever_waits() -> None:
    def follow(_: RemotingCommand) -> RemotingCommand:
        return RemotingCommand(code=1, opaque=1 << 40, version=1 << 40)

    async with pair() as (channel, peer), trio.open_nursery() as nursery:

        async def ask() -> None:
            with pytest.raises(EncodeError):
                await channel.request_chain(ASK, follow, response_timeout=3)

        nursery.start_soon(ask)
        await peer.answer(await peer.next(), 1)

    assert channel.in_flight == 0


async def test_chain_whose_function_raises(caplog: pytest.LogCaptureFixture) -> None:
    def follow(response: RemotingCommand) -> RemotingCommand:
        raise AttributeError(response.code)

    async with pair() as (channel, peer), trio.open_nursery() as nursery:

        async def ask() -> None:
            with pytest.raises(DecodeError, match=r"cannot be handled: AttributeError\(7\)"):
                await channel.request_chain(ASK, follow, response_timeout=3)

        nursery.start_soon(ask)
        await peer.answer(await peer.next(), 7)
        await trio.testing.wait_all_tasks_blocked()
        assert channel.is_open
    assert len(caplog.records) == 1


async def test_who_reads_is_called_back_where_others_read_in_his_place() -> None:
    async with test_reader.alone() as (channel, peer), trio.open_nursery() as nursery:

        async def answer() -> None:
            for _ in range(3):
                await peer.answer(await peer.next())

        nursery.start_soon(answer)
        with trio.fail_after(5):
            assert (await channel.request_chain(ASK, up_to(250), response_timeout=3)).code == 303


async def test_who_begins_when_too_much_is_unsent_waits_first() -> None:
    ours, theirs = trio.testing.lockstep_stream_pair()
    async with (
        open_channel_over(ours, idle_timeout=None) as channel,
        trio.open_nursery() as nursery,
    ):
        peer = Peer(theirs)
        large = RemotingCommand(code=9, body=bytes(MAX_UNSENT))
        nursery.start_soon(channel.send_oneway, large)
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(lambda: channel.request_chain(ASK, up_to(1), response_timeout=3))
        await trio.testing.wait_all_tasks_blocked()
        assert channel.in_flight == 0

        assert (await peer.next()).code == 9
        await peer.answer(await peer.next(), 1)
