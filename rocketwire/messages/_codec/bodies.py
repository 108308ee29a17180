"""Body members: their metadata, and the one codec that reads it.

Rules of this file: a body is a frozen dataclass whose members are declared with ``member``; the
wire name is the Python name in lower camel case unless given.  Absent members get the default of
Java's constructor, an explicit null is None (a primitive has no null and becomes zero), unknown
members are ignored, and members are written in ascending order with None left out, as Java does.
Each class is looked at once; afterwards reading an object costs one dict look-up, one conversion
and one store per member.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, overload

from rocketwire.errors import DecodeError, EncodeError
from rocketwire.messages._codec.containers import listing
from rocketwire.messages._codec.java_numbers import InexactError, Mismatch, kind
from rocketwire.messages._codec.types import Form, Primitive
from rocketwire.wire.json.fastjson import DEFAULT_LIMITS, BareKey, Dialect, Real, dumps, loads
from rocketwire.wire.values.frozen import declared_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rocketwire.wire.json.fastjson import JsonLimits, JsonValue
    from rocketwire.wire.json.references import Container

T = TypeVar("T")

_ABSENT: Final = object()
_RECORDS: Final[dict[object, Form[Any]]] = {}


class Member(NamedTuple):
    """What a body member carries as metadata.

    Attributes:
        form: how its values are read and written.
        wire: its name in JSON; empty for the Python name in lower camel case.
        also: further names under which Java reads it.
        clock: Java fills an absent member with its wall clock in milliseconds; here it stays None.
        write_only: Java derives and writes it, and ignores it when reading.
        since: first Java release that has it, where 5.3.3 lacks it.
    """

    form: Form[Any]
    wire: str = ""
    also: tuple[str, ...] = ()
    clock: bool = False
    write_only: bool = False
    since: str | None = None


@overload
def member(
    form: Primitive[T],
    *,
    default: T = ...,
    wire: str = "",
    also: tuple[str, ...] = (),
    write_only: bool = False,
    since: str | None = None,
) -> T: ...


@overload
def member(
    form: Form[T],
    *,
    default: T | None = None,
    factory: Callable[[], T] | None = None,
    wire: str = "",
    also: tuple[str, ...] = (),
    clock: bool = False,
    write_only: bool = False,
    since: str | None = None,
) -> T | None: ...


def member(
    form: Form[Any],
    *,
    default: Any = _ABSENT,
    factory: Callable[[], Any] | None = None,
    wire: str = "",
    also: tuple[str, ...] = (),
    clock: bool = False,
    write_only: bool = False,
    since: str | None = None,
) -> Any:
    """A body member; see ``Member``.

    Args:
        form: how its values are read and written.
        default: what Java's constructor gives it; zero for primitives and None for everything
            else unless given.
        factory: makes the default where that is not a plain value.
        wire: name in JSON.
        also: further names for reading.
        clock: Java's default is its wall clock.
        write_only: Java does not read it back.
        since: first release that has it.
    """
    metadata = {"member": Member(form, wire, also, clock, write_only, since)}
    if default == {}:
        factory = dict
    if factory is not None:
        return dataclasses.field(default_factory=factory, metadata=metadata)
    if default is _ABSENT:
        default = form.zero if isinstance(form, Primitive) else None
    return dataclasses.field(default=default, metadata=metadata)


def lower_camel(name: str) -> str:
    """The wire name of a Python name: ``broker_name`` is ``brokerName``."""
    first, *others = name.split("_")
    return first + "".join(other[:1].upper() + other[1:] for other in others)


def members_of(cls: type[Any]) -> dict[str, Member]:
    """The members of a body class by Python name, each with its wire name filled in."""
    found: dict[str, Member] = {}
    for name, field in declared_fields(cls).items():
        declared: Member = field.metadata["member"]
        found[name] = declared._replace(wire=declared.wire or lower_camel(name))
    return found


# ---------------------------------------------------------------------------- records


def _reader(cls: type[T]) -> Callable[[JsonValue], T | None]:
    """Compiles how objects of one class are read.

    Values go straight into the slots: the frozen class's own constructor would take three times as
    long, and registrations bring ten thousand topics at once.  The class is looked at with the first
    object: most programs read a few classes only.
    """
    rows: list[tuple[Any, ...]] | None = None
    aliases: dict[str, str] = {}
    make, absent = object.__new__, _ABSENT

    def read(source: JsonValue) -> T | None:
        nonlocal rows, aliases
        if type(source) is not dict:
            if source is None or source in ("", "null"):
                return None
            raise Mismatch(f"no object: {kind(source)}")
        if rows is None:
            members = members_of(cls)
            aliases = {name: one.wire for one in members.values() for name in one.also}
            rows = _rows(cls, members)
        if aliases:
            source = {aliases.get(name, name): value for name, value in source.items()}
        get = source.get
        made = make(cls)
        name = ""
        try:
            for name, exact, convert, default, factory, store in rows:
                value: Any = get(name, absent)
                if type(value) is exact:
                    store(made, value)
                elif value is absent:
                    store(made, default if factory is None else factory())
                else:
                    store(made, convert(value))
        except Mismatch as problem:
            raise problem.under(name) from None
        return made

    return read


def _rows(cls: type[Any], members: dict[str, Member]) -> list[tuple[Any, ...]]:
    """How each member is read: its name, the type that is taken as it is, what others are made by, what is taken for none, and where it
    is stored."""
    return [
        (
            members[name].wire,
            members[name].form.exact,
            members[name].form.read,
            None if field.default is dataclasses.MISSING else field.default,
            None if field.default_factory is dataclasses.MISSING else field.default_factory,
            getattr(cls, name).__set__,
        )
        for name, field in declared_fields(cls).items()
    ]


def _writer(cls: type[Any]) -> Callable[[Any], dict[str, Any]]:
    rows: list[tuple[Any, ...]] | None = None

    def write(source: Any) -> dict[str, Any]:
        nonlocal rows
        if rows is None:
            members = members_of(cls).items()
            rows = sorted((one.wire, name, one.form.write) for name, one in members)
        result: dict[str, Any] = {}
        wire = ""
        try:
            for wire, name, convert in rows:
                value = getattr(source, name)
                if value is not None:
                    result[wire] = value if convert is None else convert(value)
        except Mismatch as problem:
            raise problem.under(wire) from None
        return result

    return write


def _compile(cls: type[Any]) -> Form[Any]:
    read, write = _reader(cls), _writer(cls)

    def read_key(text: str) -> Any:
        try:
            return read_text(read, text.encode("utf-8", "surrogatepass"))
        except DecodeError:
            raise Mismatch("the key is no object") from None

    return Form(
        java_name(cls),
        read,
        write,
        read_key=read_key,
        write_key=lambda value: BareKey(dumps(write(value)).decode("utf-8")),
    )


def record(cls: type[T]) -> Form[T]:
    """The form of a body class as a member of another."""
    form = _RECORDS.get(cls)
    if form is None:
        form = _RECORDS[cls] = _compile(cls)
    return form


def java_name(cls: type[Any]) -> str:
    """The class's short name in Java: its own, or ``Outer.Inner`` for the few that say so."""
    name: str = getattr(cls, "java_name", cls.__name__)
    return name


# ---------------------------------------------------------------------------- bodies


def read_text(
    read: Callable[[JsonValue], T | None],
    text: bytes,
    limits: JsonLimits = DEFAULT_LIMITS,
    dialect: Dialect | None = None,
) -> T | None:
    """Reads a text, once more and exactly if the digits of a number matter, which nobody writes so."""
    try:
        return read(loads(text, limits=limits, dialect=dialect))
    except InexactError:
        return read(loads(text, limits=limits, dialect=dialect, exact=True))


def _exact(value: JsonValue) -> JsonValue:
    """A copy in which each double counts as the number that it is."""
    waiting: list[Container] = []
    root = _exact_item(value, waiting)
    for copy in waiting:  # grows while it is walked
        if isinstance(copy, list):
            copy[:] = [_exact_item(item, waiting) for item in copy]
        else:
            copy.update({name: _exact_item(item, waiting) for name, item in copy.items()})
    return root


def _exact_item(item: JsonValue, waiting: list[Container]) -> JsonValue:
    if isinstance(item, float):
        return Real.of(float.__repr__(item), is_double=True)
    if isinstance(item, list | dict):
        item = item.copy()
        waiting.append(item)
    return item


def _located(problem: Mismatch, cls: type[Any]) -> DecodeError:
    return DecodeError(problem.message, path=".".join((java_name(cls), *problem.path)))


def from_json(cls: type[T], value: JsonValue) -> T | None:
    """Reads a body class out of parsed JSON.

    Args:
        cls: the class.
        value: the JSON; objects only, or null.

    Returns:
        The body; None for null and for the empty text, which Java reads as null.

    Raises:
        DecodeError: a value does not fit the class.
    """
    read = record(cls).read
    try:
        try:
            return read(value)
        except InexactError:
            return read(_exact(value))
    except Mismatch as problem:
        raise _located(problem, cls) from problem


def to_json(body: object) -> dict[str, Any]:
    """The JSON of a body: members ascending, None left out, map keys as ``dumps`` wants them.

    Raises:
        EncodeError: a number is out of the range of its Java type.
    """
    cls = type(body)
    write: Any = record(cls).write
    try:
        written: dict[str, Any] = write(body)
    except Mismatch as problem:
        path = ".".join((java_name(cls), *problem.path))
        raise EncodeError(problem.message, path=path) from problem
    return written


def decode_body(
    cls: type[T],
    body: bytes | None,
    *,
    limits: JsonLimits = DEFAULT_LIMITS,
    dialect: Dialect | None = None,
) -> T | None:
    """Reads a body as Java's ``RemotingSerializable.decode`` does.

    Args:
        cls: the class to read.
        body: the bytes of the command's body.
        limits: bounds on size, depth and number of values.
        dialect: None reads what either release reads, ``FASTJSON2`` only what 5.5.0 reads.

    Returns:
        The body; None where there are no bytes or where they say null.

    Raises:
        DecodeError: malformed JSON, or a value that does not fit the class.
        LimitExceededError: more than ``limits`` allows.
    """
    if not body:
        return None
    try:
        return read_text(record(cls).read, body, limits, dialect)
    except Mismatch as problem:
        raise _located(problem, cls) from problem


def decode_bodies(
    cls: type[T],
    body: bytes | None,
    *,
    limits: JsonLimits = DEFAULT_LIMITS,
    dialect: Dialect | None = None,
) -> tuple[T, ...] | None:
    """Reads a body that is a JSON array of ``cls`` (codes 3005 and 3010); see ``decode_body``."""
    if not body:
        return None
    try:
        return read_text(listing(record(cls)).read, body, limits, dialect)
    except Mismatch as problem:
        raise _located(problem, cls) from problem


def encode_body(
    body: object, *, dialect: Dialect = Dialect.FASTJSON2, standard: bool = False
) -> bytes:
    """Writes a body as Java's ``RemotingSerializable.encode`` does.

    Args:
        body: an instance of a body class.
        dialect: whose escapes.
        standard: quoted map keys, sorted; only route data has this variant.

    Raises:
        EncodeError: a number is out of the range of its Java type.
    """
    return dumps(to_json(body), dialect=dialect, standard=standard)


def encode_bodies(bodies: Iterable[object], *, dialect: Dialect = Dialect.FASTJSON2) -> bytes:
    """Writes a JSON array of bodies; see ``encode_body``."""
    return dumps([to_json(body) for body in bodies], dialect=dialect)
