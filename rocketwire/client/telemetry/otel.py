"""``OpenTelemetryHook``: spans and metrics of a client, and trace contexts in message properties.

A producer writes the context of its span into user properties (``traceparent``, ``tracestate``), as
Java's instrumentation does; the span of the handler continues that trace.

Only the API of OpenTelemetry is needed here (extra ``otel``); an SDK of the application decides
what happens with spans and metrics. Names: ``semantic_conventions``.

Java: ``io.opentelemetry.instrumentation.rocketmqclient.v4_8`` (``TracingSendMessageHookImpl``,
``TracingConsumeMessageHookImpl``).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, partial
from random import random
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, cast

from opentelemetry import context as context_api
from opentelemetry import metrics, propagate, trace
from opentelemetry.context import Context
from opentelemetry.metrics import Observation
from opentelemetry.propagators.textmap import default_getter, default_setter
from opentelemetry.trace import Link, SpanKind, Status, StatusCode

from rocketwire import __version__
from rocketwire.client.hooks import ClientHook
from rocketwire.client.message import Message
from rocketwire.client.telemetry import semantic_conventions as names
from rocketwire.client.telemetry.attributes import (
    message_attributes,
    server_attributes,
    stored_attributes,
)
from rocketwire.errors import BrokerError, IllegalValueError, LocalProtocolError, SendFailedError
from rocketwire.policy.resource_names import without_namespace

if TYPE_CHECKING:
    from contextvars import Token

    from opentelemetry.metrics import CallbackOptions, Histogram, MeterProvider
    from opentelemetry.propagators.textmap import Getter, Setter, TextMapPropagator
    from opentelemetry.trace import Span, TracerProvider

    from rocketwire.client.hooks import (
        CommitOffsetContext,
        ConsumeMessageContext,
        HookedClient,
        OperationContext,
        ReceiveMessageContext,
        SendMessageContext,
        SettleMessageContext,
    )
    from rocketwire.client.telemetry.attributes import Attributes
    from rocketwire.wire.message.stored import StoredMessage

MAX_LINKS: Final = 128  # maximum links of a span to messages (the default limit of SDKs)
# Values of ``MESSAGING_OPERATION`` by operation type
_OLD_OPERATIONS: Final = {"send": "publish", "process": "process", "receive": "receive"}


class _Operation(NamedTuple):
    span: Span
    started: float
    token: Token[Context] | None = None


NO_CONTEXT: Final = Context()

_GETTER: Final = cast("Getter[Mapping[str, str | None]]", default_getter)
_SETTER: Final = cast("Setter[dict[str, str]]", default_setter)


class MessageContexts:
    def __init__(self, propagator: TextMapPropagator) -> None:
        self._propagator = propagator
        self._fields = frozenset(propagator.fields)

    def read(self, message: StoredMessage) -> Context:
        properties = message.properties
        if not properties or self._fields.isdisjoint(properties):
            return NO_CONTEXT
        return self._propagator.extract(properties, NO_CONTEXT, _GETTER)

    def link(self, message: StoredMessage) -> Link | None:
        ids = trace.get_current_span(self.read(message)).get_span_context()
        return Link(ids) if ids.is_valid else None

    def carrier(self, span: Span) -> dict[str, str]:
        carrier: dict[str, str] = {}
        self._propagator.inject(carrier, trace.set_span_in_context(span), _SETTER)
        return carrier


class Links(Sequence[Link]):
    """Links to messages; a span that is not recorded reads none of them."""

    def __init__(
        self, messages: Sequence[StoredMessage], create: Callable[[StoredMessage], Link | None]
    ) -> None:
        self._messages = messages
        self._create = create

    @cached_property
    def _links(self) -> list[Link]:
        return [link for link in map(self._create, self._messages) if link is not None]

    def __bool__(self) -> bool:
        return bool(self._messages)

    def __len__(self) -> int:
        return len(self._links)

    def __getitem__(self, index: Any) -> Any:
        return self._links[index]


# Maximum series of a metric, for topics, groups, brokers and errors; others are one series
MAX_SERIES: Final = 1024
_OVERFLOW: Final = "otel.metric.overflow"  # attribute of the series for all others, as in SDKs

Key: TypeAlias = tuple[str | None, ...]


@dataclass(slots=True, eq=False)
class Series:
    attributes: Attributes
    messages: int = 0


def find_series(
    all_series: dict[Key, Series],
    operation: str,
    kind: str,
    topic: str,
    group: str | None,
    address: str | None,
    error: str | None,
) -> Series:
    key = (operation, topic, group, address, error)
    series = all_series.get(key)
    if series is not None:
        return series
    attributes: Attributes = {
        names.MESSAGING_SYSTEM: names.ROCKETMQ,
        names.MESSAGING_OPERATION_NAME: operation,
        names.MESSAGING_OPERATION_TYPE: kind,
    }
    if len(all_series) >= MAX_SERIES:
        attributes[_OVERFLOW] = True
        return all_series.setdefault((operation,), Series(attributes))
    attributes[names.MESSAGING_DESTINATION_NAME] = topic
    attributes.update(server_attributes(address))
    if group is not None:
        attributes[names.MESSAGING_CONSUMER_GROUP_NAME] = group
    if error is not None:
        attributes[names.ERROR_TYPE] = error
    series = all_series[key] = Series(attributes)
    return series


def observe(all_series: dict[Key, Series], _: CallbackOptions) -> Iterable[Observation]:
    return [Observation(one.messages, one.attributes) for one in list(all_series.values())]


class OpenTelemetryHook(ClientHook):
    """Reports a client to OpenTelemetry; pass it in ``ClientConfig.hooks``.

    Spans: ``send``, ``process``, ``receive`` (of ``poll``), and of settlements ``ack``,
    ``change_invisible_time``, ``send_back`` and ``commit`` (of a lite pull consumer); with
    ``background_spans`` also of pulls, pops and commits in the background.
    """

    is_thread_safe = True

    def __init__(
        self,
        *,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        propagator: TextMapPropagator | None = None,
        background_spans: bool = False,
        durations: float = 1.0,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        """Create a hook for any number of clients.

        Raises:
            IllegalValueError: ``durations`` is not between 0 and 1.

        Args:
            tracer_provider: creates spans; None for the global provider.
            meter_provider: creates instruments; None for the global provider.
            propagator: format of contexts in messages; None for the global one, by default
                ``tracecontext,baggage``.
            background_spans: create a span also for what no application waits for: each pull and
                pop that brought messages or failed, and each commit of an offset.
            durations: share of the operations whose durations are recorded, chosen at random; an
                SDK takes longer for a duration than for a span without attributes. The counters of
                messages count all.
            environment: source of ``OTEL_SEMCONV_STABILITY_OPT_IN``.
        """
        if not 0 <= durations <= 1:
            raise IllegalValueError(f"durations: {durations}: must be between 0 and 1")
        self._durations = durations
        self._lock = Lock()
        self._tracer = trace.get_tracer(
            "rocketwire", __version__, tracer_provider, schema_url=names.SCHEMA_URL
        )
        meter = metrics.get_meter(
            "rocketwire", __version__, meter_provider, schema_url=names.SCHEMA_URL
        )

        def durations_of(name: str, text: str) -> Histogram:
            buckets = names.DURATION_BUCKETS
            return meter.create_histogram(
                name, "s", text, explicit_bucket_boundaries_advisory=buckets
            )

        def count(name: str, text: str) -> dict[Key, Series]:
            # counted here: an SDK takes ten times as long to count a message
            series: dict[Key, Series] = {}
            meter.create_observable_counter(name, [partial(observe, series)], "{message}", text)
            return series

        self._duration = durations_of(
            names.MESSAGING_CLIENT_OPERATION_DURATION,
            "Duration of messaging operation initiated by a producer or consumer client.",
        )
        self._process_duration = durations_of(
            names.MESSAGING_PROCESS_DURATION, "Duration of processing operation."
        )
        self._sent = count(
            names.MESSAGING_CLIENT_SENT_MESSAGES,
            "Number of messages producer attempted to send to the broker.",
        )
        self._consumed = count(
            names.MESSAGING_CLIENT_CONSUMED_MESSAGES,
            "Number of messages that were delivered to the application.",
        )
        self._contexts = MessageContexts(propagator or propagate.get_global_textmap())
        self._background_spans = background_spans
        words = environment.get(names.STABILITY_OPT_IN, "").split(",")
        self._has_old_names = names.MESSAGING_DUP in (word.strip() for word in words)
        self._span_attributes: dict[Key, Attributes] = {}
        self._received: dict[Key, Series] = {}

    def context_of(self, message: StoredMessage) -> Context:
        """Return the context that a producer wrote into a message; empty if there is none.

        For messages that the application takes itself, with ``poll`` or ``async for``.
        """
        return self._contexts.read(message)

    # ------------------------------------------------------------------ sends

    def send_message_before(self, context: SendMessageContext) -> object:
        messages = context.messages
        topic = messages[0].topic
        attributes = self._span_base(context.client, "send", "send", topic, context.producer_group)
        started = perf_counter()
        span = self._tracer.start_span(f"send {topic}", None, SpanKind.PRODUCER, attributes)
        if span.get_span_context().is_valid and (carrier := self._contexts.carrier(span)):
            context.messages = [_with_properties(message, carrier) for message in messages]
        return _Operation(span, started)

    def send_message_after(self, context: SendMessageContext, state: object) -> None:
        span, started, _ = cast("_Operation", state)
        seconds = perf_counter() - started
        error, result = context.exception, context.send_result
        address: str | None = None
        if result is not None:
            queue = result.message_queue
            address = context.client.broker_address(queue.broker_name or "")
        if span.is_recording():
            details = message_attributes(context.messages)
            if result is not None:
                if len(context.messages) == 1:
                    details[names.MESSAGING_MESSAGE_ID] = result.msg_id
                queue_id = str(result.message_queue.queue_id)
                details[names.MESSAGING_DESTINATION_PARTITION_ID] = queue_id
            span.set_attributes(details | server_attributes(address))
        kind = None if error is None else error_type(error)
        _end(span, error, kind)
        if not isinstance(error, LocalProtocolError):
            topic = context.messages[0].topic
            series = find_series(self._sent, "send", "send", topic, None, address, kind)
            self._measure(self._duration, series, seconds, len(context.messages))

    def _measure(self, durations: Histogram, series: Series, seconds: float, messages: int) -> None:
        if messages:
            with self._lock:
                series.messages += messages
        if self._durations == 1 or random() < self._durations:  # noqa: S311 - chooses samples
            durations.record(seconds, series.attributes)

    # ------------------------------------------------------------------ handler calls

    def consume_message_before(self, context: ConsumeMessageContext) -> object:
        messages, client = context.messages, context.client
        topic = _own_name(client, messages[0].topic)
        attributes = self._span_base(client, "process", "process", topic, context.consumer_group)
        started, seconds = perf_counter(), context.seconds
        # the span of messages that an application has handled begins in the past
        start_time = None if seconds is None else time.time_ns() - round(1e9 * seconds)
        parent, links = self._parent(messages)
        span = self._tracer.start_span(
            f"process {topic}", parent, SpanKind.CONSUMER, attributes, links, start_time
        )
        if span.is_recording():
            queue = context.message_queue
            address = client.broker_address(queue.broker_name or "")
            span.set_attributes(stored_attributes(messages) | server_attributes(address))
        if seconds is not None:
            return _Operation(span, started)
        token = context_api.attach(trace.set_span_in_context(span, parent))
        return _Operation(span, started, token)

    def consume_message_after(self, context: ConsumeMessageContext, state: object) -> None:
        span, started, token = cast("_Operation", state)
        seconds = context.seconds
        if seconds is None:
            seconds = perf_counter() - started
        if token is not None:
            context_api.detach(token)
        messages, client = context.messages, context.client
        error, kind = context.exception, None
        if error is not None:
            kind = error_type(error)
        elif context.successes < len(messages):
            status = context.status
            kind = status.name if isinstance(status, Enum) else "RECONSUME_LATER"
        _end(span, error, kind)
        topic = _own_name(client, messages[0].topic)
        group = _own_name(client, context.consumer_group)
        address = client.broker_address(context.message_queue.broker_name or "")
        series = find_series(self._consumed, "process", "process", topic, group, address, kind)
        self._measure(self._process_duration, series, seconds, len(messages))

    # ------------------------------------------------------------------ receives, settlements

    def receive_message_after(self, context: ReceiveMessageContext) -> None:
        is_poll = context.operation == "poll"  # of the application, within its own span
        self._report(
            context,
            "receive",
            linked=context.messages,
            in_background=not is_poll,
            all_series=self._consumed if is_poll else self._received,
            messages=len(context.messages),
        )

    def settle_message_after(self, context: SettleMessageContext) -> None:
        parent, links = self._parent(context.messages)
        self._report(context, "settle", parent=parent, linked=context.messages if links else ())

    def commit_offset_after(self, context: CommitOffsetContext) -> None:
        # it settles all messages before the offset
        queue_id = str(context.message_queue.queue_id)
        self._report(
            context,
            "settle",
            in_background=context.in_background,
            own={names.MESSAGING_DESTINATION_PARTITION_ID: queue_id},
        )

    def _report(
        self,
        context: OperationContext,
        kind: str,
        *,
        parent: Context | None = None,
        linked: Sequence[StoredMessage] = (),
        own: Attributes | None = None,
        in_background: bool = False,
        all_series: dict[Key, Series] | None = None,
        messages: int = 0,
    ) -> None:
        client, operation, error = context.client, context.operation, context.exception
        topic, group = _own_name(client, context.topic), context.consumer_group
        address = client.broker_address(context.broker_name)
        error_kind = None if error is None else error_type(error)
        if self._background_spans or not in_background:
            attributes = self._span_base(client, operation, kind, topic, group)
            ended = time.time_ns()
            span = self._tracer.start_span(
                f"{operation} {topic}",
                NO_CONTEXT if in_background else parent,
                SpanKind.CLIENT,
                attributes,
                self._links(linked),
                start_time=ended - round(context.seconds * 1e9),
            )
            if span.is_recording():
                own = stored_attributes(context.messages) if own is None else own
                span.set_attributes(own | server_attributes(address))
            _end(span, error, error_kind, ended)
        series = find_series(
            self._received if all_series is None else all_series,
            operation,
            kind,
            topic,
            _own_name(client, group),
            address,
            error_kind,
        )
        self._measure(self._duration, series, context.seconds, messages)

    # ------------------------------------------------------------------ contexts and attributes

    def _parent(self, messages: Sequence[StoredMessage]) -> tuple[Context, Sequence[Link]]:
        if len(messages) == 1:
            return self.context_of(messages[0]), ()
        return NO_CONTEXT, self._links(messages)

    def _links(self, messages: Sequence[StoredMessage]) -> Sequence[Link]:
        return Links(messages[:MAX_LINKS], self._contexts.link)

    def _span_base(
        self, client: HookedClient, operation: str, kind: str, topic: str, group: str
    ) -> Attributes:
        key = (client.client_id, operation, topic, group)
        cached = self._span_attributes.get(key)
        if cached is not None:
            return cached
        attributes: Attributes = {
            names.MESSAGING_SYSTEM: names.ROCKETMQ,
            names.MESSAGING_OPERATION_NAME: operation,
            names.MESSAGING_OPERATION_TYPE: kind,
            names.MESSAGING_DESTINATION_NAME: topic,
            names.MESSAGING_CLIENT_ID: client.client_id,
        }
        namespace = client.config.namespace or client.config.namespace_v2
        if namespace:
            attributes[names.MESSAGING_ROCKETMQ_NAMESPACE] = namespace
        group = _own_name(client, group)
        if kind != "send":
            attributes[names.MESSAGING_CONSUMER_GROUP_NAME] = group
        if self._has_old_names:
            attributes[names.MESSAGING_ROCKETMQ_CLIENT_GROUP] = group
            if kind in _OLD_OPERATIONS:
                attributes[names.MESSAGING_OPERATION] = _OLD_OPERATIONS[kind]
        if len(self._span_attributes) >= MAX_SERIES:
            self._span_attributes.clear()
        self._span_attributes[key] = attributes
        return attributes


def error_type(error: BaseException) -> str:
    """Return the value of ``error.type``: a response code of the broker, or the error's class."""
    if isinstance(error, SendFailedError) and error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, BrokerError):
        return getattr(error.code, "name", None) or str(int(error.code))
    return type(error).__qualname__


def _end(
    span: Span, error: BaseException | None, kind: str | None, ended: int | None = None
) -> None:
    if kind is not None and span.is_recording():
        span.set_attribute(names.ERROR_TYPE, kind)
        span.set_status(Status(StatusCode.ERROR, None if error is None else str(error)))
        if isinstance(error, Exception):
            span.record_exception(error)
    span.end(ended)


def _own_name(client: HookedClient, name: str) -> str:
    namespace = client.config.namespace
    return without_namespace(name, namespace) if namespace else name


def _with_properties(message: Message, carrier: Mapping[str, str]) -> Message:
    # returns the message with more properties, in a third of the time of replace
    return Message(
        message.topic,
        message.body,
        message.tags,
        message.keys,
        message.flag,
        {**message.properties, **carrier},
        message.wait_store_msg_ok,
        message.delay_level,
        message.delay_seconds,
        message.delay_millis,
        message.deliver_millis,
        message.sharding_key,
        message.system,
    )
