"""What a JSON text is read as, and how much of it."""

from __future__ import annotations

from typing import Final, TypeAlias

from rocketwire.wire.values.frozen import dataclass

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
"""What a JSON text is read as; keys are always text, see ``BareKey`` for those that stood without
quotes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonLimits:
    """How much a text may ask for.

    Attributes:
        max_size: length of the text in bytes.
        max_depth: levels of nesting; the strict path adds the limit of its own, 1024.
        max_count: values in the text.  Commas and brackets within strings are no values.
        max_odd_size: length in bytes of a text that is no strict JSON (maps whose keys are objects),
            or has to be read exactly, which takes up to a hundred times as long.
        max_odd_count: values in such a text.
    """

    max_size: int = 16_777_216
    max_depth: int = 1024
    max_count: int = 1_000_000
    max_odd_size: int = 4_194_304
    max_odd_count: int = 262_144


DEFAULT_LIMITS: Final = JsonLimits()
"""One frame, the depth of the strict path (Java: 2048), and room for a registration of 77,000
topics (770,000)."""

ANSWER_LIMITS: Final = JsonLimits(
    max_count=2_000_000, max_odd_size=16_777_216, max_odd_count=2_000_000
)
"""For what a client has asked a broker for: whatever fits a frame.  That are some 90,000 queues in a
map whose keys are queues, or 1,300,000 offsets of groups."""

MAX_NUMBER_LENGTH: Final = 512
"""Characters of one number; a long has 20, a double 25.  Bounds the work of turning digits into an
integer."""
