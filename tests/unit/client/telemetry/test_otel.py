"""Spans, metrics and contexts of ``OpenTelemetryHook``, collected in memory by the SDK."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import pytest
import trio
from opentelemetry import baggage, context, trace
from opentelemetry.propagators.textmap import TextMapPropagator
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from rocketwire.client import (
    ClientConfig,
    ConsumeConcurrentlyStatus,
    LitePullConsumerConfig,
    LocalTransactionState,
    Message,
    OpenTelemetryHook,
    PushConsumerConfig,
    open_lite_pull_consumer,
    open_pop_consumer,
    open_push_consumer,
)
from rocketwire.client.hooks import ConsumeMessageContext, SendMessageContext
from rocketwire.client.telemetry.otel import MAX_LINKS, error_type
from rocketwire.client.telemetry.series import MAX_SERIES
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, IllegalMessageError, SendFailedError
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.pop import PopMessageResponseHeader
from rocketwire.testing import reply
from rocketwire.wire.message.properties import decode_properties
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from tests.support.fakes import consumer_fakes, producer_fakes

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

    from rocketwire.testing import MemoryNetwork
    from rocketwire.wire.command import RemotingCommand

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
PARENT = f"00-{TRACE}-{SPAN}-01"

MANUAL = LitePullConsumerConfig(auto_commit=False)


class Telemetry:
    """A hook whose spans and metrics are kept."""

    def __init__(self, **settings: Any) -> None:
        self._exporter = InMemorySpanExporter()
        self._reader = InMemoryMetricReader()
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self._exporter))
        defaults: dict[str, Any] = {
            "tracer_provider": self.tracers,
            "meter_provider": MeterProvider([self._reader]),
            "environment": {},
        }
        self.hook = OpenTelemetryHook(**{**defaults, **settings})

    @property
    def spans(self) -> list[ReadableSpan]:
        """The spans that have ended."""
        return list(self._exporter.get_finished_spans())

    def points(self, metric: str) -> list[tuple[dict[str, Any], Any]]:
        """Attributes and count (or sum of a counter) of each series."""
        data = self._reader.get_metrics_data()
        return [
            (dict(point.attributes or {}), getattr(point, "count", getattr(point, "value", None)))
            for resource in (data.resource_metrics if data else ())
            for scope in resource.scope_metrics
            for one in scope.metrics
            if one.name == metric
            for point in one.data.data_points
        ]


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def traceparent(span: ReadableSpan) -> str:
    ids = span.get_span_context()
    assert ids is not None
    return f"00-{ids.trace_id:032x}-{ids.span_id:016x}-{ids.trace_flags:02x}"


# ---------------------------------------------------------------------- sends


async def test_a_send_has_a_span_whose_context_is_in_the_message() -> None:
    it = Telemetry()
    async with producer_fakes.world(client={"hooks": [it.hook]}, brokers=("a",)) as world:
        message = Message("T", b"x", tags="red", keys=("k1", "k2"), properties={"own": "1"})
        result = await world.producer.send(message)
        properties = decode_properties((world.sent()[0].ext_fields or {})["i"])
    (span,) = it.spans

    assert (span.name, span.kind, span.parent) == ("send T", SpanKind.PRODUCER, None)
    assert (properties["own"], properties["traceparent"]) == ("1", traceparent(span))
    assert message.properties == {"own": "1"}
    assert attributes(span) == {
        "messaging.system": "rocketmq",
        "messaging.operation.name": "send",
        "messaging.operation.type": "send",
        "messaging.destination.name": "T",
        "messaging.destination.partition.id": str(result.message_queue.queue_id),
        "messaging.client.id": "1.1.1.1@i",
        "messaging.message.id": result.msg_id,
        "messaging.rocketmq.message.tag": "red",
        "messaging.rocketmq.message.keys": ("k1", "k2"),
        "messaging.rocketmq.message.type": "normal",
        "server.address": "10.0.0.2",
        "server.port": 10911,
    }
    series = {
        "messaging.system": "rocketmq",
        "messaging.operation.name": "send",
        "messaging.operation.type": "send",
        "messaging.destination.name": "T",
        "server.address": "10.0.0.2",
        "server.port": 10911,
    }
    assert it.points("messaging.client.sent.messages") == [(series, 1)]
    assert it.points("messaging.client.operation.duration") == [(series, 1)]


async def test_a_send_continues_the_span_of_the_application() -> None:
    it = Telemetry()
    tracer = it.tracers.get_tracer("application")
    async with producer_fakes.world(client={"hooks": [it.hook]}) as world:
        with tracer.start_as_current_span("order") as outer:
            await world.producer.send(Message("T", b"x"))
    span = it.spans[0]
    assert span.parent == outer.get_span_context()


@pytest.mark.parametrize(
    "delay", ["delay_level", "delay_seconds", "delay_millis", "deliver_millis"]
)
async def test_the_context_changes_nothing_else_of_a_message(delay: str) -> None:
    others: dict[str, Any] = {"sharding_key": "s", "system": {"UNIQ_KEY": "u"}, delay: 4}
    message = Message("T", b"x", "t", ("k",), 3, {"own": "1"}, False, **others)
    given = [getattr(message, field.name) for field in fields(message)]
    defaults = [field.default for field in fields(message)]
    assert sum(value == default for value, default in zip(given, defaults, strict=True)) == 3
    sent = SendMessageContext(Client(), "g", [message])
    Telemetry().hook.send_message_before(sent)
    (changed,) = sent.messages
    assert changed.properties.keys() == {"own", "traceparent"}
    assert replace(changed, properties=message.properties) == message


class Client:
    """A client that knows no broker."""

    client_id = "c"
    config = ClientConfig(namesrv_addr=producer_fakes.NS)

    def broker_address(self, broker_name: str) -> str | None:
        return None


async def test_baggage_and_state_of_a_trace_go_with_the_message() -> None:
    it = Telemetry()
    state = trace.TraceState([("vendor", "1")])
    parent = trace.SpanContext(int(TRACE, 16), int(SPAN, 16), True, trace.TraceFlags(1), state)
    around = trace.set_span_in_context(trace.NonRecordingSpan(parent))
    token = context.attach(baggage.set_baggage("shop", "7", around))
    try:
        async with producer_fakes.world(client={"hooks": [it.hook]}, brokers=("a",)) as world:
            await world.producer.send(Message("T", b"x"))
            properties = decode_properties((world.sent()[0].ext_fields or {})["i"])
    finally:
        context.detach(token)
    assert (properties["tracestate"], properties["baggage"]) == ("vendor=1", "shop=7")
    assert properties["traceparent"].startswith(f"00-{TRACE}-")


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (Message("T", b"x", delay_level=3), {"type": "delay", "delay_time_level": 3}),
        (Message("T", b"x", deliver_millis=9), {"type": "delay", "delivery_timestamp": 9}),
        (Message("T", b"x", sharding_key="s"), {"type": "fifo", "group": "s"}),
    ],
)
async def test_the_kind_of_a_message_is_in_its_span(
    message: Message, expected: dict[str, object]
) -> None:
    it = Telemetry()
    async with producer_fakes.world(client={"hooks": [it.hook]}) as world:
        await world.producer.send(message)
    prefix = "messaging.rocketmq.message."
    actual = attributes(it.spans[0])
    assert {
        n.removeprefix(prefix): v for n, v in actual.items() if n.startswith(prefix)
    } == expected


async def test_a_half_message_is_one_of_a_transaction() -> None:
    it = Telemetry()
    async with producer_fakes.world(client={"hooks": [it.hook]}) as world:
        await world.producer.send_in_transaction(
            Message("T", b"x"), lambda _message, _result: LocalTransactionState.COMMIT_MESSAGE
        )
    assert attributes(it.spans[0])["messaging.rocketmq.message.type"] == "transaction"


async def test_the_messages_of_a_batch_have_the_context_of_one_span() -> None:
    it = Telemetry()
    async with producer_fakes.world(client={"hooks": [it.hook]}) as world:
        await world.producer.send_batch([Message("T", b"x"), Message("T", b"y")])
        (request,) = world.sent()
    (span,) = it.spans
    assert (request.body or b"").count(traceparent(span).encode()) == 2
    assert attributes(span)["messaging.batch.message_count"] == 2
    assert "messaging.message.id" not in attributes(span)
    assert [count for _, count in it.points("messaging.client.sent.messages")] == [2]


async def test_a_refused_send_has_the_code_of_the_broker() -> None:
    it = Telemetry()
    async with producer_fakes.world(client={"hooks": [it.hook]}, brokers=("a",)) as world:
        world.a.on(Code.SEND_MESSAGE_V2, reply(code=ResponseCode.NO_PERMISSION, remark="no"))
        with pytest.raises(SendFailedError):
            await world.producer.send(Message("T", b"x"))
    (span,) = it.spans
    assert attributes(span)["error.type"] == "NO_PERMISSION"
    assert span.status.status_code is StatusCode.ERROR
    assert [event.name for event in span.events] == ["exception"]
    ((series, count),) = it.points("messaging.client.sent.messages")
    assert (series["error.type"], count) == ("NO_PERMISSION", 1)


async def test_a_message_that_is_invalid_was_not_sent() -> None:
    it = Telemetry()
    async with producer_fakes.world(client={"hooks": [it.hook]}) as world:
        with pytest.raises(IllegalMessageError):
            await world.producer.send(Message("T", b""))
    assert attributes(it.spans[0])["error.type"] == "IllegalMessageError"
    assert it.points("messaging.client.sent.messages") == []


async def test_topics_of_a_namespace_are_named_as_the_application_names_them() -> None:
    it = Telemetry()
    client = {"hooks": [it.hook], "namespace": "n"}
    async with producer_fakes.world(client=client) as world:
        await world.producer.send(Message("T", b"x"))
    span = it.spans[0]
    assert span.name == "send T"
    assert attributes(span)["messaging.rocketmq.namespace"] == "n"


@pytest.mark.parametrize("words", ["messaging/dup", "http, messaging/dup"])
async def test_the_names_of_java_s_instrumentation_are_added_on_request(words: str) -> None:
    it = Telemetry(environment={"OTEL_SEMCONV_STABILITY_OPT_IN": words})
    async with producer_fakes.world(client={"hooks": [it.hook]}) as world:
        await world.producer.send(Message("T", b"x"))
    actual = attributes(it.spans[0])
    assert actual["messaging.operation"] == "publish"
    assert actual["messaging.operation.type"] == "send"
    assert actual["messaging.rocketmq.client_group"] == "pg"


async def test_without_an_sdk_messages_are_not_changed() -> None:
    hook = OpenTelemetryHook(tracer_provider=trace.NoOpTracerProvider(), environment={})
    async with producer_fakes.world(client={"hooks": [hook]}, brokers=("a",)) as world:
        await world.producer.send(Message("T", b"x"))
        properties = decode_properties((world.sent()[0].ext_fields or {})["i"])
    assert set(properties) == {"UNIQ_KEY", "WAIT"}


class Foreign(TextMapPropagator):
    """Another format."""

    def inject(self, carrier: Any, context: Any = None, setter: Any = None) -> None:
        carrier["foreign"] = "f"

    def extract(self, carrier: Any, context: Any = None, getter: Any = None) -> Any:
        return baggage.set_baggage("foreign", carrier["foreign"], context)

    @property
    def fields(self) -> set[str]:
        return {"foreign"}


async def test_the_format_of_contexts_is_that_of_the_propagator() -> None:
    it = Telemetry(propagator=Foreign())
    async with producer_fakes.world(client={"hooks": [it.hook]}, brokers=("a",)) as world:
        await world.producer.send(Message("T", b"x"))
        properties = decode_properties((world.sent()[0].ext_fields or {})["i"])
    assert properties["foreign"] == "f"
    message = StoredMessage(topic="T", body=b"x", properties={"foreign": "f"})
    assert baggage.get_baggage("foreign", it.hook.context_of(message)) == "f"
    other = StoredMessage(topic="T", body=b"x", properties={"traceparent": PARENT})
    assert not it.hook.context_of(other)


def test_the_type_of_an_error_has_few_values() -> None:
    refused = BrokerError(2, "busy", 10, "b:1")
    failed = SendFailedError("T", ("a", "b"))
    assert error_type(refused) == "SYSTEM_BUSY"
    assert error_type(BrokerError(9999, "", 10, "b:1")) == "9999"
    assert error_type(failed) == "SendFailedError"
    failed.__cause__ = refused
    assert error_type(failed) == "SYSTEM_BUSY"
    assert error_type(ValueError("x")) == "ValueError"


# ---------------------------------------------------------------------- limits


def send_to_topics(it: Telemetry, topics: int) -> dict[str | None, int]:
    """Send a message to each topic; returns the number of messages by topic as it is counted."""
    for number in range(topics):
        sent = SendMessageContext(Client(), "g", [Message(f"T{number}", b"x")])
        it.hook.send_message_after(sent, it.hook.send_message_before(sent))
    points = it.points("messaging.client.sent.messages")
    return {series.get("messaging.destination.name"): count for series, count in points}


def test_a_thousand_topics_have_series_of_their_own() -> None:
    counts = send_to_topics(Telemetry(), 1000)
    assert counts == {f"T{number}": 1 for number in range(1000)}


def test_topics_beyond_the_limit_are_counted_together() -> None:
    it = Telemetry()
    counts = send_to_topics(it, MAX_SERIES + 100)
    assert len(counts) == MAX_SERIES + 1
    assert counts[None] == 100
    points = it.points("messaging.client.sent.messages")
    assert [one for one, _ in points if "otel.metric.overflow" in one] == [
        {
            "messaging.system": "rocketmq",
            "messaging.operation.name": "send",
            "messaging.operation.type": "send",
            "otel.metric.overflow": True,
        }
    ]


def links_of_a_call(messages: int) -> int:
    it = Telemetry()
    properties = {"UNIQ_KEY": "ID", "traceparent": PARENT}
    given = [StoredMessage(topic="T", body=b"x", properties=properties) for _ in range(messages)]
    queue = MessageQueue(topic="T", broker_name="b", queue_id=0)
    call = ConsumeMessageContext(Client(), "g", queue, given)
    it.hook.consume_message_after(call, it.hook.consume_message_before(call))
    return len(it.spans[0].links)


def test_a_call_with_a_hundred_messages_is_linked_to_each() -> None:
    assert links_of_a_call(100) == 100


def test_messages_beyond_the_limit_have_no_links() -> None:
    assert links_of_a_call(MAX_LINKS + 1) == MAX_LINKS


# ---------------------------------------------------------------------- consumers


def with_messages(
    network: MemoryNetwork, *, count: int = 1, topic: str = "orders", **properties: str
) -> None:
    """The first pull or pop brings messages, every other none."""
    properties = {"MSG_REGION": "R", "TAGS": "red", "KEYS": "k1 k2", **properties}
    messages = [
        StoredMessage(
            topic=topic,
            body=b"x",
            queue_offset=number,
            properties={"UNIQ_KEY": f"ID{number}", **properties},
        )
        for number in range(count)
    ]
    brought = False

    async def answer(request: RemotingCommand) -> RemotingCommand:
        nonlocal brought
        if brought or (request.ext_fields or {}).get("topic") != topic:
            await trio.sleep_forever()
        brought = True
        if request.code != Code.POP_MESSAGE:
            return consumer_fakes.pull_response(*messages, begin=count)
        header = PopMessageResponseHeader(
            pop_time=1,
            invisible_time=60_000,
            revive_qid=0,
            rest_num=0,
            start_offset_info="0 0 0",
            msg_offset_info="0 0 " + ",".join(map(str, range(count))),
        )
        return reply(header, b"".join(map(encode_stored_message, messages)))

    for code in consumer_fakes.PULLS:
        network.peer(consumer_fakes.BROKER).on(code, answer)
    network.peer(consumer_fakes.BROKER).on(Code.ACK_MESSAGE, reply())


async def test_a_handler_continues_the_trace_of_the_producer(autojump_clock: object) -> None:
    it = Telemetry()
    seen: list[trace.SpanContext] = []

    async def handle(*_: object) -> None:
        await trio.lowlevel.checkpoint()
        seen.append(trace.get_current_span().get_span_context())

    async with consumer_fakes.world(hooks=[it.hook]) as (network, client):
        with_messages(network, traceparent=PARENT)
        async with open_push_consumer(client, "g", {"orders": "*"}, handle):
            await trio.sleep(1)
    (span,) = it.spans

    assert (span.name, span.kind) == ("process orders", SpanKind.CONSUMER)
    assert span.parent is not None
    assert span.parent.is_remote
    assert (f"{span.parent.trace_id:032x}", f"{span.parent.span_id:016x}") == (TRACE, SPAN)
    assert seen == [span.get_span_context()]
    assert trace.get_current_span() is trace.INVALID_SPAN
    assert attributes(span) == {
        "messaging.system": "rocketmq",
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.destination.name": "orders",
        "messaging.destination.partition.id": "0",
        "messaging.client.id": "1.1.1.1@i",
        "messaging.consumer.group.name": "g",
        "messaging.message.id": "ID0",
        "messaging.rocketmq.message.tag": "red",
        "messaging.rocketmq.message.keys": ("k1", "k2"),
        "server.address": "10.0.0.2",
        "server.port": 10911,
    }
    ((series, count),) = it.points("messaging.process.duration")
    assert (series["messaging.consumer.group.name"], count) == ("g", 1)
    assert it.points("messaging.client.consumed.messages") == [(series, 1)]
    operations = it.points("messaging.client.operation.duration")
    assert {series["messaging.operation.name"] for series, _ in operations} == {"pull", "commit"}


async def test_a_consumer_s_names_have_no_namespace_either(autojump_clock: object) -> None:
    it = Telemetry()

    async def handle(*_: object) -> None:
        await trio.lowlevel.checkpoint()

    async with consumer_fakes.world(hooks=[it.hook], namespace="n") as (network, client):
        with_messages(network, topic="n%orders")
        async with open_push_consumer(client, "g", {"orders": "*"}, handle):
            await trio.sleep(1)
    span = it.spans[0]
    assert (span.name, attributes(span)["messaging.consumer.group.name"]) == ("process orders", "g")
    (series, _), *_ = it.points("messaging.process.duration")
    names = ("messaging.destination.name", "messaging.consumer.group.name")
    assert [series[name] for name in names] == ["orders", "g"]


async def test_a_message_without_context_begins_a_trace(autojump_clock: object) -> None:
    it = Telemetry()
    handled = trio.Event()

    async def handle(*_: object) -> None:
        await trio.lowlevel.checkpoint()
        handled.set()

    tracer = it.tracers.get_tracer("application")
    async with consumer_fakes.world(hooks=[it.hook]) as (network, client):
        with_messages(network)
        with tracer.start_as_current_span("the whole program"):
            async with open_push_consumer(client, "g", {"orders": "*"}, handle):
                await handled.wait()
    assert it.spans[0].parent is None


async def test_a_call_with_several_messages_is_linked_to_them(autojump_clock: object) -> None:
    it = Telemetry()
    handled = trio.Event()

    async def handle(*_: object) -> None:
        await trio.lowlevel.checkpoint()
        handled.set()

    config = PushConsumerConfig(consume_message_batch_max_size=3)
    async with consumer_fakes.world(hooks=[it.hook]) as (network, client):
        with_messages(network, count=3, traceparent=PARENT)
        async with open_push_consumer(client, "g", {"orders": "*"}, handle, config=config):
            await handled.wait()
    (span,) = it.spans
    assert span.parent is None
    assert [f"{link.context.span_id:016x}" for link in span.links] == [SPAN] * 3
    assert attributes(span)["messaging.batch.message_count"] == 3


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        (ConsumeConcurrentlyStatus.RECONSUME_LATER, "RECONSUME_LATER"),
        (ValueError("x"), "ValueError"),
    ],
)
async def test_a_call_that_failed_says_why(
    outcome: object, kind: str, autojump_clock: object
) -> None:
    it = Telemetry()

    async def handle(*_: object) -> Any:
        await trio.lowlevel.checkpoint()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async with consumer_fakes.world(hooks=[it.hook]) as (network, client):
        with_messages(network, traceparent=PARENT)
        async with open_push_consumer(client, "g", {"orders": "*"}, handle):
            await trio.sleep(1)
    process, settle = it.spans
    assert attributes(process)["error.type"] == kind
    assert process.status.status_code is StatusCode.ERROR
    assert (settle.name, settle.kind) == ("send_back orders", SpanKind.CLIENT)
    assert attributes(settle)["messaging.operation.type"] == "settle"
    assert settle.parent is not None
    assert f"{settle.parent.span_id:016x}" == SPAN


async def test_popped_messages_are_settled_in_their_trace(autojump_clock: object) -> None:
    it = Telemetry(background_spans=True)

    async def handle(_: object) -> None:
        await trio.lowlevel.checkpoint()

    async with consumer_fakes.world(hooks=[it.hook]) as (network, client):
        with_messages(network, traceparent=PARENT)
        async with open_pop_consumer(client, "g", {"orders": "*"}, handle):
            await trio.sleep(1)
    receive, process, settle = it.spans
    assert [receive.name, process.name, settle.name] == [
        *("pop orders", "process orders", "ack orders"),
    ]
    assert [attributes(one)["messaging.operation.type"] for one in (receive, settle)] == [
        *("receive", "settle"),
    ]
    assert receive.parent is None
    assert [f"{link.context.trace_id:032x}" for link in receive.links] == [TRACE]
    for span in (process, settle):
        assert span.parent is not None
        assert f"{span.parent.trace_id:032x}" == TRACE
    operations = it.points("messaging.client.operation.duration")
    names = {series["messaging.operation.name"] for series, _ in operations}
    assert names == {"pop", "ack"}


async def test_commits_of_an_application_are_settlements_in_its_trace(
    autojump_clock: object,
) -> None:
    it = Telemetry()
    async with consumer_fakes.world(hooks=[it.hook]) as (network, client):
        with_messages(network, traceparent=PARENT)
        async with open_lite_pull_consumer(client, "g", config=MANUAL) as consumer:
            consumer.subscribe("orders")
            batch = await consumer.poll(10)
            assert batch is not None
            with it.tracers.get_tracer("application").start_as_current_span("order") as outer:
                await consumer.commit()
    _, commit, _ = it.spans
    assert (commit.name, commit.kind) == ("commit orders", SpanKind.CLIENT)
    assert commit.parent == outer.get_span_context()
    assert attributes(commit) == {
        "messaging.system": "rocketmq",
        "messaging.operation.name": "commit",
        "messaging.operation.type": "settle",
        "messaging.destination.name": "orders",
        "messaging.destination.partition.id": str(batch.message_queue.queue_id),
        "messaging.client.id": "1.1.1.1@i",
        "messaging.consumer.group.name": "g",
        "server.address": "10.0.0.2",
        "server.port": 10911,
    }


@pytest.mark.parametrize("background_spans", [True, False])
async def test_commits_in_the_background_have_spans_if_they_shall(
    background_spans: bool, autojump_clock: object
) -> None:
    it = Telemetry(background_spans=background_spans)

    async def handle(*_: object) -> None:
        await trio.lowlevel.checkpoint()

    async with consumer_fakes.world(hooks=[it.hook]) as (network, client):
        with_messages(network, traceparent=PARENT)
        async with open_push_consumer(client, "g", {"orders": "*"}, handle):
            await trio.sleep(1)
    commits = [span for span in it.spans if span.name == "commit orders"]
    assert len(commits) == background_spans
    assert all(span.parent is None for span in commits)


async def test_a_poll_has_a_span_and_counts_its_messages(autojump_clock: object) -> None:
    it = Telemetry()
    async with consumer_fakes.world(hooks=[it.hook]) as (network, client):
        with_messages(network, count=2, traceparent=PARENT)
        async with open_lite_pull_consumer(client, "g") as consumer:
            consumer.subscribe("orders")
            polled = await consumer.poll(10)
    assert polled is not None
    (span,) = it.spans
    assert (span.name, len(span.links)) == ("poll orders", 2)
    assert [count for _, count in it.points("messaging.client.consumed.messages")] == [2]
    parent = trace.get_current_span(it.hook.context_of(polled.messages[0])).get_span_context()
    assert f"{parent.trace_id:032x}" == TRACE


async def test_a_context_that_is_invalid_is_none() -> None:
    it = Telemetry()
    for text in ("", "nonsense", f"ff-{TRACE}-{SPAN}-01"):
        message = StoredMessage(topic="T", body=b"x", properties={"traceparent": text})
        assert trace.get_current_span(it.hook.context_of(message)) is trace.INVALID_SPAN
    assert not it.hook.context_of(StoredMessage(topic="T", body=b"x"))
