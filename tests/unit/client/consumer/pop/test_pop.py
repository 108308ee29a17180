"""Results of a pop: the messages for the application, and their handles."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketwire.client.consumer.pop.pop import PopCalls, PopResult
from rocketwire.codes import RequestCode as Code
from rocketwire.flags import MessageSysFlag
from rocketwire.messages.message_const import FIRST_POP_TIME, POP_CK
from rocketwire.messages.pop import PopMessageResponseHeader
from rocketwire.policy.subscription import subscription_data
from rocketwire.testing import reply
from rocketwire.wire.message.batch import BatchMessage, encode_batch
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from tests.support.fakes.producer_fakes import open_broker_and_client

INNER_BATCH = int(MessageSysFlag.INNER_BATCH | MessageSysFlag.NEED_UNWRAP)


def message(offset: int, body: bytes = b"one", tag: str = "a") -> StoredMessage:
    return StoredMessage(topic="T", body=body, queue_offset=offset, properties={"TAGS": tag})


def batch(offset: int, *tags: str, number: int | None = None) -> StoredMessage:
    inner = [
        BatchMessage(body=b"%d" % index, properties={"TAGS": tag}) for index, tag in enumerate(tags)
    ]
    return replace(
        message(offset, encode_batch(inner)),
        sys_flag=INNER_BATCH,
        properties={"INNER_NUM": str(len(tags) if number is None else number)},
        reconsume_times=2,
    )


async def pop(*messages: StoredMessage, tags: str = "*") -> PopResult:
    """What a client makes of an answer with these messages, which all are of queue 0."""
    offsets = ",".join(str(one.queue_offset) for one in messages)
    header = PopMessageResponseHeader(
        pop_time=1_700_000_000_000,
        invisible_time=60_000,
        revive_qid=3,
        rest_num=0,
        start_offset_info=f"0 0 {messages[0].queue_offset}",
        msg_offset_info=f"0 0 {offsets}",
    )
    async with open_broker_and_client() as (broker, client):
        broker.on(Code.POP_MESSAGE, reply(header, b"".join(map(encode_stored_message, messages))))
        subscription = subscription_data("T", tags, version=1)
        return await PopCalls(client, "g").pop("T", "a", subscription=subscription)


def handle(offset: int, start: int = 5) -> str:
    return f"{start} 1700000000000 60000 3 0 a 0 {offset}"


async def test_messages_of_an_inner_batch_have_the_handle_of_the_batch() -> None:
    result = await pop(message(5), batch(6, "a", "a"), message(8))

    assert [(one.queue_offset, one.body) for one in result.messages] == [
        (5, b"one"),
        (6, b"0"),
        (7, b"1"),
        (8, b"one"),
    ]
    held = [one.properties or {} for one in result.messages]
    assert [one[POP_CK] for one in held] == [handle(5), handle(6), handle(6), handle(8)]
    assert {one[FIRST_POP_TIME] for one in held} == {"1700000000000"}
    assert [one.reconsume_times for one in result.messages] == [0, 2, 2, 0]


async def test_an_invalid_inner_batch_is_unreadable_and_keeps_its_handle() -> None:
    result = await pop(message(5), batch(6, "a", "a", number=1), message(7))

    assert [one.queue_offset for one in result.messages] == [5, 7]
    (unreadable,) = result.unreadable
    assert unreadable.stored is not None
    assert (unreadable.stored.properties or {})[POP_CK] == handle(6)


@pytest.mark.parametrize(
    ("tags", "wanted", "filtered"), [("ab", [6], []), ("bb", [], [6, 7]), ("aa", [6, 7], [])]
)
async def test_an_inner_batch_is_filtered_only_if_none_of_its_messages_is_wanted(
    tags: str, wanted: list[int], filtered: list[int]
) -> None:
    result = await pop(message(5), message(4, tag="b"), batch(6, *tags), tags="a")

    assert [one.queue_offset for one in result.messages] == [5, *wanted]
    assert [one.queue_offset for one in result.filtered] == [4, *filtered]
