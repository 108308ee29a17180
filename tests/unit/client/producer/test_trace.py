"""Trace records, and how they come to the trace topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
import trio.testing

from rocketwire.client.message import Message
from rocketwire.client.producer import trace
from rocketwire.client.producer.transactions import LocalTransactionState
from rocketwire.codes import RequestCode as Code
from rocketwire.errors import LocalProtocolError
from rocketwire.testing import reply
from rocketwire.wire.message.properties import decode_properties
from tests.support.fakes.producer_fakes import stored, world

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pytest

    from rocketwire.wire.command import RemotingCommand


def one(number: int, topic: str = "T", size: int = 10) -> trace.TraceRecord:
    return trace.TraceRecord("x" * size, (f"K{number}",), topic)


def traces(requests: Iterable[RemotingCommand]) -> list[list[str]]:
    """The fields of all records that were sent."""
    sent = [one for one in requests if (one.ext_fields or {}).get("b") == trace.TRACE_TOPIC]
    texts = "".join((request.body or b"").decode() for request in sent)
    return [record.split("\x01") for record in texts.split("\x02") if record]


async def test_sends_and_ends_of_transactions_and_recalls_are_told_when_the_producer_closes() -> (
    None
):
    handle = "djEgVCBhIDE3OTUyODc4NTIwMDEgS0VZ"  # v1 T a 1795287852001 KEY
    async with world(brokers=("a",), enable_trace=True) as it:
        it.a.on(Code.RECALL_MESSAGE, reply(ext_fields={"msgId": "KEY"}))
        plain = await it.producer.send(Message("T", b"hello", tags="x", keys=("k1", "k2")))
        await it.producer.send(Message("T", b"later", delay_level=1))
        await it.producer.send_in_transaction(
            Message("T", b"tx"), lambda _m, _r: LocalTransactionState.COMMIT_MESSAGE
        )
        assert await it.producer.recall("T", handle) == "KEY"
    pub, later, half, end, recall = traces(it.a.requests)

    assert pub[0] == "Pub"
    assert pub[2:9] == ["R", "pg", "T", plain.msg_id, "x", "k1 k2", "10.0.0.2:10911"]
    assert (pub[9], pub[11:]) == ("5", ["0", plain.offset_msg_id, "true"])
    assert (later[7], later[11], half[11]) == ("null", "3", "1")
    assert end[0] == "EndTransaction"
    assert end[9:] == ["2", "TX", "COMMIT_MESSAGE", "false"]
    assert recall[0] == "Recall"
    assert recall[2:] == ["DefaultRegion", "pg", "T", "KEY", "true"]
    told = next(
        one for one in it.a.requests if (one.ext_fields or {}).get("b") == trace.TRACE_TOPIC
    )
    keys = decode_properties((told.ext_fields or {})["i"])["KEYS"].split(" ")
    assert {plain.msg_id, "k1", "k2"} <= set(keys)


async def test_a_broker_that_wants_no_trace_gets_none() -> None:
    def untraced(request: RemotingCommand) -> RemotingCommand:
        fields = {**(stored(request).ext_fields or {}), "TRACE_ON": "false"}
        return reply(ext_fields=fields)

    async with world(brokers=("a",), enable_trace=True) as it:
        it.a.on(Code.SEND_MESSAGE_V2, untraced)
        await it.producer.send(Message("T", b"x"))
    assert traces(it.a.requests) == []


async def test_records_wait_for_others_for_five_seconds(autojump_clock: trio.abc.Clock) -> None:
    async with world(brokers=("a",), enable_trace=True) as it:
        await it.producer.send(Message("T", b"x"))
        await trio.sleep(4.9)
        assert traces(it.a.requests) == []
        await trio.sleep(0.2)
        assert len(traces(it.a.requests)) == 1
        for _ in range(trace.BATCH):
            await it.producer.send(Message("T", b"x"))
        await trio.testing.wait_all_tasks_blocked()
        assert len(traces(it.a.requests)) == 21


async def test_records_go_together_up_to_a_number_a_size_and_a_topic() -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        await trio.lowlevel.checkpoint()
        sent.append(message)

    dispatcher = trace.TraceDispatcher(send, "TRACE")
    for number in range(25):
        dispatcher.append(one(number))
    dispatcher.append(one(30, "U"))
    dispatcher.append(one(31, "U", size=trace.MAX_TRACE_BYTES))
    await dispatcher.flush()

    assert [len(message.keys) for message in sent] == [20, 5, 1, 1]
    assert {message.topic for message in sent} == {"TRACE"}


async def test_records_with_long_keys_go_in_several_messages() -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        await trio.lowlevel.checkpoint()
        sent.append(message)

    dispatcher = trace.TraceDispatcher(send)
    for number in range(4):
        dispatcher.append(trace.TraceRecord("x", (f"{number}" * 10_000,), "T"))
    await dispatcher.flush()

    assert [len(message.keys) for message in sent] == [2, 2]


async def test_a_last_flush_waits_for_the_records_that_are_being_sent(
    autojump_clock: trio.abc.Clock,
) -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        await trio.sleep(1)
        sent.append(message)

    dispatcher = trace.TraceDispatcher(send)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(dispatcher.run)
        for number in range(trace.BATCH):
            dispatcher.append(one(number))
        await trio.testing.wait_all_tasks_blocked()
        await dispatcher.flush()
        nursery.cancel_scope.cancel()
    assert len(sent) == 1


async def test_what_finds_no_room_is_dropped_and_what_fails_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def send(_: Message) -> None:
        await trio.lowlevel.checkpoint()
        raise LocalProtocolError("no")

    dispatcher = trace.TraceDispatcher(send)
    for number in range(trace.MAX_QUEUED + 3):
        dispatcher.append(one(number))
    assert dispatcher.dropped == 3
    with caplog.at_level("INFO"):
        await dispatcher.flush()
    assert "trace records were not sent: no" in caplog.text


async def test_dropped_records_are_a_warning_until_there_is_room_again(
    autojump_clock: trio.abc.Clock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "rocketwire.client")

    async def send(_: Message) -> None:
        await trio.lowlevel.checkpoint()

    dispatcher = trace.TraceDispatcher(send)
    for number in range(trace.MAX_QUEUED + 100):
        dispatcher.append(one(number))
    assert len(caplog.messages) == 1
    assert "1 records were dropped: 2048 wait already" in caplog.messages[0]
    await trio.sleep(1)
    await dispatcher.flush()
    assert caplog.messages[1:] == ["records of the message trace: works again, after 1 s"]
    dispatcher.append(one(1))
    assert dispatcher.dropped == 100
