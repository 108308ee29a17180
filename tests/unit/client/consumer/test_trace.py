"""Trace records of the calls of handlers."""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
import trio
import trio.testing

from rocketwire.client import (
    ClientConfig,
    ConsumeConcurrentlyContext,
    ConsumeConcurrentlyStatus,
    ConsumeOrderlyContext,
    ConsumeOrderlyStatus,
    LitePullConsumerConfig,
    PopConsumerConfig,
    PushConsumerConfig,
    open_lite_pull_consumer,
    open_pop_consumer,
    open_push_consumer,
)
from rocketwire.client.consumer.config import count_successes
from rocketwire.client.consumer.hooked_listeners import count_orderly, hook_listener, hook_pop
from rocketwire.client.consumer.pop.pop import with_handle
from rocketwire.client.consumer.trace import ConsumerTrace
from rocketwire.client.hooks import HookChain
from rocketwire.client.trace import TRACE_TOPIC, TraceRecord
from rocketwire.codes import RequestCode as Code
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.send import SendMessageResponseHeader
from rocketwire.testing import MemoryNetwork, reply
from rocketwire.wire.message.stored import StoredMessage
from tests.support.fakes.consumer_fakes import BROKER, bring_messages, ignore, make_messages, world

HANDLE = "0 1700000000000 60000 3 0 b 0 0"
QUEUE = MessageQueue(topic="orders", broker_name="b", queue_id=0)


def message(number: int = 1, topic: str = "orders", **properties: str) -> StoredMessage:
    all_properties = {"UNIQ_KEY": f"ID{number}", "MSG_REGION": "R", **properties}
    return StoredMessage(topic=topic, body=b"x", properties=all_properties, reconsume_times=2)


class Records:
    """The trace records of group ``n%readers`` in namespace ``n``."""

    def __init__(self, call_timeout: float = 900.0, *, is_cloud: bool = False) -> None:
        self.kept: list[list[str]] = []
        dispatcher: Any = SimpleNamespace(topic=TRACE_TOPIC, append=self._keep, is_cloud=is_cloud)
        instance: Any = SimpleNamespace(
            config=ClientConfig(namesrv_addr=[], namespace="n"), own_ip="1.1.1.1"
        )
        self._client = instance
        self._hooks = HookChain([ConsumerTrace(dispatcher, instance, "n%readers", call_timeout)])

    def _keep(self, record: TraceRecord) -> None:
        assert record.text.endswith("\x02")
        assert record.topic == "orders"
        self.kept.append(record.text[:-1].split("\x01"))

    async def call(
        self,
        flavour: str,
        outcome: object,
        messages: Sequence[StoredMessage] = (),
        ack_index: int | None = None,
    ) -> object:
        """Call a handler that has an outcome, as a consumer does."""

        async def listener(_: object, context: Any = None) -> Any:
            await trio.lowlevel.checkpoint()
            if ack_index is not None:
                context.ack_index = ack_index
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        messages = messages or [message()]
        if flavour == "pop":
            return await self.hook_pop(listener)(with_handle(messages[0], HANDLE))
        context: Any = ConsumeOrderlyContext(message_queue=QUEUE)
        count: Any = count_orderly
        if flavour == "concurrent":
            context = ConsumeConcurrentlyContext(message_queue=QUEUE)
            count = count_successes
        hooked = hook_listener(listener, self._hooks, self._client, "n%readers", count)
        return await hooked(messages, context)

    def hook_pop(self, listener: Any) -> Any:
        return hook_pop(listener, self._hooks, self._client, "n%readers")

    @property
    def results(self) -> list[tuple[str, str]]:
        """Success and outcome of each record of after."""
        return [(record[4], record[6]) for record in self.kept if record[0] == "SubAfter"]


@pytest.fixture
def records() -> Records:
    return Records()


async def test_each_message_has_a_record_before_and_after_its_handler(records: Records) -> None:
    await records.call("concurrent", None, [message(1, KEYS="k1 k2"), message(2)])
    first, second, *ends = records.kept

    assert first == ["SubBefore", first[1], "R", "readers", first[4], "ID1", "2", "k1 k2"]
    assert second == ["SubBefore", first[1], "R", "readers", first[4], "ID2", "2", "null"]
    for record, msg_id, keys in zip(ends, ("ID1", "ID2"), ("k1 k2", "null"), strict=True):
        assert record[:3] == ["SubAfter", first[4], msg_id]
        assert record[4:7] == ["true", keys, "0"]
        assert int(record[7]) >= int(first[1])
        assert record[8:] == ["readers"]


FAILURE = ValueError("on purpose")
SUCCESS, LATER = ("true", "0"), ("false", "4")
CONCURRENTLY, ORDERLY = ConsumeConcurrentlyStatus, ConsumeOrderlyStatus


@pytest.mark.parametrize(
    ("flavour", "outcome", "ack_index", "results"),
    [
        ("concurrent", CONCURRENTLY.CONSUME_SUCCESS, None, [SUCCESS] * 3),
        ("concurrent", CONCURRENTLY.RECONSUME_LATER, None, [LATER] * 3),
        ("concurrent", CONCURRENTLY.CONSUME_SUCCESS, 0, [SUCCESS, LATER, LATER]),
        ("concurrent", CONCURRENTLY.CONSUME_SUCCESS, -1, [LATER] * 3),
        ("concurrent", None, 99, [SUCCESS] * 3),
        ("concurrent", FAILURE, None, [("false", "2")] * 3),
        ("orderly", None, None, [SUCCESS]),
        ("orderly", ORDERLY.SUCCESS, None, [SUCCESS]),
        ("orderly", ORDERLY.COMMIT, None, [SUCCESS]),
        ("orderly", ORDERLY.ROLLBACK, None, [("false", "0")]),
        ("orderly", ORDERLY.SUSPEND_CURRENT_QUEUE_A_MOMENT, None, [LATER]),
        ("orderly", FAILURE, None, [("false", "2")]),
        ("pop", None, None, [SUCCESS]),
        ("pop", True, None, [SUCCESS]),
        ("pop", False, None, [LATER]),
        ("pop", FAILURE, None, [("false", "2")]),
    ],
)
async def test_the_record_after_a_handler_has_its_outcome(
    records: Records,
    flavour: str,
    outcome: object,
    ack_index: int | None,
    results: list[tuple[str, str]],
) -> None:
    messages = list(map(message, range(len(results))))
    handling = records.call(flavour, outcome, messages, ack_index)
    if outcome is FAILURE:
        with pytest.raises(ValueError, match="on purpose"):
            await handling
    else:
        assert await handling is outcome
    assert records.results == results


async def test_in_a_managed_cloud_the_record_ends_with_the_outcome() -> None:
    records = Records(is_cloud=True)
    await records.call("pop", None)
    assert records.kept[1][6:] == ["0", ""]


async def test_a_slow_call_is_recorded_as_a_timeout_unless_it_raises() -> None:
    records = Records(call_timeout=0.0)
    await records.call("concurrent", None)
    await records.call("concurrent", ConsumeConcurrentlyStatus.RECONSUME_LATER)
    with pytest.raises(ValueError, match="on purpose"):
        await records.call("pop", FAILURE)
    assert records.results == [("true", "1"), ("false", "1"), ("false", "2")]


async def test_a_cancelled_call_has_no_record_after_it(records: Records) -> None:
    async def listener(*_: object) -> None:
        await trio.sleep_forever()

    with trio.move_on_after(0):
        await records.hook_pop(listener)(with_handle(message(), HANDLE))
    assert [record[0] for record in records.kept] == ["SubBefore"]


@pytest.mark.parametrize(
    "unwanted",
    [
        message(TRACE_ON="false"),
        message(topic=TRACE_TOPIC),
        StoredMessage(topic="orders", body=b"x", properties={"UNIQ_KEY": "ID1"}),
        StoredMessage(topic="orders", body=b"x"),
    ],
    ids=["switched off", "a record itself", "no region", "no properties"],
)
async def test_messages_that_are_not_recorded(records: Records, unwanted: StoredMessage) -> None:
    await records.call("concurrent", None, [unwanted])
    assert records.kept == []


async def test_a_batch_has_records_of_its_traced_messages(records: Records) -> None:
    messages = [message(1, TRACE_ON="false"), message(2, TRACE_ON="true")]
    await records.call("concurrent", None, messages)
    assert [
        (record[0], record[-3 if record[0] == "SubBefore" else 2]) for record in records.kept
    ] == [("SubBefore", "ID2"), ("SubAfter", "ID2")]


# ---------------------------------------------------------------------- consumers


def read_records(network: MemoryNetwork) -> list[list[str]]:
    """The records in all trace messages, which one group sends to one topic."""
    records: list[list[str]] = []
    for request in network.peer(BROKER).requests:
        if request.code == Code.SEND_MESSAGE_V2:
            fields = request.ext_fields or {}
            assert (fields["a"], fields["b"]) == ("_INNER_TRACE_PRODUCER-g-CONSUME", TRACE_TOPIC)
            texts = (request.body or b"").decode().split("\x02")[:-1]
            records += [text.split("\x01") for text in texts]
    return records


def bring_traced_messages(network: MemoryNetwork, count: int = 1) -> None:
    """Let the first pull or pop bring messages, and the broker store records."""
    bring_messages(network, make_messages(count, MSG_REGION="R"))
    stored = SendMessageResponseHeader(msg_id="0" * 32, queue_id=0, queue_offset=1)
    network.peer(BROKER).on(Code.SEND_MESSAGE_V2, reply(stored))


PUSH = PushConsumerConfig(enable_trace=True)
OPENERS: dict[str, Callable[[Any, Any], Any]] = {
    "concurrent": lambda client, handler: open_push_consumer(
        client, "g", {"orders": "*"}, handler, config=PUSH
    ),
    "orderly": lambda client, handler: open_push_consumer(
        client, "g", {"orders": "*"}, orderly_listener=handler, config=PUSH
    ),
    "pop": lambda client, handler: open_pop_consumer(
        client, "g", {"orders": "*"}, handler, config=PopConsumerConfig(enable_trace=True)
    ),
}


@pytest.mark.parametrize("flavour", OPENERS)
async def test_waiting_records_are_sent_at_the_end(autojump_clock: object, flavour: str) -> None:
    async with world() as (network, client):
        bring_traced_messages(network)
        async with OPENERS[flavour](client, ignore):
            await trio.sleep(1)
            assert read_records(network) == []
        assert [record[0] for record in read_records(network)] == ["SubBefore", "SubAfter"]


async def test_polled_messages_are_recorded_as_consumed(autojump_clock: object) -> None:
    config = LitePullConsumerConfig(enable_trace=True)
    async with world() as (network, client):
        bring_traced_messages(network)
        async with open_lite_pull_consumer(client, "g", config=config) as consumer:
            consumer.assign([QUEUE])
            polled = await consumer.poll()
            assert polled is not None
    first, second = read_records(network)
    assert first[2:4] == ["R", "g"]
    message_id, _cost, *outcome = second[2:7]
    assert (message_id, outcome) == ("ID0", ["true", "null", "0"])


async def test_messages_of_an_iterator_are_recorded_too(autojump_clock: object) -> None:
    async with world() as (network, client):
        bring_traced_messages(network, 2)
        async with open_push_consumer(client, "g", {"orders": "*"}, config=PUSH) as consumer:
            async for delivery in consumer:
                if delivery.message.queue_offset == 1:
                    delivery.reconsume_later()
                    break
            await trio.testing.wait_all_tasks_blocked()
    ends = [record for record in read_records(network) if record[0] == "SubAfter"]
    assert {(end[2], end[4]) for end in ends} == {("ID0", "true"), ("ID1", "false")}


async def test_a_silent_trace_topic_delays_no_handler(autojump_clock: object) -> None:
    handled: list[object] = []

    async def handler(messages: Sequence[StoredMessage], _: object) -> None:
        await trio.lowlevel.checkpoint()
        handled.extend(messages)

    async with world() as (network, client):
        bring_traced_messages(network, 200)
        network.peer(BROKER).on(Code.SEND_MESSAGE_V2, None)
        started = trio.current_time()
        async with OPENERS["concurrent"](client, handler):
            while len(handled) < 200:
                await trio.sleep(0.01)
            assert trio.current_time() - started < 1
        assert trio.current_time() - started < 30


async def test_without_the_setting_nothing_is_recorded(autojump_clock: object) -> None:
    async with world() as (network, client):
        bring_traced_messages(network)
        async with open_push_consumer(client, "g", {"orders": "*"}, ignore):
            await trio.sleep(10)
    assert read_records(network) == []


async def test_an_operator_s_direct_consumption_is_not_recorded(autojump_clock: object) -> None:
    async with world() as (network, client):
        for flavour, opener in OPENERS.items():
            async with opener(client, ignore) as consumer:
                await consumer.consume_directly(message(), "b")
            assert read_records(network) == [], flavour
