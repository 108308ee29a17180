"""Contexts of OpenTelemetry in the properties of messages.

The format of W3C, which is the usual one, is written and read here: that takes a quarter of the
time of the propagators. Others write and read every other format.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, cast, overload

from opentelemetry import baggage, trace
from opentelemetry.context import Context
from opentelemetry.propagators.textmap import default_getter, default_setter
from opentelemetry.trace import Link, NonRecordingSpan, SpanContext, TraceFlags

if TYPE_CHECKING:
    from opentelemetry.propagators.textmap import Getter, Setter, TextMapPropagator
    from opentelemetry.trace import Span

    from rocketwire.wire.message.stored import StoredMessage

NO_CONTEXT: Final = Context()

_GETTER: Final = cast("Getter[Mapping[str, str | None]]", default_getter)
_SETTER: Final = cast("Setter[dict[str, str]]", default_setter)
_TRACEPARENT: Final = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})").fullmatch
_W3C_FIELDS: Final = frozenset({"traceparent", "tracestate", "baggage"})


class MessageContexts:
    """Writes and reads contexts in the format of a propagator."""

    def __init__(self, propagator: TextMapPropagator) -> None:
        self._propagator = propagator
        self._fields = frozenset(propagator.fields)
        self._is_w3c = is_w3c(propagator)

    def read(self, message: StoredMessage) -> Context:
        """Return the context in a message; empty if there is none."""
        properties = message.properties
        if not properties or self._fields.isdisjoint(properties):
            return NO_CONTEXT
        if self._is_w3c and "tracestate" not in properties and "baggage" not in properties:
            ids = _ids(properties.get("traceparent"))
            if ids is not None:
                return trace.set_span_in_context(NonRecordingSpan(ids), NO_CONTEXT)
        return self._propagator.extract(properties, NO_CONTEXT, _GETTER)

    def link(self, message: StoredMessage) -> Link | None:
        """Return a link to a message; None if it has no context."""
        properties = message.properties
        if self._is_w3c and properties and "tracestate" not in properties:
            ids = _ids(properties.get("traceparent"))
            if ids is not None:
                return Link(ids)
        ids = trace.get_current_span(self.read(message)).get_span_context()
        return Link(ids) if ids.is_valid else None

    def carrier(self, span: Span, ids: SpanContext) -> dict[str, str]:
        """Return the properties that carry the context of a span, which has these ids."""
        if self._is_w3c and not ids.trace_state and not baggage.get_all():
            return {"traceparent": _traceparent(ids)}
        carrier: dict[str, str] = {}
        self._propagator.inject(carrier, trace.set_span_in_context(span), _SETTER)
        return carrier


def _ids(traceparent: str | None) -> SpanContext | None:
    # returns what the usual text of W3C says; None for others, which the propagator reads
    match = _TRACEPARENT(traceparent or "")
    if match is None:
        return None
    trace_id, span_id, flags = match.groups()
    ids = SpanContext(int(trace_id, 16), int(span_id, 16), True, TraceFlags(int(flags, 16)))
    return ids if ids.is_valid else None


def _traceparent(ids: SpanContext) -> str:
    return f"00-{ids.trace_id:032x}-{ids.span_id:016x}-{ids.trace_flags:02x}"


def is_w3c(propagator: TextMapPropagator) -> bool:
    """Return whether a propagator writes ``traceparent``, ``tracestate`` and ``baggage`` alone.

    Its properties are written and read here then.
    """
    if not {"traceparent", "tracestate"} <= propagator.fields <= _W3C_FIELDS:
        return False
    ids = SpanContext(0xABC, 0xDEF, False, TraceFlags(TraceFlags.SAMPLED))
    carrier: dict[str, str] = {}
    probe = trace.set_span_in_context(NonRecordingSpan(ids), Context())
    propagator.inject(carrier, probe, _SETTER)
    return carrier == {"traceparent": _traceparent(ids)}


class Links(Sequence[Link]):
    """Links to messages; a span that is not recorded reads none of them."""

    def __init__(
        self, messages: Sequence[StoredMessage], create: Callable[[StoredMessage], Link | None]
    ) -> None:
        self._messages = messages
        self._create = create
        self._links: list[Link] | None = None

    def _all(self) -> list[Link]:
        if self._links is None:
            links = map(self._create, self._messages)
            self._links = [link for link in links if link is not None]
        return self._links

    def __bool__(self) -> bool:
        return bool(self._messages)

    def __len__(self) -> int:
        return len(self._all())

    @overload
    def __getitem__(self, index: int) -> Link: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Link]: ...
    def __getitem__(self, index: int | slice) -> Link | Sequence[Link]:
        """Return a link, or some."""
        return self._all()[index]
