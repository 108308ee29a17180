"""``Channel.request_chain``: requests that the reader task makes from responses."""

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from rocketwire.errors import ChannelBrokenError, DecodeError, EncodeError, RequestTimeoutError
from rocketwire.transport.channel import Channel, NextRequest, open_channel_over
from rocketwire.wire.command import RemotingCommand
from tests.support.tcp_pair import pair
from tests.unit.transport.loopback import encode_answer
from tests.unit.transport.test_channel import Peer, open_full_pair, open_pair
from tests.unit.transport.test_reader import open_sequential_pair


def count_to(last: int, codes: list[int] | None = None) -> NextRequest:
    """Follows each response with a request of the next code, until the last."""

    def follow(response: RemotingCommand) -> RemotingCommand | None:
        if codes is not None:
            codes.append(response.code)
        return RemotingCommand(code=response.code + 1) if response.code < last else None

    return follow


async def request_chain(channel: Channel, follow: NextRequest) -> RemotingCommand:
    return await channel.request_chain(RemotingCommand(code=1), follow, response_timeout=3)


async def fail_chain(
    channel: Channel, follow: NextRequest, error: type[Exception], text: str | None = None
) -> None:
    with pytest.raises(error, match=text):
        await request_chain(channel, follow)


async def test_each_response_is_followed_by_a_request_until_nothing_follows() -> None:
    codes: list[int] = []
    async with open_pair() as (channel, peer), trio.open_nursery() as nursery:

        async def echo() -> None:
            while True:
                request = await peer.next()
                await peer.answer(request, code=request.code)

        nursery.start_soon(echo)
        with trio.fail_after(5):
            response = await request_chain(channel, count_to(4, codes))
        nursery.cancel_scope.cancel()

    assert response.code == 4
    assert codes == [1, 2, 3, 4]
    assert channel.in_flight == 0


async def test_requests_that_follow_responses_of_one_read_leave_together() -> None:
    with pair() as (stream, there):
        async with open_channel_over(stream) as channel, trio.open_nursery() as nursery:
            peer = Peer.of_socket(there)
            for _ in range(3):
                nursery.start_soon(request_chain, channel, count_to(102))
            await peer.answer(*[await peer.next() for _ in range(3)])
            await wait_all_tasks_blocked()
            requests = [await peer.next() for _ in range(3)]
            assert peer.receives == 2
            assert [request.code for request in requests] == [102] * 3
            await peer.answer(*requests)

        assert channel.in_flight == 0


async def test_a_cancelled_chain_sends_no_further_request() -> None:
    codes: list[int] = []
    async with open_pair() as (channel, peer):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(request_chain, channel, count_to(9, codes))
            await peer.answer(await peer.next(), code=1)
            request = await peer.next()
            nursery.cancel_scope.cancel()
        assert channel.in_flight == 0
        await peer.answer(request, code=2)
        await wait_all_tasks_blocked()

    assert request.code == 2
    assert codes == [1]


async def test_each_response_has_the_whole_timeout(autojump_clock: object) -> None:
    async with open_pair() as (channel, peer), trio.open_nursery() as nursery:

        async def answer_slowly() -> None:
            for _ in range(3):
                request = await peer.next()
                await trio.sleep(2)
                await peer.answer(request, code=request.code)

        started = trio.current_time()
        nursery.start_soon(answer_slowly)
        with pytest.raises(RequestTimeoutError, match="4"):
            await request_chain(channel, count_to(9))
        assert trio.current_time() - started == pytest.approx(9)


async def test_the_end_of_the_channel_ends_a_chain() -> None:
    async with open_pair() as (channel, peer):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(fail_chain, channel, count_to(9), ChannelBrokenError)
            await peer.answer(await peer.next(), code=1)
            await peer.next()
            await peer.stream.aclose()
        await fail_chain(channel, count_to(9), ChannelBrokenError)


async def test_a_response_before_invalid_bytes_is_followed_before_the_error() -> None:
    codes: list[int] = []
    async with open_pair() as (channel, peer), trio.open_nursery() as nursery:
        nursery.start_soon(fail_chain, channel, count_to(199, codes), ChannelBrokenError)
        request = await peer.next()
        await peer.stream.send_all(encode_answer(request.opaque) + bytes(8))
    assert codes == [100 + request.opaque]


async def test_a_request_that_cannot_be_encoded_fails_its_chain() -> None:
    def follow(_: RemotingCommand) -> RemotingCommand:
        return RemotingCommand(code=1, opaque=1 << 40, version=1 << 40)

    async with open_pair() as (channel, peer), trio.open_nursery() as nursery:
        nursery.start_soon(fail_chain, channel, follow, EncodeError)
        await peer.answer(await peer.next())

    assert channel.in_flight == 0


async def test_chain_whose_function_raises(caplog: pytest.LogCaptureFixture) -> None:
    def follow(response: RemotingCommand) -> RemotingCommand:
        raise AttributeError(response.code)

    text = r"cannot be handled: AttributeError\(7\)"
    async with open_pair() as (channel, peer), trio.open_nursery() as nursery:
        nursery.start_soon(fail_chain, channel, follow, DecodeError, text)
        await peer.answer(await peer.next(), code=7)
        await wait_all_tasks_blocked()
        assert channel.is_open
    assert len(caplog.records) == 1


async def test_a_chain_continues_when_the_reader_task_takes_over() -> None:
    async with open_sequential_pair() as (channel, peer), trio.open_nursery() as nursery:

        async def answer() -> None:
            for _ in range(3):
                await peer.answer(await peer.next())

        nursery.start_soon(answer)
        with trio.fail_after(5):
            assert (await request_chain(channel, count_to(250))).code == 303


async def test_a_chain_begins_when_less_is_unsent() -> None:
    async with open_full_pair() as (channel, peer, nursery):
        nursery.start_soon(request_chain, channel, count_to(1))
        await wait_all_tasks_blocked()
        assert channel.in_flight == 0

        assert (await peer.next()).body
        await peer.answer(await peer.next(), code=1)
        await wait_all_tasks_blocked()
        assert channel.in_flight == 0
