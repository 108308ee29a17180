"""Spans and metrics of the facades, at the development broker: contexts cross the threads."""

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from opentelemetry import trace

from rocketwire import aio, sync
from rocketwire.client import ClientConfig, ClientHook, Message
from rocketwire.messages.enums import ConsumeFromWhere
from rocketwire.portal.direct import WARM_SENDS
from rocketwire.wire.message.stored import StoredMessage
from rocketwire_tools.pytest_plugin.cluster import RocketMQ
from tests.support.telemetry import Telemetry

FIRST = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
COUNT = WARM_SENDS + 4
"""Sends through trio, and then over own connections."""


@pytest.fixture
def telemetry() -> Telemetry:
    return Telemetry()


def config(rocketmq: RocketMQ, *hooks: ClientHook) -> ClientConfig:
    return ClientConfig(namesrv_addr=rocketmq.address, hooks=hooks)


def parents(telemetry: Telemetry, topic: str) -> set[int | None]:
    return {span.parent and span.parent.span_id for span in telemetry.spans(f"send {topic}")}


def test_sends_of_threads_continue_the_spans_of_their_callers(
    rocketmq: RocketMQ, telemetry: Telemetry
) -> None:
    topics = [rocketmq.topic() for _ in range(2)]
    callers: dict[str, int] = {}

    with sync.open_producer(config(rocketmq, telemetry.hook), "g") as producer:

        def produce(topic: str) -> None:
            with telemetry.tracer.start_as_current_span("caller") as span:
                callers[topic] = span.get_span_context().span_id
                for _ in range(COUNT):
                    producer.send(Message(topic, b"x"))
                producer.send_ordered(Message(topic, b"x"), "key")
                producer.send_oneway(Message(topic, b"x"))
                producer.send_many([Message(topic, b"x") for _ in range(3)])

        threads = [threading.Thread(target=produce, args=(topic,)) for topic in topics]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    for topic in topics:
        assert parents(telemetry, topic) == {callers[topic]}
        assert len(telemetry.spans(f"send {topic}")) == COUNT + 5
        sent = [(message.properties or {})["traceparent"] for message in rocketmq.messages(topic)]
        assert len(set(sent)) == len(sent) == COUNT + 5
    assert telemetry.count("messaging.client.sent.messages") == 2 * (COUNT + 5)
    assert telemetry.count("messaging.client.operation.duration") == 2 * (COUNT + 5)


def test_sends_of_tasks_continue_the_spans_of_their_callers(
    rocketmq: RocketMQ, telemetry: Telemetry
) -> None:
    topics = [rocketmq.topic() for _ in range(3)]
    callers: dict[str, int] = {}

    async def main() -> None:
        async with aio.open_producer(config(rocketmq, telemetry.hook), "g") as producer:

            async def produce(topic: str) -> None:
                with telemetry.tracer.start_as_current_span("caller") as span:
                    callers[topic] = span.get_span_context().span_id
                    for _ in range(COUNT):
                        await producer.send(Message(topic, b"x"))
                    await producer.send_ordered(Message(topic, b"x"), "key")
                    await producer.send_many([Message(topic, b"x") for _ in range(3)])

            await asyncio.gather(*map(produce, topics))

    asyncio.run(main())

    for topic in topics:
        assert parents(telemetry, topic) == {callers[topic]}
        assert len(telemetry.spans(f"send {topic}")) == COUNT + 4


class Stamp(ClientHook):
    def __init__(self, *, is_thread_safe: bool) -> None:
        self.is_thread_safe = is_thread_safe
        self.threads: set[str] = set()

    def send_message_before(self, context: Any) -> object:
        self.threads.add(threading.current_thread().name)
        context.messages = [
            replace(message, properties={"stamp": "1"}) for message in context.messages
        ]
        return None


@pytest.mark.parametrize("is_thread_safe", [True, False], ids=["safe", "unsafe"])
def test_a_hook_is_called_where_it_may_be_and_may_replace_messages(
    rocketmq: RocketMQ, is_thread_safe: bool
) -> None:
    topic, here = rocketmq.topic(), threading.current_thread().name
    hook = Stamp(is_thread_safe=is_thread_safe)
    with sync.open_producer(config(rocketmq, hook), "g") as producer:
        for _ in range(COUNT):
            producer.send(Message(topic, b"x"))

    async def main() -> None:
        async with aio.open_producer(config(rocketmq, hook), "g") as producer:
            for _ in range(COUNT):
                await producer.send(Message(topic, b"x"))

    asyncio.run(main())

    assert hook.threads == ({here} if is_thread_safe else {"rocketwire"})
    messages = rocketmq.messages(topic)
    assert len(messages) == 2 * COUNT
    assert all((message.properties or {})["stamp"] == "1" for message in messages)


@pytest.mark.parametrize("dialect", ["threads", "asyncio"])
def test_a_handler_sees_the_span_of_its_call(
    rocketmq: RocketMQ, telemetry: Telemetry, dialect: str
) -> None:
    topic, span_ids, enough = rocketmq.topic(), list[int](), threading.Event()
    rocketmq.produce(topic, *(b"%d" % number for number in range(10)))

    def handle(messages: Sequence[StoredMessage], _: object) -> None:
        span_ids.append(trace.get_current_span().get_span_context().span_id)
        if len(span_ids) == 10:
            enough.set()

    async def handle_in_loop(messages: Sequence[StoredMessage], context: object) -> None:
        await asyncio.sleep(0)
        handle(messages, context)

    async def consume() -> None:
        async with aio.open_push_consumer(
            settings, group, {topic: "*"}, handle_in_loop, consume_from_where=FIRST
        ):
            assert await asyncio.to_thread(enough.wait, 60)

    settings, group = config(rocketmq, telemetry.hook), rocketmq.group()
    if dialect == "asyncio":
        asyncio.run(consume())
    else:
        with sync.open_push_consumer(
            settings, group, {topic: "*"}, handle, consume_from_where=FIRST
        ):
            assert enough.wait(60)

    spans = [span.get_span_context() for span in telemetry.spans(f"process {topic}")]
    assert sorted(span_ids) == sorted(ids.span_id for ids in spans if ids is not None)
    assert len(set(span_ids)) == 10


def test_the_span_of_a_batch_has_a_link_to_each_message(
    rocketmq: RocketMQ, telemetry: Telemetry
) -> None:
    topic = rocketmq.topic()
    with sync.open_producer(config(rocketmq, telemetry.hook), "g") as producer:
        producer.send_many([Message(topic, b"%d" % number) for number in range(100)])

    taken, subscription = 0, (rocketmq.group(), {topic: "*"})
    with sync.open_push_consumer(
        config(rocketmq, telemetry.hook), *subscription, consume_from_where=FIRST
    ) as consumer:
        while taken < 100:
            batch = consumer.poll(32, within=60)
            assert batch is not None
            if not taken:
                batch.reject(batch.messages[0])
            taken += len(batch)
            batch.ack()

    spans = telemetry.spans(f"process {topic}")
    assert len(spans) < 100
    linked = [link.context.span_id for span in spans for link in span.links]
    single = [span.parent.span_id for span in spans if span.parent is not None]
    sent = [span.get_span_context() for span in telemetry.spans(f"send {topic}")]
    assert sorted(linked + single) == sorted(ids.span_id for ids in sent if ids is not None)
    failed = [span for span in spans if (span.attributes or {}).get("error.type")]
    assert [(span.attributes or {})["error.type"] for span in failed] == ["RECONSUME_LATER"]
    assert telemetry.count("messaging.client.consumed.messages") == 100
    assert telemetry.count("messaging.process.duration") == len(spans)
    assert all((span.start_time or 0) <= (span.end_time or 0) for span in spans)
