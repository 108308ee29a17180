"""Forms of lists, sets and maps, built from the forms of what they hold.

Rules of this file: lists and sets become tuples in the order of their arrival, maps become dicts.
Null elements are a mismatch unless the element's form says otherwise; so are null values of a map
that is a concurrent one in Java, which cannot hold them, and other maps drop them, as Java does when
it writes, unless the value's form says otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

from rocketwire.messages._codec.java_numbers import Mismatch, kind, parse_integer
from rocketwire.messages._codec.types import Form, same

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rocketwire.wire.json.fastjson import JsonValue

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


def _elements(values: list[JsonValue], form: Form[T]) -> tuple[T, ...]:
    read = form.read
    result: list[Any] = []
    try:
        for value in values:
            element = read(value)
            if element is None and not form.nulls:
                raise Mismatch("null has no place here")
            result.append(element)
    except Mismatch as problem:
        raise problem.under(len(result)) from None
    return tuple(result)


def _texts_of(value: JsonValue, *, is_set: bool) -> list[JsonValue] | None:
    """What fastjson2 makes of something that is no array where it expects texts; None is null."""
    if isinstance(value, str):
        return [] if value == "" or (value == "null" and not is_set) else [value]
    if value is None or not is_set:
        return None
    if isinstance(value, dict):
        return [value]
    raise Mismatch(f"no array: {kind(value)}")


def _values_of(value: JsonValue) -> list[JsonValue] | None:
    """The same where it expects anything but texts."""
    if value is None or value in ("", "null"):
        return None
    if isinstance(value, dict):
        return [value]
    raise Mismatch(f"no array: {kind(value)}")


def _numbers_of(value: JsonValue, *, alone: bool, several: bool) -> list[JsonValue] | None:
    """The same where it expects integers: not all of fastjson2's readers take one that stands
    ``alone`` without its array, or a text of ``several`` with commas between."""
    if isinstance(value, str) and value not in ("", "null"):
        items = value.rstrip(",").split(",") if several else [value]
        if "" in items:
            raise Mismatch("null has no place here")
        try:
            return [parse_integer(item, -(1 << 63), (1 << 63) - 1) for item in items]
        except ValueError:
            raise Mismatch(f"no array: {kind(value)}") from None
    if not alone and value not in (None, "", "null"):
        raise Mismatch(f"no array: {kind(value)}")
    return [value] if isinstance(value, int | float) else _values_of(value)


def _lone_reader(java: str, *, is_set: bool) -> Callable[[JsonValue], list[JsonValue] | None]:
    """What reads something that is no array in the place of a list of ``java``."""
    if java == "String":
        return lambda value: _texts_of(value, is_set=is_set)
    if java in ("Integer", "Long"):
        alone = not is_set or java == "Integer"
        several = not is_set or java == "Long"
        return lambda value: _numbers_of(value, alone=alone, several=several)
    if java.startswith("Map<"):
        return _map_of
    return _none_of if java == "long" else _values_of


def _map_of(value: JsonValue) -> list[JsonValue] | None:
    """Of maps: one alone; what is neither array nor object is nothing."""
    return [value] if isinstance(value, dict) else None


def _none_of(value: JsonValue) -> None:
    """The same where it takes nothing but an array."""
    if value not in (None, "", "null"):
        raise Mismatch(f"no array: {kind(value)}")


def listing(form: Form[T], java: str = "List<{}>", *, of_map: bool = False) -> Form[tuple[T, ...]]:
    """A list of ``form``.

    Args:
        form: of the elements.
        java: the Java type, with braces in the place of the element's type.
        of_map: whether it is a value of a map, where fastjson2 has one reader for lists and sets
            of texts.
    """
    write = form.write
    values_of = _lone_reader(form.java, is_set=of_map or java.startswith("Set"))

    def read(value: JsonValue) -> tuple[T, ...] | None:
        values = value if isinstance(value, list) else values_of(value)
        return None if values is None else _elements(values, form)

    def write_all(values: tuple[T, ...]) -> list[Any]:
        return list(values) if write is None else [write(value) for value in values]

    return Form(java.format(form.java), read, write_all)


def distinct(
    form: Form[T], *, identity: Callable[[T], object] | None = None
) -> Form[tuple[T, ...]]:
    """A set of ``form``: an element that comes again is dropped.

    Args:
        form: of the elements.
        identity: what of an element Java compares, if not all of it; the first of those that agree
            in it stays.
    """
    elements = listing(form, "Set<{}>")

    def read(value: JsonValue) -> tuple[T, ...] | None:
        values = elements.read(value)
        if not values:
            return values
        if identity is None:
            return tuple(dict.fromkeys(values))
        kept: dict[object, T] = {}
        for one in values:
            kept.setdefault(identity(one), one)
        return tuple(kept.values())

    return Form(elements.java, read, elements.write)


def mapping(
    key: Form[K], value: Form[V], *, concurrent: bool = False, properties: bool = False
) -> Form[Mapping[K, V]]:
    """A map from ``key`` to ``value``.

    Args:
        key: form of the keys; ``STRING``, an integer, or a record, whose JSON stands in the
            place of the key.
        value: form of the values.
        concurrent: whether Java's map refuses null values.
        properties: whether Java has a ``Properties`` there.  Its other maps from text to text may
            stand in an array, alone.
    """
    read_key: Callable[[str], K | None] = key.read_key or key.read
    read_value = value.read
    java = f"{'ConcurrentMap' if concurrent else 'Map'}<{key.java}, {value.java}>"

    exact, nulls = value.exact, value.nulls
    in_array = key.java == value.java == "String" and not properties

    def read(source: JsonValue) -> dict[K, V] | None:
        result: dict[K, V] = {}
        if not isinstance(source, dict):
            if source is None or source in ("", "null"):
                return None
            source = _object_in(source, in_array=in_array)
        name = ""
        try:
            for name, item in source.items():
                read_name: Any = name if read_key is same else read_key(name)
                if read_name is None:
                    raise Mismatch("null is no key")
                content: Any = item if type(item) is exact else read_value(item)
                if content is not None:
                    result[read_name] = content
                elif concurrent:
                    raise Mismatch("null has no place here")
                elif nulls:
                    result[read_name] = cast("V", None)
        except Mismatch as problem:
            raise problem.under(name) from None
        return result

    return Form(java, read, _map_writer(key, value))


def _object_in(source: JsonValue, *, in_array: bool) -> dict[str, JsonValue]:
    """The only element of an array in the place of an object, where it may stand in one."""
    if in_array and isinstance(source, list) and len(source) == 1:
        only = source[0]
        if isinstance(only, dict):
            return only
    raise Mismatch(f"no object: {kind(source)}")


def _map_writer(key: Form[K], value: Form[V]) -> Callable[[Mapping[K, V]], dict[Any, Any]]:
    write_key, write = key.write_key or key.write, value.write

    def write_map(source: Mapping[K, V]) -> dict[Any, Any]:
        return {
            name if write_key is None else write_key(name): item if write is None else write(item)
            for name, item in source.items()
            if item is not None
        }

    return write_map
