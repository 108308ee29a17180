"""Contexts in message properties are written and read as by the propagators."""

from typing import Any

import pytest
from opentelemetry import baggage, context, propagate, trace
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, TraceState

from rocketwire.client.telemetry.attributes import server_attributes
from rocketwire.client.telemetry.otel import Key, Links, MessageContexts, Series, find_series
from rocketwire.wire.message.stored import StoredMessage

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
USUAL = propagate.get_global_textmap()


@pytest.mark.parametrize("flags", [0, 1, 3])
@pytest.mark.parametrize("state", [[], [("vendor", "1")]], ids=["no_state", "state"])
@pytest.mark.parametrize("has_baggage", [False, True], ids=["alone", "baggage"])
def test_properties_are_written_as_by_the_propagator(
    flags: int, state: list[tuple[str, str]], has_baggage: bool
) -> None:
    ids = SpanContext(2**127 + 5, 7, False, TraceFlags(flags), TraceState(state))
    span = NonRecordingSpan(ids)
    token = context.attach(baggage.set_baggage("shop", "1") if has_baggage else context.Context())
    try:
        expected: Any = {}
        USUAL.inject(expected, trace.set_span_in_context(span))
        assert MessageContexts(USUAL).carrier(span) == expected
    finally:
        context.detach(token)


@pytest.mark.parametrize(
    "properties",
    [
        *({"traceparent": PARENT}, {"traceparent": PARENT[:-2] + "00"}),
        *({"traceparent": PARENT[:-2] + "03"}, {"traceparent": PARENT, "tracestate": "vendor=1"}),
        *({"traceparent": PARENT, "baggage": "shop=1"}, {"traceparent": f" {PARENT} "}),
        *({"traceparent": PARENT.upper()}, {"traceparent": "01" + PARENT[2:]}),
        *({"traceparent": "ff" + PARENT[2:]}, {"traceparent": "00-" + 32 * "0" + PARENT[35:]}),
        *({"traceparent": PARENT + "-more"}, {"traceparent": ""}, {"tracestate": "vendor=1"}, {}),
        None,
    ],
)
def test_contexts_are_read_as_by_the_propagator(properties: dict[str, str | None] | None) -> None:
    message = StoredMessage(topic="T", body=b"x", properties=properties)
    contexts = MessageContexts(USUAL)
    by_propagator = USUAL.extract(
        {name: value for name, value in (properties or {}).items() if value is not None},
        context.Context(),
    )
    expected = trace.get_current_span(by_propagator).get_span_context()

    read, link = contexts.read(message), contexts.link(message)

    ids = trace.get_current_span(read).get_span_context()
    assert ids == expected
    assert ids.is_remote == expected.is_remote
    assert ids.trace_state == expected.trace_state
    assert baggage.get_all(read) == baggage.get_all(by_propagator)
    assert (link is not None) == expected.is_valid
    if link is not None:
        assert link.context == expected
        assert link.context.trace_state == expected.trace_state


def test_links_are_created_when_they_are_read() -> None:
    created: list[StoredMessage] = []

    def create(message: StoredMessage) -> None:
        created.append(message)

    links = Links([StoredMessage(topic="T", body=b"x")], create)
    assert links
    assert created == []
    assert list(links) == []
    assert len(links) == 0
    assert len(created) == 1
    assert not Links([], create)


def find(all_series: dict[Key, Series], topic: str, error: str | None = None) -> Series:
    return find_series(all_series, "send", "send", topic, None, "10.0.0.2:10911", error)


def test_equal_attributes_are_one_series() -> None:
    all_series: dict[Key, Series] = {}

    assert find(all_series, "T") is find(all_series, "T")
    assert find(all_series, "T", "SYSTEM_BUSY") is not find(all_series, "T")
    assert [series.attributes.get("error.type") for series in all_series.values()] == [
        None,
        "SYSTEM_BUSY",
    ]


def test_an_unknown_broker_has_no_address() -> None:
    assert server_attributes(None) == {}
    assert server_attributes("[::1]:10911") == {"server.address": "::1", "server.port": 10911}
