"""``ProducerTrace``: the records of sends, and when they are sent."""

from collections.abc import Iterable

import trio
import trio.testing

from rocketwire.client.config import AccessChannel
from rocketwire.client.message import Message
from rocketwire.client.producer.transactions import LocalTransactionState
from rocketwire.client.trace import BATCH, TRACE_TOPIC
from rocketwire.codes import RequestCode as Code
from rocketwire.testing import reply
from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.message.properties import decode_properties
from tests.support.fakes.producer_fakes import send_response, world
from tests.unit.client.producer.test_transactions import CHECK


def traces(requests: Iterable[RemotingCommand]) -> list[list[str]]:
    """The fields of all records that were sent."""
    sent = [request for request in requests if (request.ext_fields or {}).get("b") == TRACE_TOPIC]
    texts = "".join((message.body or b"").decode() for message in sent)
    return [record.split("\x01") for record in texts.split("\x02") if record]


async def test_records_of_sends_and_recalls_are_sent_when_it_closes() -> None:
    handle = "djEgVCBhIDE3OTUyODc4NTIwMDEgS0VZ"  # v1 T a 1795287852001 KEY
    async with world(brokers=("a",), enable_trace=True) as it:
        it.a.on(Code.RECALL_MESSAGE, reply(ext_fields={"msgId": "KEY"}))
        first = await it.producer.send(Message("T", b"hello", tags="x", keys=("k1", "k2")))
        await it.producer.send(Message("T", b"later", delay_level=1))
        await it.producer.send_batch([Message("T", b"one", tags="x"), Message("T", b"two")])
        await it.producer.send_in_transaction(
            Message("T", b"tx"), lambda _m, _r: LocalTransactionState.COMMIT_MESSAGE
        )
        assert await it.producer.recall("T", handle) == "KEY"
    pub, later, batch, half, end, recall = traces(it.a.requests)

    assert pub[0] == "Pub"
    assert pub[2:9] == ["R", "pg", "T", first.msg_id, "x", "k1 k2", "10.0.0.2:10911"]
    assert (pub[9], pub[11:]) == ("5", ["0", first.offset_msg_id, "true"])
    assert (later[7], later[11], half[11]) == ("null", "3", "1")
    assert (batch[6:8], batch[9]) == (["null", "null"], "6")
    assert end[0] == "EndTransaction"
    assert end[9:] == ["2", "TX", "COMMIT_MESSAGE", "false"]
    assert recall[0] == "Recall"
    assert recall[2:] == ["DefaultRegion", "pg", "T", "KEY", "true"]
    record = next(
        request for request in it.a.requests if (request.ext_fields or {}).get("b") == TRACE_TOPIC
    )
    keys = decode_properties((record.ext_fields or {})["i"])["KEYS"].split(" ")
    assert {first.msg_id, "k1", "k2"} <= set(keys)


async def test_the_end_of_a_checked_transaction_is_recorded() -> None:
    def check(_: object) -> LocalTransactionState:
        return LocalTransactionState.COMMIT_MESSAGE

    async with world(brokers=("a",), enable_trace=True, check=check) as it:
        await it.producer.send(Message("T", b"x"))
        await it.a.send_oneway(CHECK)
        await it.a.asked(Code.END_TRANSACTION)
    _, end = traces(it.a.requests)

    record = ["DefaultRegion", "pg", "T", "K", "null", "null", "10.0.0.2:10911", "2", "K"]
    assert end[2:] == [*record, "COMMIT_MESSAGE", "true"]


async def test_in_a_managed_cloud_records_go_to_the_topic_of_the_region() -> None:
    client = {"access_channel": AccessChannel.CLOUD}
    async with world(brokers=("a",), enable_trace=True, client=client) as it:
        await it.producer.send(Message("T", b"x"))
    sent = [
        request.ext_fields or {}
        for request in it.a.requests
        if request.code == Code.SEND_MESSAGE_V2
    ]
    assert [fields["b"] for fields in sent] == ["T", "rmq_sys_TRACE_DATA_R"]


async def test_a_broker_that_wants_no_trace_gets_none() -> None:
    def refuse_trace(request: RemotingCommand) -> RemotingCommand:
        fields = {**(send_response(request).ext_fields or {}), "TRACE_ON": "false"}
        return reply(ext_fields=fields)

    async with world(brokers=("a",), enable_trace=True) as it:
        it.a.on(Code.SEND_MESSAGE_V2, refuse_trace)
        await it.producer.send(Message("T", b"x"))
    assert traces(it.a.requests) == []


async def test_records_wait_for_others_for_five_seconds(autojump_clock: object) -> None:
    async with world(brokers=("a",), enable_trace=True) as it:
        await it.producer.send(Message("T", b"x"))
        await trio.sleep(4.9)
        assert traces(it.a.requests) == []
        await trio.sleep(0.2)
        assert len(traces(it.a.requests)) == 1
        for _ in range(BATCH):
            await it.producer.send(Message("T", b"x"))
        await trio.testing.wait_all_tasks_blocked()
        assert len(traces(it.a.requests)) == 21
