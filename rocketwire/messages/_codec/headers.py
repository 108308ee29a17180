"""Header fields: their metadata, and the one codec that reads it.

Rules of this file: a header is a frozen dataclass whose fields are declared with ``ext``; the key
in ``extFields`` is the Python name in lower camel case unless given.  Reading is lenient exactly as
Java is: an absent field and one that cannot be parsed keep the default, unless the class says that
Java insists (``check``, the fast headers' numbers).  Writing leaves out None.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypeVar, overload

from rocketwire.codes import SerializeType
from rocketwire.errors import DecodeError, EncodeError
from rocketwire.messages._codec.bodies import java_name, lower_camel
from rocketwire.messages._codec.java_numbers import Mismatch
from rocketwire.messages._codec.types import Form, Primitive
from rocketwire.wire.values.frozen import declared_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

T = TypeVar("T")

_UNSET: Final = object()


class Ext(NamedTuple):
    """What a header field carries as metadata.

    Attributes:
        form: how its values are read and written.
        wire: its key in ``extFields``; empty for the Python name in lower camel case.
        required: Java marks it ``CFNotNull``.  Senders must give it; readers, like Java's, do
            not insist.
        clock: Java fills an absent field with its wall clock in milliseconds; here it stays None.
        check: what Java insists on when a command carries any field at all (``checkFields``).
        since: first Java release that has it, where 5.3.3 lacks it.
    """

    form: Form[Any]
    wire: str = ""
    required: bool = False
    clock: bool = False
    check: Callable[[Any], bool] | None = None
    since: str | None = None


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
        form: how its values are read and written.
        default: what Java's constructor gives it.  A required field without one must be given
            to the constructor.
        wire: key in ``extFields``.
        required: whether Java marks it as mandatory.
        clock: Java's default is its wall clock.
        check: what Java insists on when reading.
        since: first release that has it.
    """
    metadata = {"ext": Ext(form, wire, required, clock, check, since)}
    if default is _UNSET:
        if required:
            return dataclasses.field(metadata=metadata)
        default = _zero(form)
    return dataclasses.field(default=default, metadata=metadata)


def among(*values: object) -> Callable[[Any], bool]:
    """A check: one of these values."""
    return lambda value: value in values


def positive(value: int) -> bool:
    """A check: above zero."""
    return value > 0


def _zero(form: Form[Any]) -> Any:
    return form.zero if isinstance(form, Primitive) else None


def ext_fields_of(cls: type[Any]) -> dict[str, Ext]:
    """The fields of a header class by Python name, each with its key filled in."""
    found: dict[str, Ext] = {}
    for name, field in declared_fields(cls).items():
        declared: Ext = field.metadata["ext"]
        found[name] = declared._replace(wire=declared.wire or lower_camel(name))
    return found


def fast_codec_of(cls: type[Any]) -> tuple[str, ...]:
    """Keys in the order in which Java writes them by hand; empty for all but four headers."""
    keys: tuple[str, ...] = getattr(cls, "fast_codec", ())
    return keys


# ---------------------------------------------------------------------------- reading


_Row: TypeAlias = "tuple[str, Callable[[str], Any] | None, Any, Callable[[Any, Any], None], Callable[[Any], bool] | None]"
"""Of one field: its key, what reads its text, its default, what stores it, and what Java insists on."""


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
        one = declared[name]
        default = _zero(one.form) if field.default is dataclasses.MISSING else field.default
        # Java's hand-written readers look at their own keys only
        parse = None if fast and one.wire not in fast else one.form.parse
        rows.append((one.wire, parse, default, getattr(cls, name).__set__, one.check))
    return tuple(rows)


def decode_header(cls: type[T], ext_fields: Mapping[str, str | None] | None) -> T:
    """Reads a header class out of a command's text map.

    As lenient as Java's ``RemotingCommand.decodeCommandCustomHeader``.

    Args:
        cls: the class.
        ext_fields: the command's map; None where it has none, and then nothing is checked at all.

    Raises:
        DecodeError: a value that Java insists on is missing or another, or a number of one of
            the four fast headers cannot be parsed.
    """
    plan = _plan(cls)
    made = object.__new__(cls)
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
            raise DecodeError(f"Java refuses {value!r}", path=f"{java_name(cls)}.{wire}")
        store(made, value)
    return made


# ---------------------------------------------------------------------------- writing


def _prints(cls: type[Any], *, fast: bool) -> tuple[tuple[str, str, Callable[[Any], str]], ...]:
    by_wire = {one.wire: (name, one.form.print or str) for name, one in ext_fields_of(cls).items()}
    order = list(fast_codec_of(cls))
    if not fast or not order:
        order += [wire for wire in by_wire if wire not in order]
    return tuple((wire, *by_wire[wire]) for wire in order)


def encode_header(
    header: object, *, serialize_type: SerializeType = SerializeType.JSON
) -> dict[str, str]:
    """The text map of a header: None left out, the four fast headers in their fixed order.

    Args:
        header: an instance of a header class.
        serialize_type: form of the frame's header.  In the binary one
            ``SendMessageRequestHeaderV2`` loses its inherited fields, in Java as here.

    Raises:
        EncodeError: a number is out of the range of its Java type.
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
