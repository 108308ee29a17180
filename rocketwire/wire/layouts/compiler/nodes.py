"""What a layout is made of, once it has been translated from construct: small frozen nodes.

``fuse.lower`` makes these from a construct declaration; ``parser`` and ``builder`` turn them
into source.  All integers are big-endian.  A field whose value follows from others (``Derived``) is
written but never handed over.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar

if TYPE_CHECKING:
    from rocketwire.wire.buffer import Buffer


class UnsupportedConstruct(TypeError):
    """A declaration uses something that cannot be fused without changing its meaning."""


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
    """One integer with the format letter of ``struct``."""

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
    """Bytes, as many as ``length`` says: a number, or an expression over the fields before."""

    length: int | Expression


@dataclass(frozen=True, slots=True)
class Rest:
    """All bytes up to the end of the enclosing length."""


@dataclass(frozen=True, slots=True)
class Text:
    """All bytes up to the end of the enclosing length, as text that Java would read."""


@dataclass(frozen=True, slots=True)
class Sized:
    """A byte count, then a node that has exactly these bytes to itself.

    ``whole``: the count includes its own bytes.  ``optional``: a count of zero means None.
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
    """Elements up to the end of the enclosing length, which must be the end of an element too."""

    node: Node


@dataclass(frozen=True, slots=True)
class Choice:
    """One of two nodes, by an expression over the fields before."""

    condition: Expression
    then: Node
    otherwise: Node


@dataclass(frozen=True, slots=True)
class Entries:
    """The text map of the binary header: a byte count, keys and values (``fuse.JavaEntries``)."""

    length: Fixed
    key: Fixed
    value: Fixed
    limit: int


@dataclass(frozen=True, slots=True)
class Constant:
    """Bytes that must be exactly these."""

    value: bytes


@dataclass(frozen=True, slots=True)
class Derived:
    """A field that is computed when building and dropped when parsing."""

    node: Fixed | Unsigned24
    value: int | Expression


@dataclass(frozen=True, slots=True)
class Condition:
    """No bytes; the expression must hold, or the data is refused."""

    expression: Expression


@dataclass(frozen=True, slots=True)
class End:
    """No bytes; nothing may follow inside the enclosing length."""


@dataclass(frozen=True, slots=True)
class Record:
    """Nodes one after the other; its value is the tuple of those with a name and not derived."""

    fields: tuple[tuple[str | None, Node], ...]

    @property
    def value_names(self) -> tuple[str, ...]:
        """Names of what the value holds, in order."""
        return tuple(
            n for n, node in self.fields if n is not None and not isinstance(node, Derived)
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
    | Constant
    | Derived
    | Condition
    | End
    | Record
)


def minimum_size(node: Node) -> int:
    """The fewest bytes that the node can take."""
    match node:
        case Fixed() | Unsigned24():
            return node.size
        case Raw(length=int() as length):
            return length
        case Sized(length=prefix) | Entries(length=prefix) | Counted(count=prefix):
            return prefix.size
        case Choice(then=then, otherwise=otherwise):
            return min(minimum_size(then), minimum_size(otherwise))
        case Constant(value=value):
            return len(value)
        case Derived(node=inner):
            return inner.size
        case Record(fields=fields):
            return sum(minimum_size(inner) for _, inner in fields)
        case _:
            return 0


ValueT = TypeVar("ValueT", covariant=True)


class Parser(Protocol[ValueT]):
    """``parse(buf, pos=0, end=None)``: the value and the position after it."""

    def __call__(self, buf: Buffer, pos: int = ..., end: int | None = ...) -> tuple[ValueT, int]:
        """Parses ``buf`` from ``pos`` to ``end``, which is the end of ``buf`` if None."""
        ...


Builder = Callable[..., bytes]
"""``build(*fields)`` for a record, ``build(value)`` for anything else."""


def fixed_struct(node: Node) -> struct.Struct:
    """The ``struct`` of a record of integers; one of three bytes is two there, high byte first.

    Raises:
        UnsupportedConstruct: the record has something else.
    """
    letters = ""
    for name, inner in node.fields if isinstance(node, Record) else ((None, node),):
        if not isinstance(inner, Fixed | Unsigned24):
            raise UnsupportedConstruct(f"{name} is no integer")
        letters += inner.letter if isinstance(inner, Fixed) else "BH"
    return struct.Struct(">" + letters)
