"""Traces that go from Java to Python and back, with OpenTelemetry's own instrumentation in Java."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest
import trio

from rocketwire.client import Message, open_client, open_producer
from tests.java.client.consuming import consume
from tests.peers.client_settings import patient, patient_producer
from tests.peers.messages import create_topic, unique
from tests.peers.peers import JavaPeer
from tests.support.telemetry import Telemetry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from opentelemetry.sdk.trace import ReadableSpan

    from rocketwire.wire.message.stored import StoredMessage
    from tests.peers.cluster import JavaCluster

pytestmark = pytest.mark.full

NO_PARENT = "0" * 16


class Span(NamedTuple):
    name: str
    role: str
    trace_id: str
    span_id: str
    parent_id: str
    attributes: dict[str, str]


def _java_span(lines: Sequence[str]) -> Span:
    name, role, trace_id, span_id, parent_id, *attributes = lines
    pairs = (line.partition("=") for line in attributes)
    return Span(name, role, trace_id, span_id, parent_id, {key: value for key, _, value in pairs})


class JavaTelemetry(JavaPeer):
    """A JVM with instrumented producers and consumers (``Telemetry.java``)."""

    def order(self, name_servers: str, topic: str, body: str) -> None:
        # Send a message within a span ``order``; its tag is ``red``, its keys ``k1`` and ``k2``.
        self.call("send", name_servers, topic, unique("java"), body)

    def spans(self, count: int, seconds: float = 120.0) -> list[Span]:
        words = self.call("spans", count, int(seconds * 1000), seconds=seconds + 30)
        return [_java_span(word.split("\n")) for word in words]


@pytest.fixture(scope="module")
def java(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JavaTelemetry]:
    folder = tmp_path_factory.mktemp("java-telemetry")
    with JavaTelemetry(folder, program="Telemetry.java", pom="telemetry.xml") as running:
        yield running


def _span(span: ReadableSpan) -> Span:
    context, parent = span.get_span_context(), span.parent
    assert context is not None
    return Span(
        span.name,
        span.kind.name,
        f"{context.trace_id:032x}",
        f"{context.span_id:016x}",
        f"{parent.span_id:016x}" if parent else NO_PARENT,
        {name: str(value) for name, value in (span.attributes or {}).items()},
    )


async def test_a_trace_goes_from_java_through_python_to_java(
    java_cluster: JavaCluster, java: JavaTelemetry
) -> None:
    telemetry = Telemetry(environment={"OTEL_SEMCONV_STABILITY_OPT_IN": "messaging/dup"})
    config = patient(namesrv_addr=java_cluster.address, hooks=[telemetry.hook])
    async with (
        open_client(config) as client,
        open_producer(client, unique("python"), patient_producer()) as producer,
    ):
        orders, bills = [await create_topic(client, unique(n)) for n in ("orders", "bills")]
        handled = trio.Event()

        async def handler(messages: Sequence[StoredMessage], _: object) -> None:
            await producer.send(Message(bills, messages[0].body or b""))
            handled.set()

        await trio.to_thread.run_sync(
            java.call, "consume", java_cluster.address, bills, unique("j")
        )
        await trio.to_thread.run_sync(java.order, java_cluster.address, orders, "1 pizza")
        async with consume(client, unique("g"), orders, handler):
            await handled.wait()
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
    assert [span.role for span in spans] == [role for _, role in path]
    assert {span.trace_id for span in spans} == {spans[0].trace_id}
    parents = [NO_PARENT, *(span.span_id for span in spans)]
    assert [span.parent_id for span in spans] == parents[:-1]
