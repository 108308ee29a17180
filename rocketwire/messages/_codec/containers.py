"""Forms of lists, sets and maps, built from the forms of their elements.

Rules of this file: lists and sets become tuples in their received order, and maps become dicts.
Forms with ``nulls`` keep null.  For other forms, null in a list, a set or a concurrent map is a
mismatch, and other maps drop null values, as Java does when it writes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from rocketwire.messages._codec.java_numbers import Mismatch, kind, parse_integer
from rocketwire.messages._codec.types import Form, keep_text

if TYPE_CHECKING:
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
        raise problem.with_path(len(result)) from None
    return tuple(result)


def _texts_of(value: JsonValue, *, is_set: bool) -> list[JsonValue] | None:
    # As fastjson2 reads a value other than an array in place of texts; None is null.
    if isinstance(value, str):
        return [] if value == "" or (value == "null" and not is_set) else [value]
    if value is None or not is_set:
        return None
    if isinstance(value, dict):
        return [value]
    raise Mismatch(f"expected an array, got {kind(value)}")


def _values_of(value: JsonValue) -> list[JsonValue] | None:
    # As fastjson2 reads a value other than an array in place of objects and others.
    if value is None or value in ("", "null"):
        return None
    if isinstance(value, dict):
        return [value]
    raise Mismatch(f"expected an array, got {kind(value)}")


def _numbers_of(value: JsonValue, *, scalar: bool, commas: bool) -> list[JsonValue] | None:
    # fastjson2's readers of integers differ: some accept a single integer (``scalar``), some a text
    # of integers with commas between them (``commas``).
    if isinstance(value, str) and value not in ("", "null"):
        items = value.rstrip(",").split(",") if commas else [value]
        if "" in items:
            raise Mismatch("null has no place here")
        try:
            return [parse_integer(item, -(1 << 63), (1 << 63) - 1) for item in items]
        except ValueError:
            raise Mismatch(f"expected an array, got {kind(value)}") from None
    if not scalar and value not in (None, "", "null"):
        raise Mismatch(f"expected an array, got {kind(value)}")
    return [value] if isinstance(value, int | float) else _values_of(value)


def _scalar_reader(java: str, *, is_set: bool) -> Callable[[JsonValue], list[JsonValue] | None]:
    if java == "String":
        return lambda value: _texts_of(value, is_set=is_set)
    if java in ("Integer", "Long"):
        scalar = not is_set or java == "Integer"
        commas = not is_set or java == "Long"
        return lambda value: _numbers_of(value, scalar=scalar, commas=commas)
    if java.startswith("Map<"):
        return _map_of
    return _decode_null if java == "long" else _values_of


def _map_of(value: JsonValue) -> list[JsonValue] | None:
    # Anything but a map is null.
    return [value] if isinstance(value, dict) else None


def _decode_null(value: JsonValue) -> None:
    if value not in (None, "", "null"):
        raise Mismatch(f"expected an array, got {kind(value)}")


def listing(form: Form[T], java: str = "List<{}>", *, of_map: bool = False) -> Form[tuple[T, ...]]:
    # ``of_map``: it is a map's value; there fastjson2 reads lists and sets of texts alike
    write = form.write
    values_of = _scalar_reader(form.java, is_set=of_map or java.startswith("Set"))

    def read(value: JsonValue) -> tuple[T, ...] | None:
        values = value if isinstance(value, list) else values_of(value)
        return None if values is None else _elements(values, form)

    def write_all(values: tuple[T, ...]) -> list[Any]:
        return list(values) if write is None else [write(value) for value in values]

    return Form(java.format(form.java), read, write_all)


def distinct(
    form: Form[T], *, identity: Callable[[T], object] | None = None
) -> Form[tuple[T, ...]]:
    # ``identity`` is the part of an element that Java compares; the first of equal ones is kept
    elements = listing(form, "Set<{}>")

    def read(array: JsonValue) -> tuple[T, ...] | None:
        values = elements.read(array)
        if not values:
            return values
        if identity is None:
            return tuple(dict.fromkeys(values))
        by_identity: dict[object, T] = {}
        for value in values:
            by_identity.setdefault(identity(value), value)
        return tuple(by_identity.values())

    return Form(elements.java, read, elements.write)


def mapping(
    key: Form[K], value: Form[V], *, concurrent: bool = False, properties: bool = False
) -> Form[Mapping[K, V]]:
    # A map that is ``concurrent`` in Java rejects null values. Java also reads maps that are no
    # ``Properties`` from text to text as the only element of an array.
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
                read_name: Any = name if read_key is keep_text else read_key(name)
                if read_name is None:
                    raise Mismatch("a map key must not be null")
                content: Any = item if type(item) is exact else read_value(item)
                if content is not None:
                    result[read_name] = content
                elif concurrent:
                    raise Mismatch("null has no place here")
                elif nulls:
                    result[read_name] = cast("V", None)
        except Mismatch as problem:
            raise problem.with_path(name) from None
        return result

    return Form(java, read, _map_writer(key, value))


def _object_in(source: JsonValue, *, in_array: bool) -> dict[str, JsonValue]:
    if in_array and isinstance(source, list) and len(source) == 1:
        only = source[0]
        if isinstance(only, dict):
            return only
    raise Mismatch(f"expected an object, got {kind(source)}")


def _map_writer(key: Form[K], value: Form[V]) -> Callable[[Mapping[K, V]], dict[Any, Any]]:
    write_key, write = key.write_key or key.write, value.write

    def write_map(source: Mapping[K, V]) -> dict[Any, Any]:
        return {
            name if write_key is None else write_key(name): item if write is None else write(item)
            for name, item in source.items()
            if item is not None
        }

    return write_map
