"""The outcomes that a case accepts, and the patterns in them.

Texts may contain placeholders such as ``{cluster}`` and ``{topicB}``; see ``placeholders.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping


class Mark(Enum):
    """Expectations without a value."""

    ANY = auto()
    NO_BODY = auto()
    NO_EXT = auto()


# Accepts anything, also absence.
ANY: Final = Mark.ANY
# The frame ends with its header.
NO_BODY: Final = Mark.NO_BODY
# No ext fields, whether the member is absent or empty.
NO_EXT: Final = Mark.NO_EXT


@dataclass(frozen=True, slots=True)
class Like:
    """A string that this regular expression matches completely.

    Placeholders are replaced, with escapes, before it is compiled.
    """

    pattern: str


@dataclass(frozen=True, slots=True)
class Has:
    """An object with at least these members."""

    members: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Lacks:
    """An object without these keys, or a list without these values."""

    keys: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Contains:
    """A list with at least these values, in any order."""

    values: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class AllOf:
    """A value that all patterns accept."""

    patterns: tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number, or a text of digits."""

    # the exact number, also as a text with placeholders; None for any
    equal: int | str | None = None
    least: int | str | None = None  # the smallest acceptable number, likewise
    most: int | str | None = None  # the largest acceptable number, likewise


@dataclass(frozen=True, slots=True)
class InOrder:
    """A list of exactly these values, in this order."""

    values: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Messages:
    """A body of stored messages, in this order.

    Each pattern is compared with an object whose members are ``topic``, ``queueId``,
    ``queueOffset``, ``body`` (text), ``flag``, ``sysFlag``, ``reconsumeTimes``, ``bornTimestamp``,
    ``storeTimestamp``, ``bornHost``, ``storeHost``, ``preparedTransactionOffset``,
    ``commitLogOffset``, ``storeSize``, ``bodyCRC``, ``id`` (offset id) and ``properties``.
    """

    patterns: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class JsonBody:
    """A body with this JSON value.

    Objects have exactly these members, lists these values in any order. Keys are compared as
    strings, so that Java's unquoted integer keys equal quoted ones. Any part may be a pattern
    (``ANY``, ``Like``, ``Has``, ``Lacks``, ``Contains``, ``AllOf``), also the whole:
    ``JsonBody(Has({...}))``.
    """

    value: object


@dataclass(frozen=True, slots=True)
class TextBody:
    """A body of exactly this text in UTF-8 (or ``Like`` it), for example in a JSON dialect."""

    text: str | Like


@dataclass(frozen=True, slots=True)
class Check:
    """A body that the predicate with this name (``match.PREDICATES``) accepts."""

    name: str
    arguments: tuple[object, ...] = ()


Body: TypeAlias = JsonBody | TextBody | Messages | Check | Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A response."""

    code: int | Mark = 0
    remark: object = None  # exact text, ``Like``, ``ANY``, or None for no remark
    # all ext fields exactly, or a pattern (``Has``); None if the member must be absent, which
    # differs from ``{}``; ``NO_EXT`` accepts both
    ext: object = ANY
    body: Body = NO_BODY
    # expected opaque; None for that of the request, or for any after a raw ``Send``
    opaque: int | None = None
    flag: object = 1  # flag bits or ``ANY``
    binary: bool | None = None  # whether the header must be binary; None for both types
    language: object = ANY  # language in the header


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """The server closes the connection without sending anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """Nothing arrives for this many seconds, and the connection stays open."""

    seconds: float = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A request that the server sends (905 of a name server; 39, 40 and others of a broker)."""

    code: int
    ext: object = ANY  # all ext fields exactly, or a pattern
    flag: object = ANY  # flag bits or ``ANY``
    body: Body = NO_BODY


Outcome: TypeAlias = Response | Closed | Silence | Incoming
