"""Nodes of a translated layout, independent of construct.

``lower`` creates these nodes from a construct declaration.  ``parser`` and ``builder`` turn them
into source text.  All integers are big-endian.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import ClassVar


class UnsupportedConstruct(TypeError):
    """A declaration has a part that the compiler cannot translate."""


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression over other fields of the same record.

    Attributes:
        source: Python source with each field as ``{name}``, for ``str.format_map``.
        names: the fields that it reads.
    """

    source: str
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Fixed:
    """An integer; ``letter`` is its format in ``struct``."""

    letter: str

    @property
    def size(self) -> int:
        """Width in bytes."""
        return struct.calcsize(">" + self.letter)

    @property
    def signed(self) -> bool:
        """Whether a value can be negative."""
        return self.letter.islower()


@dataclass(frozen=True, slots=True)
class Unsigned24:
    """An unsigned integer of three bytes."""

    size: ClassVar[int] = 3
    signed: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes; their number is fixed or an expression over earlier fields."""

    length: int | Expression


@dataclass(frozen=True, slots=True)
class Rest:
    """All bytes up to the end of the enclosing length."""


@dataclass(frozen=True, slots=True)
class Text:
    """All bytes up to the end of the enclosing length, as text."""


@dataclass(frozen=True, slots=True)
class Sized:
    """A length in bytes, then a node with exactly these bytes.

    ``whole``: the length includes its own bytes.  ``optional``: a length of zero means None.
    """

    length: Fixed | Unsigned24
    node: Node
    whole: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Counted:
    """A number of elements, then the elements."""

    count: Fixed | Unsigned24
    node: Node


@dataclass(frozen=True, slots=True)
class UntilEnd:
    """Elements up to the end of the enclosing length."""

    node: Node


@dataclass(frozen=True, slots=True)
class Choice:
    """A node chosen by an expression over earlier fields."""

    condition: Expression
    then: Node
    otherwise: Node


@dataclass(frozen=True, slots=True)
class Entries:
    """The text map of the binary header: its length in bytes, keys and values (``JavaEntries``)."""

    length: Fixed
    key: Fixed
    value: Fixed
    limit: int


@dataclass(frozen=True, slots=True)
class Derived:
    """A field that the builder computes and the parser drops."""

    node: Fixed | Unsigned24
    value: int | Expression


@dataclass(frozen=True, slots=True)
class Condition:
    """No bytes; an expression that must be true."""

    expression: Expression


@dataclass(frozen=True, slots=True)
class End:
    """No bytes; the end of the enclosing length."""


@dataclass(frozen=True, slots=True)
class Record:
    """A sequence of nodes; its value is the tuple of the named nodes that are not derived."""

    fields: tuple[tuple[str | None, Node], ...]

    @property
    def value_names(self) -> tuple[str, ...]:
        """Names of the items of the value, in order."""
        return tuple(
            name for name, node in self.fields if name is not None and not isinstance(node, Derived)
        )


Node = (
    Fixed
    | Unsigned24
    | Raw
    | Rest
    | Text
    | Sized
    | Counted
    | UntilEnd
    | Choice
    | Entries
    | Derived
    | Condition
    | End
    | Record
)


def minimum_size(node: Node) -> int:
    """The minimum number of bytes of a node."""
    match node:
        case Fixed() | Unsigned24():
            return node.size
        case Raw(length=int() as length):
            return length
        case Sized(length=prefix) | Entries(length=prefix) | Counted(count=prefix):
            return prefix.size
        case Choice(then=then, otherwise=otherwise):
            return min(minimum_size(then), minimum_size(otherwise))
        case Derived(node=inner):
            return inner.size
        case Record(fields=fields):
            return sum(minimum_size(inner) for _, inner in fields)
        case _:
            return 0
