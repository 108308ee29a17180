"""The first message at or after a time, with brokers that search in different ways."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from rocketwire.client.consumer.rebalance import find_initial_offset, find_offset_at
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.messages import decode_header
from rocketwire.messages.enums import ConsumeFromWhere
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.offsets import SearchOffsetRequestHeader, SearchOffsetResponseHeader
from rocketwire.messages.pull import PullMessageRequestHeader, PullMessageResponseHeader
from rocketwire.testing import reply
from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from tests.support.fakes.producer_fakes import open_broker_and_client

QUEUE = MessageQueue(topic="T", broker_name="a", queue_id=0)


def nearest(times: Sequence[int], time: int) -> int:
    """The search of brokers of 4.9.4."""
    return min(range(len(times)), key=lambda index: abs(times[index] - time), default=0)


def later(times: Sequence[int], time: int) -> int:
    """The search of brokers of 5.x."""
    return next((index for index, stored in enumerate(times) if stored >= time), len(times))


async def find_offset(
    times: Sequence[int], time: int, search: Callable[[Sequence[int], int], int]
) -> int:
    """The offset at a time in a queue of messages with these times; a pull brings two."""

    def answer_search(request: RemotingCommand) -> RemotingCommand:
        header = decode_header(SearchOffsetRequestHeader, request.ext_fields)
        return reply(SearchOffsetResponseHeader(offset=search(times, header.timestamp or 0)))

    def answer_pull(request: RemotingCommand) -> RemotingCommand:
        first = decode_header(PullMessageRequestHeader, request.ext_fields).queue_offset or 0
        offsets = range(first, min(first + 2, len(times)))
        header = PullMessageResponseHeader(
            suggest_which_broker_id=0,
            next_begin_offset=first + len(offsets),
            min_offset=0,
            max_offset=len(times),
        )
        if not offsets:
            return reply(header, code=ResponseCode.PULL_NOT_FOUND)
        stored = [
            StoredMessage(topic="T", body=b"x", queue_offset=index, store_timestamp=times[index])
            for index in offsets
        ]
        return reply(header, body=b"".join(map(encode_stored_message, stored)))

    async with open_broker_and_client() as (broker, client):
        broker.on(Code.SEARCH_OFFSET_BY_TIMESTAMP, answer_search)
        broker.on(Code.PULL_MESSAGE, answer_pull)
        await client.route("T")
        where = ConsumeFromWhere.CONSUME_FROM_TIMESTAMP
        exact = await find_offset_at(client, "g", QUEUE, time)
        assert await find_initial_offset(client, QUEUE, where, time, exact_for="g") == exact
        return exact


@pytest.mark.parametrize("search", [nearest, later])
@pytest.mark.parametrize(
    ("times", "time", "offset"),
    [
        ((10, 20, 30), 19, 1),
        ((10, 20, 30), 20, 1),
        ((10, 20, 30), 21, 2),
        ((10, 20, 30), 31, 3),
        ((10, 20, 30), 0, 0),
        ((10, 19, 19, 19, 20, 20, 20), 20, 4),
        ((), 5, 0),
    ],
)
async def test_the_first_message_of_a_time_or_later_is_found(
    times: Sequence[int], time: int, offset: int, search: Callable[[Sequence[int], int], int]
) -> None:
    assert await find_offset(times, time, search) == offset


@pytest.mark.parametrize(
    ("topic", "where", "offset"),
    [
        ("T", ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET, 0),
        ("T", ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET, 5),
        ("T", ConsumeFromWhere.CONSUME_FROM_TIMESTAMP, 3),
        ("%RETRY%g", ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET, 0),
        ("%RETRY%g", ConsumeFromWhere.CONSUME_FROM_TIMESTAMP, 5),
    ],
)
async def test_a_new_group_has_an_offset(topic: str, where: ConsumeFromWhere, offset: int) -> None:
    async with open_broker_and_client() as (broker, client):
        broker.on(Code.GET_MAX_OFFSET, reply(ext_fields={"offset": "5"}))
        broker.on(Code.SEARCH_OFFSET_BY_TIMESTAMP, reply(ext_fields={"offset": "3"}))
        assert await find_initial_offset(client, replace(QUEUE, topic=topic), where) == offset
    if offset == 3:
        header = int((broker.requests[-1].ext_fields or {})["timestamp"])
        half_an_hour_ago = time.time_ns() // 1_000_000 - 1_800_000
        assert header == pytest.approx(half_an_hour_ago, abs=60_000)
