"""Results of a pop: messages and handles, and their acknowledgement."""

from collections.abc import Iterable
from dataclasses import replace
from typing import cast

import pytest
import trio
import trio.testing

from rocketwire.client.consumer.pop.pop import Acknowledgements, PopCalls, PopResult
from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.codes import RequestCode as Code
from rocketwire.errors import BrokerError, ChannelBrokenError, RocketWireError
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


UNKNOWN = int(ResponseCode.REQUEST_CODE_NOT_SUPPORTED)


def pop_message(offset: int, *, broker: str = "a", topic: str = "T") -> StoredMessage:
    handle = f"0 1700000000000 60000 3 0 {broker} 0 {offset}"
    return StoredMessage(topic=topic, queue_offset=offset, properties={POP_CK: handle})


class Broker:
    """Takes a second for each request."""

    def __init__(self) -> None:
        #: the offset of each single acknowledgement, the offsets of each batch
        self.requests: list[int | list[int]] = []
        self.batch_code = 0  #: code of the responses to batches
        self.single_code = 0  #: code of the responses to single acknowledgements
        self.is_down = False  #: whether it is silent

    async def ack(self, message: StoredMessage) -> None:
        await trio.sleep(1)
        self.requests.append(message.queue_offset)
        self._refuse(self.single_code, RequestCode.ACK_MESSAGE)

    async def batch_ack(self, messages: Iterable[StoredMessage]) -> None:
        await trio.sleep(1)
        self.requests.append([message.queue_offset for message in messages])
        self._refuse(self.batch_code, RequestCode.BATCH_ACK_MESSAGE)

    def _refuse(self, code: int, request: int) -> None:
        if self.is_down:
            raise ChannelBrokenError("the peer closed the connection")
        if code:
            raise BrokerError(code, "no", request, "a:1")


class Consumer:
    """Acknowledges messages in their order, and records those that fail."""

    def __init__(self, broker: Broker) -> None:
        self.acknowledgements = Acknowledgements(cast("PopCalls", broker))
        self.failed: list[int] = []

    async def handle(self, message: StoredMessage) -> None:
        try:
            await self.acknowledgements.ack(message)
        except RocketWireError:
            self.failed.append(message.queue_offset)

    async def start(self, nursery: trio.Nursery, *messages: StoredMessage) -> None:
        for message in messages:
            nursery.start_soon(self.handle, message)
            await trio.testing.wait_all_tasks_blocked()

    async def handle_all(self, *messages: StoredMessage) -> None:
        async with trio.open_nursery() as nursery:
            await self.start(nursery, *messages)


@pytest.fixture
def broker() -> Broker:
    return Broker()


@pytest.fixture
def consumer(broker: Broker) -> Consumer:
    return Consumer(broker)


async def test_waiting_acks_are_a_batch(
    autojump_clock: object, broker: Broker, consumer: Consumer
) -> None:
    async with trio.open_nursery() as nursery:
        await consumer.start(nursery, *map(pop_message, range(4)))
        await trio.sleep(1.5)
        await consumer.start(nursery, *map(pop_message, (4, 5)))
    await consumer.handle(pop_message(6))

    assert broker.requests == [0, [1, 2, 3], [4, 5], 6]
    assert trio.current_time() >= 4
    assert consumer.failed == []


async def test_topics_and_brokers_do_not_wait_for_each_other(
    autojump_clock: object, broker: Broker, consumer: Consumer
) -> None:
    start = trio.current_time()
    messages = (pop_message(1), pop_message(2, broker="b"), pop_message(3, topic="U"))
    await consumer.handle_all(*messages)
    assert trio.current_time() - start < 1.5
    assert sorted(map(str, broker.requests)) == ["1", "2", "3"]


async def test_a_broker_without_batch_acks_gets_single_ones_from_then_on(
    autojump_clock: object, broker: Broker, consumer: Consumer
) -> None:
    broker.batch_code = UNKNOWN
    await consumer.handle_all(*map(pop_message, range(3)))
    await consumer.handle_all(*map(pop_message, range(3, 6)))
    assert broker.requests[:2] == [0, [1, 2]]
    assert sorted(map(str, broker.requests[2:])) == [*"12345"]
    assert consumer.failed == []


async def test_a_rejected_batch_is_sent_one_by_one_and_the_next_together(
    autojump_clock: object, broker: Broker, consumer: Consumer
) -> None:
    broker.batch_code = int(ResponseCode.NO_PERMISSION)
    await consumer.handle_all(*map(pop_message, range(3)))
    broker.batch_code = 0
    await consumer.handle_all(*map(pop_message, range(3, 6)))

    assert broker.requests[:2] == [0, [1, 2]]
    assert sorted(map(str, broker.requests[2:4])) == ["1", "2"]
    assert broker.requests[4:] == [3, [4, 5]]
    assert consumer.failed == []


async def test_a_failed_request_fails_for_its_messages_only(
    autojump_clock: object, broker: Broker, consumer: Consumer
) -> None:
    broker.is_down = True
    await consumer.handle_all(*map(pop_message, range(3)))
    broker.is_down = False
    broker.single_code = UNKNOWN  # a broker that cannot be popped at all
    await consumer.handle_all(*map(pop_message, range(3, 6)))

    assert broker.requests == [0, [1, 2], 3, [4, 5]]
    assert sorted(consumer.failed) == [0, 1, 2, 3]


async def test_a_cancelled_ack_is_sent(
    autojump_clock: object, broker: Broker, consumer: Consumer
) -> None:
    async with trio.open_nursery() as nursery:
        await consumer.start(nursery, pop_message(0))
        with trio.move_on_after(1.5):
            async with trio.open_nursery() as cancelled:
                await consumer.start(cancelled, pop_message(1))
                await consumer.start(nursery, pop_message(2), pop_message(3))

    assert broker.requests == [0, [1, 2, 3]]
    assert consumer.failed == []
