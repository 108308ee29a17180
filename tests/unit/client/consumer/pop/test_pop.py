"""Results of a pop: the messages for the application, and their handles."""

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
    inner = [BatchMessage(body=b"%d" % n, properties={"TAGS": tag}) for n, tag in enumerate(tags)]
    return replace(
        message(offset, encode_batch(inner)),
        sys_flag=INNER_BATCH,
        properties={"INNER_NUM": str(len(tags) if number is None else number)},
        reconsume_times=2,
    )


async def pop(*messages: StoredMessage, tags: str = "*") -> PopResult:
    """The result of a pop whose response has these messages of queue 0."""
    offsets = ",".join(str(message.queue_offset) for message in messages)
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

    assert [(message.queue_offset, message.body) for message in result.messages] == [
        (5, b"one"),
        (6, b"0"),
        (7, b"1"),
        (8, b"one"),
    ]
    properties = [message.properties or {} for message in result.messages]
    handles = [values[POP_CK] for values in properties]
    assert handles == [handle(5), handle(6), handle(6), handle(8)]
    assert {values[FIRST_POP_TIME] for values in properties} == {"1700000000000"}
    assert [message.reconsume_times for message in result.messages] == [0, 2, 2, 0]


async def test_an_invalid_inner_batch_is_unreadable_and_keeps_its_handle() -> None:
    result = await pop(message(5), batch(6, "a", "a", number=1), message(7))

    assert [message.queue_offset for message in result.messages] == [5, 7]
    (unreadable,) = result.unreadable
    assert unreadable.stored is not None
    assert (unreadable.stored.properties or {})[POP_CK] == handle(6)


@pytest.mark.parametrize(
    ("tags", "selected", "filtered"), [("ab", [6], []), ("bb", [], [6, 7]), ("aa", [6, 7], [])]
)
async def test_an_inner_batch_is_filtered_only_if_none_of_its_tags_match(
    tags: str, selected: list[int], filtered: list[int]
) -> None:
    result = await pop(message(5), message(4, tag="b"), batch(6, *tags), tags="a")

    assert [message.queue_offset for message in result.messages] == [5, *selected]
    assert [message.queue_offset for message in result.filtered] == [4, *filtered]
