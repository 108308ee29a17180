"""Spans, metrics and contexts of ``OpenTelemetryHook``, collected in memory by the SDK."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import pytest
import trio
from opentelemetry import baggage, context, trace
from opentelemetry.propagators.textmap import TextMapPropagator
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
from rocketwire.client.telemetry.otel import MAX_LINKS, MAX_SERIES, error_type
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, IllegalMessageError, SendFailedError
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.testing import reply
from rocketwire.wire.message.properties import decode_properties
from rocketwire.wire.message.stored import StoredMessage
from tests.support.fakes import producer_fakes
from tests.support.fakes.consumer_fakes import bring_messages, ignore, make_messages, world
from tests.support.telemetry import Telemetry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from opentelemetry.sdk.trace import ReadableSpan

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
PARENT = f"00-{TRACE}-{SPAN}-01"
SERVER = {"server.address": "10.0.0.2", "server.port": 10911}
SENT, TIMED = "messaging.client.sent.messages", "messaging.client.operation.duration"


@pytest.fixture
def telemetry() -> Telemetry:
    return Telemetry()


def attributes_of(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def describe(operation: str, operation_type: str, topic: str, **extra: object) -> dict[str, object]:
    """The attributes that spans and series of an operation have."""
    return {
        "messaging.system": "rocketmq",
        "messaging.operation.name": operation,
        "messaging.operation.type": operation_type,
        "messaging.destination.name": topic,
        **extra,
        **SERVER,
    }


def traceparent_of(span: ReadableSpan) -> str:
    ids = span.get_span_context()
    assert ids is not None
    return f"00-{ids.trace_id:032x}-{ids.span_id:016x}-{ids.trace_flags:02x}"


def ids_of_parent(span: ReadableSpan) -> tuple[str, str]:
    assert span.parent is not None
    return f"{span.parent.trace_id:032x}", f"{span.parent.span_id:016x}"


# ---------------------------------------------------------------------- sends


async def send(hook: OpenTelemetryHook, message: Message, **client: Any) -> dict[str, str]:
    """Send a message; returns its properties as the broker gets them."""
    settings = {"hooks": [hook], **client}
    async with producer_fakes.world(client=settings, brokers=("a",)) as opened:
        await opened.producer.send(message)
        return decode_properties((opened.sent()[0].ext_fields or {})["i"])


async def test_a_send_has_a_span_whose_context_is_in_the_message(telemetry: Telemetry) -> None:
    message = Message("T", b"x", tags="red", keys=("k1", "k2"), properties={"own": "1"})
    properties = await send(telemetry.hook, message)
    (span,) = telemetry.spans()

    assert (span.name, span.kind, span.parent) == ("send T", SpanKind.PRODUCER, None)
    assert (properties["own"], properties["traceparent"]) == ("1", traceparent_of(span))
    assert message.properties == {"own": "1"}
    attributes = attributes_of(span)
    assert attributes.pop("messaging.destination.partition.id") in ("0", "1")
    assert attributes.pop("messaging.message.id") == properties["UNIQ_KEY"]
    details = {
        "messaging.client.id": "1.1.1.1@i",
        "messaging.rocketmq.message.tag": "red",
        "messaging.rocketmq.message.keys": ("k1", "k2"),
        "messaging.rocketmq.message.type": "normal",
    }
    assert attributes == describe("send", "send", "T") | details
    assert telemetry.points(SENT) == [(describe("send", "send", "T"), 1)]
    assert telemetry.points(TIMED) == telemetry.points(SENT)


async def test_a_send_continues_the_span_of_the_application(telemetry: Telemetry) -> None:
    with telemetry.tracer.start_as_current_span("order") as outer:
        await send(telemetry.hook, Message("T", b"x"))
    assert telemetry.spans()[0].parent == outer.get_span_context()


@pytest.mark.parametrize(
    "delay", ["delay_level", "delay_seconds", "delay_millis", "deliver_millis"]
)
def test_the_context_changes_nothing_else_of_a_message(delay: str) -> None:
    extra: dict[str, Any] = {"sharding_key": "s", "system": {"UNIQ_KEY": "u"}, delay: 4}
    message = Message("T", b"x", "t", ("k",), 3, {"own": "1"}, False, **extra)
    values = [getattr(message, field.name) for field in fields(message)]
    defaults = [field.default for field in fields(message)]
    assert sum(value == default for value, default in zip(values, defaults, strict=True)) == 3
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
    state = trace.TraceState([("vendor", "1")])
    parent = trace.SpanContext(int(TRACE, 16), int(SPAN, 16), True, trace.TraceFlags(1), state)
    parent_context = trace.set_span_in_context(trace.NonRecordingSpan(parent))
    token = context.attach(baggage.set_baggage("shop", "7", parent_context))
    try:
        properties = await send(Telemetry().hook, Message("T", b"x"))
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
async def test_a_span_has_the_type_of_its_message(
    telemetry: Telemetry, message: Message, expected: dict[str, object]
) -> None:
    await send(telemetry.hook, message)
    attributes = attributes_of(telemetry.spans()[0]).items()
    prefix = "messaging.rocketmq.message."
    assert {n.removeprefix(prefix): v for n, v in attributes if n.startswith(prefix)} == expected


async def test_spans_of_transactions_and_batches(telemetry: Telemetry) -> None:
    async with producer_fakes.world(client={"hooks": [telemetry.hook]}) as opened:
        await opened.producer.send_in_transaction(
            Message("T", b"x"), lambda _message, _result: LocalTransactionState.COMMIT_MESSAGE
        )
        await opened.producer.send_batch([Message("T", b"x"), Message("T", b"y")])
        (request,) = (sent for sent in opened.sent() if sent.code == Code.SEND_BATCH_MESSAGE)
    half, batch = telemetry.spans()
    assert attributes_of(half)["messaging.rocketmq.message.type"] == "transaction"
    assert (request.body or b"").count(traceparent_of(batch).encode()) == 2
    assert attributes_of(batch)["messaging.batch.message_count"] == 2
    assert "messaging.message.id" not in attributes_of(batch)
    assert telemetry.count(SENT) == 3


async def test_a_refused_send_has_the_code_of_the_broker(telemetry: Telemetry) -> None:
    async with producer_fakes.world(
        client={"hooks": [telemetry.hook]}, brokers=("a",), retry_interval=0
    ) as opened:
        opened.a.on(Code.SEND_MESSAGE_V2, reply(code=ResponseCode.NO_PERMISSION, remark="no"))
        with pytest.raises(SendFailedError):
            await opened.producer.send(Message("T", b"x"))
    (span,) = telemetry.spans()
    assert attributes_of(span)["error.type"] == "NO_PERMISSION"
    assert span.status.status_code is StatusCode.ERROR
    assert [event.name for event in span.events] == ["exception"]
    ((series, count),) = telemetry.points(SENT)
    assert (series["error.type"], count) == ("NO_PERMISSION", 1)


async def test_an_invalid_message_was_not_sent(telemetry: Telemetry) -> None:
    with pytest.raises(IllegalMessageError):
        await send(telemetry.hook, Message("T", b""))
    assert attributes_of(telemetry.spans()[0])["error.type"] == "IllegalMessageError"
    assert telemetry.points(SENT) == []


async def test_topics_in_spans_have_no_namespace(telemetry: Telemetry) -> None:
    await send(telemetry.hook, Message("T", b"x"), namespace="n")
    span = telemetry.spans()[0]
    assert span.name == "send T"
    assert attributes_of(span)["messaging.rocketmq.namespace"] == "n"


@pytest.mark.parametrize("words", ["messaging/dup", "http, messaging/dup"])
async def test_the_names_of_java_s_instrumentation_are_added_on_request(words: str) -> None:
    telemetry = Telemetry(environment={"OTEL_SEMCONV_STABILITY_OPT_IN": words})
    await send(telemetry.hook, Message("T", b"x"))
    actual = attributes_of(telemetry.spans()[0])
    assert actual["messaging.operation"] == "publish"
    assert actual["messaging.operation.type"] == "send"
    assert actual["messaging.rocketmq.client_group"] == "pg"


async def test_without_an_sdk_messages_are_not_changed() -> None:
    hook = OpenTelemetryHook(tracer_provider=trace.NoOpTracerProvider(), environment={})
    assert set(await send(hook, Message("T", b"x"))) == {"UNIQ_KEY", "WAIT"}


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
    hook = Telemetry(propagator=Foreign()).hook
    assert (await send(hook, Message("T", b"x")))["foreign"] == "f"
    message = StoredMessage(topic="T", body=b"x", properties={"foreign": "f"})
    assert baggage.get_baggage("foreign", hook.context_of(message)) == "f"
    assert not hook.context_of(make_messages(traceparent=PARENT)[0])


def test_the_type_of_an_error_has_few_values() -> None:
    refused = BrokerError(2, "busy", 10, "b:1")
    failed = SendFailedError("T", ("a", "b"))
    assert error_type(refused) == "SYSTEM_BUSY"
    assert error_type(BrokerError(9999, "", 10, "b:1")) == "9999"
    assert error_type(failed) == "SendFailedError"
    failed.__cause__ = refused
    assert error_type(failed) == "SYSTEM_BUSY"
    assert error_type(ValueError("x")) == "ValueError"


def test_topics_beyond_the_limit_are_counted_together(telemetry: Telemetry) -> None:
    for number in range(MAX_SERIES + 100):
        sent = SendMessageContext(Client(), "g", [Message(f"T{number}", b"x")])
        telemetry.hook.send_message_after(sent, telemetry.hook.send_message_before(sent))
    points = telemetry.points(SENT)
    counts = {series.get("messaging.destination.name"): count for series, count in points}
    assert counts.pop(None) == 100
    assert counts == {f"T{number}": 1 for number in range(MAX_SERIES)}


@pytest.mark.parametrize("count", [MAX_LINKS, MAX_LINKS + 1])
def test_a_call_is_linked_to_its_first_messages(telemetry: Telemetry, count: int) -> None:
    queue = MessageQueue(topic="T", broker_name="b", queue_id=0)
    call = ConsumeMessageContext(Client(), "g", queue, make_messages(count, traceparent=PARENT))
    telemetry.hook.consume_message_after(call, telemetry.hook.consume_message_before(call))
    assert len(telemetry.spans()[0].links) == MAX_LINKS


# ---------------------------------------------------------------------- consumers


async def consume(
    telemetry: Telemetry,
    messages: Sequence[StoredMessage],
    handler: Any = ignore,
    *,
    batch: int = 1,
    **client: Any,
) -> list[ReadableSpan]:
    """Let a push consumer handle messages; returns the spans."""
    config = PushConsumerConfig(consume_message_batch_max_size=batch)
    async with world(hooks=[telemetry.hook], **client) as (network, opened):
        bring_messages(network, messages)
        async with open_push_consumer(opened, "g", {"orders": "*"}, handler, config=config):
            await trio.sleep(1)
    return telemetry.spans()


async def test_a_handler_continues_a_trace(telemetry: Telemetry, autojump_clock: object) -> None:
    contexts: list[trace.SpanContext] = []

    async def handle(*_: object) -> None:
        await trio.lowlevel.checkpoint()
        contexts.append(trace.get_current_span().get_span_context())

    messages = make_messages(traceparent=PARENT, TAGS="red", KEYS="k1 k2")
    (span,) = await consume(telemetry, messages, handle)

    assert (span.name, span.kind) == ("process orders", SpanKind.CONSUMER)
    assert ids_of_parent(span) == (TRACE, SPAN)
    assert span.parent is not None
    assert span.parent.is_remote
    assert contexts == [span.get_span_context()]
    assert trace.get_current_span() is trace.INVALID_SPAN
    details = {
        "messaging.destination.partition.id": "0",
        "messaging.client.id": "1.1.1.1@i",
        "messaging.consumer.group.name": "g",
        "messaging.message.id": "ID0",
        "messaging.rocketmq.message.tag": "red",
        "messaging.rocketmq.message.keys": ("k1", "k2"),
    }
    assert attributes_of(span) == describe("process", "process", "orders") | details
    ((series, count),) = telemetry.points("messaging.process.duration")
    assert (series["messaging.consumer.group.name"], count) == ("g", 1)
    assert telemetry.points("messaging.client.consumed.messages") == [(series, 1)]
    operations = telemetry.points(TIMED)
    assert {series["messaging.operation.name"] for series, _ in operations} == {"pull", "commit"}


async def test_consumers_have_no_namespace(telemetry: Telemetry, autojump_clock: object) -> None:
    (span,) = await consume(telemetry, make_messages(topic="n%orders"), namespace="n")
    (series, _), *_ = telemetry.points("messaging.process.duration")
    assert span.name == "process orders"
    names = ("messaging.destination.name", "messaging.consumer.group.name")
    for values in (series, attributes_of(span)):
        assert [values[name] for name in names] == ["orders", "g"]


async def test_a_call_can_begin_a_trace(telemetry: Telemetry, autojump_clock: object) -> None:
    with telemetry.tracer.start_as_current_span("the whole program"):
        spans = await consume(telemetry, make_messages())
    assert spans[0].parent is None


async def test_a_call_with_several_messages_is_linked_to_them(autojump_clock: object) -> None:
    (span,) = await consume(Telemetry(), make_messages(3, traceparent=PARENT), batch=3)
    assert span.parent is None
    assert [f"{link.context.span_id:016x}" for link in span.links] == [SPAN] * 3
    assert attributes_of(span)["messaging.batch.message_count"] == 3


@pytest.mark.parametrize("outcome", [ConsumeConcurrentlyStatus.RECONSUME_LATER, ValueError("x")])
async def test_a_failed_call_has_an_error_type(autojump_clock: object, outcome: Any) -> None:
    async def handle(*_: object) -> Any:
        await trio.lowlevel.checkpoint()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    process, settle = await consume(Telemetry(), make_messages(traceparent=PARENT), handle)
    error_type_name = "ValueError" if isinstance(outcome, Exception) else "RECONSUME_LATER"
    assert attributes_of(process)["error.type"] == error_type_name
    assert process.status.status_code is StatusCode.ERROR
    assert (settle.name, settle.kind) == ("send_back orders", SpanKind.CLIENT)
    assert attributes_of(settle)["messaging.operation.type"] == "settle"
    assert ids_of_parent(settle)[1] == SPAN


async def test_popped_messages_are_settled_in_their_trace(autojump_clock: object) -> None:
    telemetry = Telemetry(background_spans=True)
    async with world(hooks=[telemetry.hook]) as (network, client):
        bring_messages(network, make_messages(traceparent=PARENT))
        async with open_pop_consumer(client, "g", {"orders": "*"}, ignore):
            await trio.sleep(1)
    receive, process, settle = spans = telemetry.spans()
    assert [span.name for span in spans] == ["pop orders", "process orders", "ack orders"]
    kinds = [attributes_of(span)["messaging.operation.type"] for span in (receive, settle)]
    assert kinds == ["receive", "settle"]
    assert receive.parent is None
    assert not settle.links
    assert [f"{link.context.trace_id:032x}" for link in receive.links] == [TRACE]
    assert ids_of_parent(process)[0] == ids_of_parent(settle)[0] == TRACE
    names = {series["messaging.operation.name"] for series, _ in telemetry.points(TIMED)}
    assert names == {"pop", "ack"}


async def test_commits_belong_to_the_trace(telemetry: Telemetry, autojump_clock: object) -> None:
    config = LitePullConsumerConfig(auto_commit=False)
    async with world(hooks=[telemetry.hook]) as (network, client):
        bring_messages(network, make_messages(traceparent=PARENT))
        async with open_lite_pull_consumer(client, "g", config=config) as consumer:
            consumer.subscribe("orders")
            batch = await consumer.poll(10)
            assert batch is not None
            with telemetry.tracer.start_as_current_span("order") as outer:
                await consumer.commit()
    _, commit, _ = telemetry.spans()
    assert (commit.name, commit.kind) == ("commit orders", SpanKind.CLIENT)
    assert commit.parent == outer.get_span_context()
    details = {
        "messaging.destination.partition.id": str(batch.message_queue.queue_id),
        "messaging.client.id": "1.1.1.1@i",
        "messaging.consumer.group.name": "g",
    }
    assert attributes_of(commit) == describe("commit", "settle", "orders") | details


@pytest.mark.parametrize("background_spans", [True, False])
async def test_background_commits_may_have_spans(
    autojump_clock: object, background_spans: bool
) -> None:
    telemetry = Telemetry(background_spans=background_spans)
    await consume(telemetry, make_messages(traceparent=PARENT))
    commits = telemetry.spans("commit orders")
    assert [span.parent for span in commits] == [None] * background_spans


async def test_a_poll_has_a_span_and_a_count(telemetry: Telemetry, autojump_clock: object) -> None:
    async with world(hooks=[telemetry.hook]) as (network, client):
        bring_messages(network, make_messages(2, traceparent=PARENT))
        async with open_lite_pull_consumer(client, "g") as consumer:
            consumer.subscribe("orders")
            polled = await consumer.poll(10)
    assert polled is not None
    (span,) = telemetry.spans()
    assert (span.name, len(span.links)) == ("poll orders", 2)
    assert telemetry.count("messaging.client.consumed.messages") == 2
    span_of_message = trace.get_current_span(telemetry.hook.context_of(polled.messages[0]))
    assert f"{span_of_message.get_span_context().trace_id:032x}" == TRACE
