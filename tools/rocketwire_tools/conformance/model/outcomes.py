"""What may come: the outcomes that a case accepts, and the patterns that they are written with.

Texts may contain names that are new in every run, ``{cluster}``, ``{topicB}``; ``placeholders.py`` lists them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping


class Mark(Enum):
    """Expectations that need no value."""

    ANY = auto()
    NO_BODY = auto()
    NO_EXT = auto()


ANY: Final = Mark.ANY
"""Accepts whatever comes, also nothing."""
NO_BODY: Final = Mark.NO_BODY
"""The frame ends with its header."""
NO_EXT: Final = Mark.NO_EXT
"""No ext fields, whether the member is absent or empty."""


@dataclass(frozen=True, slots=True)
class Like:
    """A text that this regular expression matches from its beginning to its end.

    Names are put in before it is compiled, and are escaped there.
    """

    pattern: str


@dataclass(frozen=True, slots=True)
class Has:
    """A map that has at least these members."""

    members: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Lacks:
    """A map without these keys, or a list without these values."""

    keys: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Contains:
    """A list that has at least these values, in any order."""

    values: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Ordered:
    """A list of exactly these values in this order; a plain list accepts any order."""

    values: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class AllOf:
    """A value that every one of these patterns accepts."""

    patterns: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Json:
    """A body that reads as this JSON value.

    Maps have exactly these members; lists these values in any order; keys are compared as texts, so that the bare integer keys
    of Java's dialect equal quoted ones.  Any part may be a pattern: ``ANY``, ``Like``, ``Has``, ``Lacks``, ``Contains``,
    ``Ordered``, ``AllOf``.  The top level is a pattern too: ``Json(Has({...}))``.
    """

    value: object


@dataclass(frozen=True, slots=True)
class Text:
    """A body of exactly these characters in UTF-8 (or ``Like`` them): where byte for byte matters, as for the JSON dialect."""

    text: str | Like


@dataclass(frozen=True, slots=True)
class Bytes:
    """A body of exactly these bytes; no names are put in."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Check:
    """A body that the predicate of this name (``predicates.py``) accepts, given these arguments."""

    name: str
    arguments: tuple[object, ...] = ()


Body: TypeAlias = Json | Text | Bytes | Check | Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A response.

    Attributes:
        code: its code.
        remark: the exact text, ``Like``, ``ANY``, or None for no remark.
        ext: all ext fields exactly, or a pattern (``Has``); None for none at all (the member is absent), which differs from
            ``{}``; ``NO_EXT`` accepts both.
        body: what the body has to be.
        opaque: its number; None for that of the request.  A raw ``Send`` has no number: then None accepts any.
        flag: the flag bits; ANY, or a number.
        binary: whether its header has the binary form; None for either.
        version: of the header.
        language: of the header.
    """

    code: int | Mark = 0
    remark: object = None
    ext: object = ANY
    body: Body = NO_BODY
    opaque: int | None = None
    flag: object = 1
    binary: bool | None = None
    version: object = ANY
    language: object = ANY


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """The server closes the connection, having sent nothing more on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """Nothing comes and the connection stays open, for this many seconds."""

    seconds: float = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A request that the server sends by itself (905).

    Attributes:
        code: its code.
        ext: all ext fields exactly, or a pattern.
        flag: its flag bits, or ANY.
        body: what the body has to be.
    """

    code: int
    ext: object = ANY
    flag: object = ANY
    body: Body = NO_BODY


@dataclass(frozen=True, slots=True, kw_only=True)
class RawBytes:
    """Raw bytes on a connection, exactly these; nothing is parsed."""

    data: bytes


Outcome: TypeAlias = Answer | Closed | Silence | Incoming | RawBytes
