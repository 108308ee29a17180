"""The type of decoded JSON, and limits for decoding it."""

from __future__ import annotations

from typing import Final, TypeAlias

from rocketwire.wire.values.frozen import dataclass

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
"""Decoded JSON; all keys are texts, see ``BareKey`` for keys without quotes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonLimits:
    """Limits of a JSON text."""

    max_size: int = 16_777_216  #: size of the text in bytes
    max_depth: int = 1024  #: levels of nesting; the strict decoder has a limit of 1024 of its own
    max_count: int = 1_000_000  #: number of values; commas and brackets in strings do not count
    #: size in bytes of a text that is not strict JSON (maps with object keys), or is decoded
    #: exactly, which takes up to a hundred times as long
    max_odd_size: int = 4_194_304
    max_odd_count: int = 262_144  #: number of values of such a text


# Limits of a frame; a registration of 77,000 topics has 770,000 values (Java's depth: 2048)
DEFAULT_LIMITS: Final = JsonLimits()

# Limits of a response to this client: any response of one frame. That is some 90,000 queues in a
# map whose keys are queues, or 1,300,000 offsets of groups.
ANSWER_LIMITS: Final = JsonLimits(
    max_count=2_000_000, max_odd_size=16_777_216, max_odd_count=2_000_000
)

# Maximum characters of a number; a long has 20, a double 25.  Bounds the time to convert it.
MAX_NUMBER_LENGTH: Final = 512
