"""Traces that go from Java to Python and back, with OpenTelemetry's own instrumentation in Java."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import trio

from rocketwire.client import (
    Message,
    PopConsumerConfig,
    PushConsumerConfig,
    open_client,
    open_pop_consumer,
    open_producer,
    open_push_consumer,
)
from rocketwire.client.consumer.pop.pop import InitMode
from rocketwire.messages.enums import ConsumeFromWhere
from tests.peers.client_settings import patient, patient_producer
from tests.peers.messages import create_topic, unique, until
from tests.peers.peers import JavaPeer
from tests.support.telemetry import Telemetry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractAsyncContextManager

    from opentelemetry.sdk.trace import ReadableSpan

    from rocketwire.client import ClientInstance, Producer
    from tests.peers.cluster import JavaCluster

pytestmark = pytest.mark.full

NO_PARENT = "0" * 16
FIRST = PushConsumerConfig(consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)


class Span(NamedTuple):
    """A span of either language."""

    name: str
    kind: str
    trace_id: str
    span_id: str
    parent_id: str
    attributes: dict[str, str]


def _java_span(lines: Sequence[str]) -> Span:
    name, kind, trace_id, span_id, parent_id, *attributes = lines
    pairs = (line.partition("=") for line in attributes)
    return Span(name, kind, trace_id, span_id, parent_id, {key: value for key, _, value in pairs})


class JavaTelemetry(JavaPeer):
    """A JVM with instrumented producers and consumers (``Telemetry.java``)."""

    def order(self, name_servers: str, topic: str, body: str) -> None:
        """Send a message within a span ``order``; its tag is ``red``, its keys ``k1`` and ``k2``."""
        self.call("send", name_servers, topic, unique("java"), body)

    def spans(self, count: int, seconds: float = 120.0) -> list[Span]:
        """The spans that have ended, when there are so many or time is up."""
        words = self.call("spans", count, int(seconds * 1000), seconds=seconds + 30)
        return [_java_span(word.split("\n")) for word in words]


@pytest.fixture(scope="module")
def java(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JavaTelemetry]:
    folder = tmp_path_factory.mktemp("java-telemetry")
    with JavaTelemetry(folder, program="Telemetry.java", pom="telemetry.xml") as running:
        yield running


def _span(span: ReadableSpan) -> Span:
    own, parent = span.get_span_context(), span.parent
    assert own is not None
    return Span(
        span.name,
        span.kind.name,
        f"{own.trace_id:032x}",
        f"{own.span_id:016x}",
        f"{parent.span_id:016x}" if parent else NO_PARENT,
        {name: str(value) for name, value in (span.attributes or {}).items()},
    )


class Forwarding:
    """Sends each message on to another topic, within its handler."""

    def __init__(self, producer: Producer, topic: str) -> None:
        self._producer = producer
        self._topic = topic
        self.is_done = False

    async def __call__(self, messages: Any, *_: object) -> None:
        message = messages[0] if isinstance(messages, list) else messages  # pyright: ignore[reportUnknownVariableType] - one or many
        await self._producer.send(Message(self._topic, message.body))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType] - one or many
        self.is_done = True


def consumer(
    flavour: str, client: ClientInstance, topic: str, handler: Forwarding
) -> AbstractAsyncContextManager[object]:
    group = unique("python")
    if flavour == "pop":
        config = PopConsumerConfig(init_mode=InitMode.MIN)
        return open_pop_consumer(client, group, {topic: "*"}, handler, config=config)
    if flavour == "orderly":
        return open_push_consumer(
            client, group, {topic: "*"}, orderly_listener=handler, config=FIRST
        )
    return open_push_consumer(client, group, {topic: "*"}, handler, config=FIRST)


@pytest.mark.parametrize("flavour", ["concurrent", "orderly", "pop"])
async def test_a_trace_goes_from_a_java_producer_through_python_to_a_java_consumer(
    flavour: str, java_cluster: JavaCluster, java: JavaTelemetry
) -> None:
    telemetry = Telemetry(environment={"OTEL_SEMCONV_STABILITY_OPT_IN": "messaging/dup"})
    config = patient(namesrv_addr=java_cluster.address, hooks=[telemetry.hook])
    async with (
        open_client(config) as client,
        open_producer(client, unique("python"), patient_producer()) as producer,
    ):
        orders, bills = [await create_topic(client, unique(n)) for n in ("orders", "bills")]
        handler = Forwarding(producer, bills)
        await trio.to_thread.run_sync(
            java.call, "consume", java_cluster.address, bills, unique("j")
        )
        await trio.to_thread.run_sync(java.order, java_cluster.address, orders, "1 pizza")
        async with consumer(flavour, client, orders, handler):
            await until(lambda: handler.is_done)
        theirs = await trio.to_thread.run_sync(java.spans, 3)
        await trio.to_thread.run_sync(java.call, "close")
    by_name = {span.name: span for span in (*theirs, *map(_span, telemetry.spans()))}

    path = [
        ("order", "INTERNAL"),
        (f"{orders} publish", "PRODUCER"),  # Java's instrumentation has the older names
        (f"process {orders}", "CONSUMER"),
        (f"send {bills}", "PRODUCER"),
        (f"{bills} process", "CONSUMER"),
    ]
    spans = [by_name[name] for name, _ in path]
    assert [span.kind for span in spans] == [kind for _, kind in path]
    assert {span.trace_id for span in spans} == {spans[0].trace_id}
    parents = [NO_PARENT, *(span.span_id for span in spans)]
    assert [span.parent_id for span in spans] == parents[:-1]
    assert ("pop" == flavour) == (f"ack {orders}" in by_name)


async def test_our_spans_have_the_attributes_of_java_s(
    java_cluster: JavaCluster, java: JavaTelemetry
) -> None:
    telemetry = Telemetry(environment={"OTEL_SEMCONV_STABILITY_OPT_IN": "messaging/dup"})
    config = patient(namesrv_addr=java_cluster.address, hooks=[telemetry.hook])
    handled = trio.Event()

    async def handle(*_: object) -> None:
        await trio.lowlevel.checkpoint()
        handled.set()

    async with (
        open_client(config) as client,
        open_producer(client, unique("python"), patient_producer()) as producer,
    ):
        topic = await create_topic(client, unique("both"))
        await producer.send(Message(topic, b"1 pizza", tags="red", keys=("k1", "k2")))
        async with open_push_consumer(client, unique("g"), {topic: "*"}, handle, config=FIRST):
            await handled.wait()
        await trio.to_thread.run_sync(java.order, java_cluster.address, topic, "1 pizza")
        await trio.to_thread.run_sync(
            java.call, "consume", java_cluster.address, topic, unique("j")
        )
        theirs = {span.name: span for span in await trio.to_thread.run_sync(java.spans, 4)}
        await trio.to_thread.run_sync(java.call, "close")
    ours = {span.name: span for span in map(_span, telemetry.spans())}

    for name, other in (("send", "publish"), ("process", "process")):
        mine, java_s = ours[f"{name} {topic}"].attributes, theirs[f"{topic} {other}"].attributes
        varying = {"messaging.message.id"}
        assert java_s.keys() - SIZES <= mine.keys()
        same = java_s.keys() - SIZES - varying
        assert {key: mine[key] for key in same} == {key: java_s[key] for key in same}


SIZES = {"messaging.message.body.size"}
"""What the semantic conventions leave to those who want it."""
