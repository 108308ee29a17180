"""Header fields: their metadata, and the codec of headers.

Rules of this file: a header is a frozen dataclass whose fields are declared with ``ext``.  The key
in ``extFields`` is the Python name in lower camel case, or the one given.  Reading is as lenient as
Java: an absent or invalid field keeps its default, except where Java raises (``check``, numbers of
the fast headers).  Writing leaves out None.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypeVar, overload

from rocketwire.codes import SerializeType
from rocketwire.errors import DecodeError, EncodeError
from rocketwire.messages._codec.bodies import java_name, lower_camel
from rocketwire.messages._codec.java_numbers import Mismatch
from rocketwire.wire.values.frozen import declared_fields

if TYPE_CHECKING:
    from rocketwire.messages._codec.types import Form, Primitive

T = TypeVar("T")

_UNSET: Final = object()


class Ext(NamedTuple):
    form: Form[Any]  #: the form of its values
    wire: str = ""  #: its key in ``extFields``; empty for the Python name in lower camel case
    #: Java marks it ``CFNotNull``.  Senders must set it; readers, as in Java, do not check.
    required: bool = False
    #: Java's default is its wall clock in milliseconds; here the default is None
    clock: bool = False
    #: Java's condition for the value, if a command has any field (``checkFields``)
    check: Callable[[Any], bool] | None = None
    since: str | None = None  #: first Java release with this field, if that is later than 5.3.3


@overload
def ext(
    form: Primitive[T],
    *,
    default: T = ...,
    wire: str = "",
    required: bool = False,
    check: Callable[[Any], bool] | None = None,
    since: str | None = None,
) -> T: ...


@overload
def ext(
    form: Form[T],
    *,
    default: T | None = None,
    wire: str = "",
    required: bool = False,
    clock: bool = False,
    check: Callable[[Any], bool] | None = None,
    since: str | None = None,
) -> T | None: ...


def ext(
    form: Form[Any],
    *,
    default: Any = _UNSET,
    wire: str = "",
    required: bool = False,
    clock: bool = False,
    check: Callable[[Any], bool] | None = None,
    since: str | None = None,
) -> Any:
    """A header field; see ``Ext``.

    Args:
        default: the default in Java's constructor.  A required field without a default must be
            passed to the constructor.
    """
    metadata = {"ext": Ext(form, wire, required, clock, check, since)}
    if default is _UNSET:
        if required:
            return dataclasses.field(metadata=metadata)
        default = form.zero
    return dataclasses.field(default=default, metadata=metadata)


def check_one_of(*values: object) -> Callable[[Any], bool]:
    return lambda value: value in values


def positive(value: int) -> bool:
    return value > 0


def ext_fields_of(cls: type[Any]) -> dict[str, Ext]:
    fields: dict[str, Ext] = {}
    for name, field in declared_fields(cls).items():
        declared: Ext = field.metadata["ext"]
        fields[name] = declared._replace(wire=declared.wire or lower_camel(name))
    return fields


def fast_codec_of(cls: type[Any]) -> tuple[str, ...]:
    """Keys in the order of Java's hand-written encoder; empty except for four headers."""
    keys: tuple[str, ...] = getattr(cls, "fast_codec", ())
    return keys


# ---------------------------------------------------------------------------- reading


_Parse: TypeAlias = "Callable[[str], Any] | None"
_Store: TypeAlias = "Callable[[Any, Any], None]"
_Check: TypeAlias = "Callable[[Any], bool] | None"
_Row: TypeAlias = "tuple[str, _Parse, Any, _Store, _Check]"
"""Of a field: key, parser of its text, default, store, and Java's check."""


class _Plan(NamedTuple):
    rows: tuple[_Row, ...]
    strict: bool
    prints: tuple[tuple[str, str, Callable[[Any], str]], ...]
    fast_prints: tuple[tuple[str, str, Callable[[Any], str]], ...]


_PLANS: Final[dict[object, _Plan]] = {}


def _plan(cls: type[Any]) -> _Plan:
    plan = _PLANS.get(cls)
    if plan is None:
        every, fast = _prints(cls, fast=False), _prints(cls, fast=True)
        plan = _PLANS[cls] = _Plan(_rows(cls), bool(fast_codec_of(cls)), every, fast)
    return plan


def _rows(cls: type[Any]) -> tuple[_Row, ...]:
    declared = ext_fields_of(cls)
    fast = fast_codec_of(cls)
    rows: list[_Row] = []
    for name, field in declared_fields(cls).items():
        ext_field = declared[name]
        default = ext_field.form.zero if field.default is dataclasses.MISSING else field.default
        # Java's hand-written readers read only their own keys
        parse = None if fast and ext_field.wire not in fast else ext_field.form.parse
        store = getattr(cls, name).__set__
        rows.append((ext_field.wire, parse, default, store, ext_field.check))
    return tuple(rows)


def decode_header(cls: type[T], ext_fields: Mapping[str, str | None] | None) -> T:
    """Read a header class from a command's text map.

    It is as lenient as Java's ``RemotingCommand.decodeCommandCustomHeader``.

    Args:
        ext_fields: the command's map; None if it has no map, and then Java checks nothing.

    Raises:
        DecodeError: Java's check of a value fails, or a number of one of the four fast headers is
            invalid.
    """
    plan = _plan(cls)
    header = object.__new__(cls)
    fields = ext_fields or {}
    for wire, parse, value, store, check in plan.rows:
        text = fields.get(wire)
        if text is not None and parse is not None:
            try:
                value = parse(text)
            except ValueError as problem:
                if plan.strict:
                    raise DecodeError(str(problem), path=f"{java_name(cls)}.{wire}") from None
        if check is not None and ext_fields is not None and not check(value):
            raise DecodeError(f"Java rejects the value {value!r}", path=f"{java_name(cls)}.{wire}")
        store(header, value)
    return header


# ---------------------------------------------------------------------------- writing


def _prints(cls: type[Any], *, fast: bool) -> tuple[tuple[str, str, Callable[[Any], str]], ...]:
    by_wire = {
        field.wire: (name, field.form.print or str) for name, field in ext_fields_of(cls).items()
    }
    order = list(fast_codec_of(cls))
    if not fast or not order:
        order += [wire for wire in by_wire if wire not in order]
    return tuple((wire, *by_wire[wire]) for wire in order)


def encode_header(
    header: object, *, serialize_type: SerializeType = SerializeType.JSON
) -> dict[str, str]:
    """The text map of a header without None; the four fast headers have a fixed order.

    Args:
        header: an instance of a header class.
        serialize_type: form of the frame's header.  As in Java, the binary form loses the inherited
            fields of ``SendMessageRequestHeaderV2``.

    Raises:
        EncodeError: a number is outside the range of its Java type.
    """
    cls = type(header)
    result: dict[str, str] = {}
    plan = _plan(cls)
    binary = serialize_type == SerializeType.ROCKETMQ
    for wire, name, to_text in plan.fast_prints if binary else plan.prints:
        value = getattr(header, name)
        if value is not None:
            try:
                result[wire] = to_text(value)
            except Mismatch as problem:
                path = f"{java_name(cls)}.{wire}"
                raise EncodeError(problem.message, path=path) from problem
    return result
