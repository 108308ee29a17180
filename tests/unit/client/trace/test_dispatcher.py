"""``TraceDispatcher``: batches of records, limits, and warnings about lost records."""

import pytest
import trio
import trio.testing

from rocketwire.client.message import Message
from rocketwire.client.trace import (
    BATCH,
    MAX_QUEUED,
    MAX_TRACE_BYTES,
    TraceDispatcher,
    TraceRecord,
    TraceSender,
)
from rocketwire.codes import RequestCode as Code
from rocketwire.errors import IllegalMessageError, IllegalNameError, LocalProtocolError
from tests.support.fakes.producer_fakes import world


def record(number: int, topic: str = "T", size: int = 10) -> TraceRecord:
    return TraceRecord("x" * size, (f"K{number}",), topic)


async def test_records_go_together_up_to_a_number_a_size_and_a_topic() -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        await trio.lowlevel.checkpoint()
        sent.append(message)

    dispatcher = TraceDispatcher(send, "TRACE")
    for number in range(25):
        dispatcher.append(record(number))
    dispatcher.append(record(30, "U"))
    dispatcher.append(record(31, "U", size=MAX_TRACE_BYTES))
    await dispatcher.flush()

    assert [len(message.keys) for message in sent] == [20, 5, 1, 1]
    assert {message.topic for message in sent} == {"TRACE"}


async def test_records_with_long_keys_go_in_several_messages() -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        await trio.lowlevel.checkpoint()
        sent.append(message)

    dispatcher = TraceDispatcher(send)
    for number in range(4):
        dispatcher.append(TraceRecord("x", (f"{number}" * 10_000,), "T"))
    await dispatcher.flush()

    assert [len(message.keys) for message in sent] == [2, 2]


async def test_the_last_flush_waits_for_records_in_flight(autojump_clock: object) -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        await trio.sleep(1)
        sent.append(message)

    dispatcher = TraceDispatcher(send)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(dispatcher.run)
        for number in range(BATCH):
            dispatcher.append(record(number))
        await trio.testing.wait_all_tasks_blocked()
        await dispatcher.flush()
        nursery.cancel_scope.cancel()
    assert len(sent) == 1


async def test_surplus_and_unsent_records_are_dropped(caplog: pytest.LogCaptureFixture) -> None:
    async def send(_: Message) -> None:
        await trio.lowlevel.checkpoint()
        raise LocalProtocolError("no")

    dispatcher = TraceDispatcher(send)
    for number in range(MAX_QUEUED + 3):
        dispatcher.append(record(number))
    assert dispatcher.dropped == 3
    with caplog.at_level("INFO"):
        await dispatcher.flush()
    assert "trace records were not sent: no" in caplog.text


async def test_dropped_records_are_a_warning_until_there_is_room_again(
    autojump_clock: object, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "rocketwire.client")

    async def send(_: Message) -> None:
        await trio.lowlevel.checkpoint()

    dispatcher = TraceDispatcher(send)
    for number in range(MAX_QUEUED + 100):
        dispatcher.append(record(number))
    assert len(caplog.messages) == 1
    assert "1 records were dropped: the queue has 2048 records" in caplog.messages[0]
    await trio.sleep(1)
    await dispatcher.flush()
    assert caplog.messages[1:] == ["records of the message trace: works again, after 1 s"]
    dispatcher.append(record(1))
    assert dispatcher.dropped == 100


async def test_a_trace_message_is_sent_by_the_internal_group_of_the_traced_one() -> None:
    async with world(brokers=("a",), client={"namespace": "n"}) as it:
        await TraceSender(it.producer.instance, "n%pg-PRODUCE").send(Message("T", b"record"))

    sent = [request for request in it.a.requests if request.code == Code.SEND_MESSAGE_V2]
    assert [request.body for request in sent] == [b"record"]
    fields = sent[0].ext_fields or {}
    assert fields["a"] == "_INNER_TRACE_PRODUCER-n%pg-PRODUCE"
    assert fields["b"] == "T"  # Java: test_same_requests.py, namespace+tracetopic
    assert "INSTANCE_ID" not in fields["i"]


async def test_an_empty_trace_message_and_a_group_that_is_too_long_are_errors() -> None:
    async with world(brokers=("a",)) as it:
        sender = TraceSender(it.producer.instance, "pg-PRODUCE")
        with pytest.raises(IllegalMessageError):
            await sender.send(Message("T", b""))
        with pytest.raises(IllegalNameError):
            TraceSender(it.producer.instance, "x" * 255)
