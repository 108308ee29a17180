"""Contexts of OpenTelemetry in the properties of messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, cast

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.propagators.textmap import default_getter, default_setter
from opentelemetry.trace import Link

if TYPE_CHECKING:
    from opentelemetry.propagators.textmap import Getter, Setter, TextMapPropagator
    from opentelemetry.trace import Span

    from rocketwire.wire.message.stored import StoredMessage

NO_CONTEXT: Final = Context()

_GETTER: Final = cast("Getter[Mapping[str, str | None]]", default_getter)
_SETTER: Final = cast("Setter[dict[str, str]]", default_setter)


class MessageContexts:
    """Writes and reads contexts in the format of a propagator."""

    def __init__(self, propagator: TextMapPropagator) -> None:
        self._propagator = propagator
        self._fields = frozenset(propagator.fields)

    def read(self, message: StoredMessage) -> Context:
        """Return the context in a message; empty if there is none."""
        properties = message.properties
        if not properties or self._fields.isdisjoint(properties):
            return NO_CONTEXT
        return self._propagator.extract(properties, NO_CONTEXT, _GETTER)

    def link(self, message: StoredMessage) -> Link | None:
        """Return a link to a message; None if it has no context."""
        ids = trace.get_current_span(self.read(message)).get_span_context()
        return Link(ids) if ids.is_valid else None

    def carrier(self, span: Span) -> dict[str, str]:
        """Return the properties that carry the context of a span."""
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
