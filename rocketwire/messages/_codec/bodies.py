"""Body members: their metadata, and the codec of bodies.

Rules of this file: a body is a frozen dataclass whose members are declared with ``member``.  The
wire name is the Python name in lower camel case, or the one given.  Absent members get the default
of Java's constructor, and an explicit null is None (zero for a primitive, which has no null).
Unknown members are ignored.  As in Java, members are written in ascending order and None is left
out.  Each class is analysed once; afterwards each member costs a dict lookup, a conversion and a
store.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, overload

from rocketwire.errors import DecodeError, EncodeError
from rocketwire.messages._codec.containers import listing
from rocketwire.messages._codec.java_numbers import InexactError, Mismatch, kind
from rocketwire.messages._codec.types import Form, Primitive
from rocketwire.wire.json.fastjson import DEFAULT_LIMITS, BareKey, Dialect, Real, dumps, loads
from rocketwire.wire.values.frozen import declared_fields

if TYPE_CHECKING:
    from rocketwire.wire.json.fastjson import JsonLimits, JsonValue
    from rocketwire.wire.json.references import Container

T = TypeVar("T")

_ABSENT: Final = object()
_RECORDS: Final[dict[object, Form[Any]]] = {}


class Member(NamedTuple):
    form: Form[Any]  #: the form of its values
    wire: str = ""  #: its name in JSON; empty for the Python name in lower camel case
    also: tuple[str, ...] = ()  #: other names that Java reads
    #: Java's default is its wall clock in milliseconds; here the default is None
    clock: bool = False
    write_only: bool = False  #: Java computes and writes it, and ignores it when reading
    since: str | None = None  #: first Java release with this member, if that is later than 5.3.3


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
        default: the default in Java's constructor; if not given, zero for primitives and None
            otherwise.
        factory: creates a mutable default.
    """
    metadata = {"member": Member(form, wire, also, clock, write_only, since)}
    if default == {}:
        factory = dict
    if factory is not None:
        return dataclasses.field(default_factory=factory, metadata=metadata)
    if default is _ABSENT:
        default = form.zero
    return dataclasses.field(default=default, metadata=metadata)


def lower_camel(name: str) -> str:
    first, *words = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in words)


def members_of(cls: type[Any]) -> dict[str, Member]:
    members: dict[str, Member] = {}
    for name, field in declared_fields(cls).items():
        declared: Member = field.metadata["member"]
        members[name] = declared._replace(wire=declared.wire or lower_camel(name))
    return members


# ---------------------------------------------------------------------------- records


def _reader(cls: type[T]) -> Callable[[JsonValue], T | None]:
    # The reader stores values directly in the slots, because the constructor would take three times
    # as long, and a registration can have ten thousand topics. It analyses the class at its first
    # call, because most programs read only a few classes.
    rows: list[tuple[Any, ...]] | None = None
    aliases: dict[str, str] = {}
    create, absent = object.__new__, _ABSENT

    def read(source: JsonValue) -> T | None:
        nonlocal rows, aliases
        if type(source) is not dict:
            if source is None or source in ("", "null"):
                return None
            raise Mismatch(f"expected an object, got {kind(source)}")
        if rows is None:
            members = members_of(cls)
            aliases = {name: member.wire for member in members.values() for name in member.also}
            rows = _rows(cls, members)
        if aliases:
            source = {aliases.get(name, name): value for name, value in source.items()}
        get = source.get
        body = create(cls)
        name = ""
        try:
            for name, exact, convert, default, factory, store in rows:
                value: Any = get(name, absent)
                if type(value) is exact:
                    store(body, value)
                elif value is absent:
                    store(body, default if factory is None else factory())
                else:
                    store(body, convert(value))
        except Mismatch as problem:
            raise problem.with_path(name) from None
        return body

    return read


def _rows(cls: type[Any], members: dict[str, Member]) -> list[tuple[Any, ...]]:
    # Wire name, exact type, conversion, default, default factory and store.
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
            rows = sorted((member.wire, name, member.form.write) for name, member in members)
        result: dict[str, Any] = {}
        wire = ""
        try:
            for wire, name, convert in rows:
                value = getattr(source, name)
                if value is not None:
                    result[wire] = value if convert is None else convert(value)
        except Mismatch as problem:
            raise problem.with_path(wire) from None
        return result

    return write


def _compile(cls: type[Any]) -> Form[Any]:
    read, write = _reader(cls), _writer(cls)

    def read_key(text: str) -> Any:
        try:
            return read_text(read, text.encode("utf-8", "surrogatepass"))
        except DecodeError:
            raise Mismatch("the map key is not an object") from None

    return Form(
        java_name(cls),
        read,
        write,
        read_key=read_key,
        write_key=lambda value: BareKey(dumps(write(value)).decode("utf-8")),
    )


def record(cls: type[T]) -> Form[T]:
    form = _RECORDS.get(cls)
    if form is None:
        form = _RECORDS[cls] = _compile(cls)
    return form


def java_name(cls: type[Any]) -> str:
    name: str = getattr(cls, "java_name", cls.__name__)
    return name


# ---------------------------------------------------------------------------- bodies


def read_text(
    read: Callable[[JsonValue], T | None], text: bytes, limits: JsonLimits = DEFAULT_LIMITS
) -> T | None:
    try:
        return read(loads(text, limits=limits))
    except InexactError:
        return read(loads(text, limits=limits, exact=True))


def _exact(value: JsonValue) -> JsonValue:
    waiting: list[Container] = []
    root = _exact_item(value, waiting)
    for copy in waiting:  # the loop appends to it
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


def _mismatch_error(problem: Mismatch, cls: type[Any]) -> DecodeError:
    return DecodeError(problem.message, path=".".join((java_name(cls), *problem.path)))


def from_json(cls: type[T], value: JsonValue) -> T | None:
    """Read a body class from parsed JSON.

    Args:
        value: a JSON object or null.

    Returns:
        The body; None for null, and for the empty text, which Java reads as null.

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
        raise _mismatch_error(problem, cls) from problem


def to_json(body: object) -> dict[str, Any]:
    # sorted members without None, with map keys for ``dumps``
    cls = type(body)
    write: Any = record(cls).write
    try:
        written: dict[str, Any] = write(body)
    except Mismatch as problem:
        path = ".".join((java_name(cls), *problem.path))
        raise EncodeError(problem.message, path=path) from problem
    return written


def decode_body(
    cls: type[T], body: bytes | None, *, limits: JsonLimits = DEFAULT_LIMITS
) -> T | None:
    """Read a body as Java's ``RemotingSerializable.decode`` does; None for no bytes and for null.

    Accepts what any Java release accepts.

    Raises:
        DecodeError: invalid JSON, or a value that does not fit the class.
        LimitExceededError: more than ``limits`` allows.
    """
    if not body:
        return None
    try:
        return read_text(record(cls).read, body, limits)
    except Mismatch as problem:
        raise _mismatch_error(problem, cls) from problem


def decode_bodies(
    cls: type[T], body: bytes | None, *, limits: JsonLimits = DEFAULT_LIMITS
) -> tuple[T, ...] | None:
    """Read a body that is a JSON array of ``cls`` (codes 3005 and 3010); see ``decode_body``."""
    if not body:
        return None
    try:
        return read_text(listing(record(cls)).read, body, limits)
    except Mismatch as problem:
        raise _mismatch_error(problem, cls) from problem


def encode_body(
    body: object, *, dialect: Dialect = Dialect.FASTJSON2, standard: bool = False
) -> bytes:
    """Write a body as Java's ``RemotingSerializable.encode`` does.

    Args:
        body: an instance of a body class.
        dialect: the Java release whose escapes are written.
        standard: whether map keys are quoted and sorted; only used for route data.

    Raises:
        EncodeError: a number is outside the range of its Java type.
    """
    return dumps(to_json(body), dialect=dialect, standard=standard)


def encode_bodies(bodies: Iterable[object]) -> bytes:
    """Write a JSON array of bodies; see ``encode_body``."""
    return dumps([to_json(body) for body in bodies])
