"""References in JSON documents: fastjson 1 writes a repeated object as ``{"$ref":"$.path"}``.

A reference is replaced by the Python object of its target, without a copy.  The document with all
references written out must be within the limits, and no value may contain itself.  A path without a
target gives None, as in Java.  References in key position (5.3.3, ``ConsumerRunningInfo``) are
resolved too; the last component ``null`` of their path is the object in key position.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeAlias

from rocketwire.errors import DecodeError, LimitExceededError
from rocketwire.wire.json.writer import BareKey

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire.wire.json.limits import JsonLimits, JsonValue

Container: TypeAlias = "dict[str, JsonValue] | list[JsonValue]"

REFERENCE: Final = "$ref"

# Maximum characters of a path, including the paths of references that it passes
MAX_PATH_LENGTH: Final = 512
# Maximum components of all paths of a document; a registration has at most three a topic
MAX_STEPS: Final = 400_000

_STEP = r"""(?s)\.((?:(?>[^.\[\\]|\\.))++)|\[([0-9]++)\]|\['([^']*+)'\]|\["([^"]*+)"\]"""
_QUOTED = r"(?s)\\(.)"


def is_path(value: object) -> bool:
    """Return whether Java takes the text of a ``$ref`` member for a reference."""
    return isinstance(value, str) and (value.startswith(("$", "@")) or value == "..")


def _target(value: JsonValue) -> str | None:
    if isinstance(value, dict) and len(value) == 1:
        path = value.get(REFERENCE)
        if isinstance(path, str) and is_path(path):
            return path
    return None


def resolve_references(
    root: JsonValue, *, limits: JsonLimits, read_key: Callable[[str], JsonValue]
) -> JsonValue:
    """Replace every reference in a document, in place, and return the document.

    ``limits`` are those of the document with every reference written out; ``read_key`` decodes the
    text of an object in key position.
    """
    if not isinstance(root, (dict, list)):
        return root
    resolver = _Resolver(root, read_key)
    for container in _containers(root):
        resolver.resolve_in(container)
    _measure(root, limits)
    return root


def _containers(root: Container) -> list[Container]:
    # Parents come first.
    containers: list[Container] = [root]
    for container in containers:  # the list grows during the loop
        containers += _inner(container)
    return containers


class _Resolver:
    def __init__(self, root: Container, read_key: Callable[[str], JsonValue]) -> None:
        self._root = root
        self._read_key = read_key
        self._steps = 0

    def resolve_in(self, container: Container) -> None:
        if isinstance(container, list):
            for index, value in enumerate(container):
                path = _target(value)
                if path is not None:
                    container[index] = self._follow(path)
            return
        for key, value in container.items():
            path = _target(value)
            if path is not None:
                container[key] = self._follow(path)
        if any(map(_is_key_reference, container)):
            members = [(self._key(key), value) for key, value in container.items()]
            container.clear()
            container.update(members)

    def _key(self, key: str) -> str:
        # The first object at the place of a reference stands for it in key position.
        path = _target(self._read_key(key)) if _is_key_reference(key) else None
        if path is None:
            return key
        holder = self._follow(path.removesuffix(".null"))
        return _first_object_key(holder) or BareKey("null")

    def _follow(self, path: str) -> JsonValue:
        value: JsonValue = self._root
        steps = re.compile(_STEP)
        position = 1
        while position < len(path):
            self._count_step(path)
            step = steps.match(path, position)
            if step is None:
                return None
            value = _step(value, re.sub(_QUOTED, r"\1", step[step.lastindex or 0]), self._read_key)
            position = step.end()
            target = _target(value)
            if target is not None:
                path, position, value = target + path[position:], 1, self._root
        if value is self._root:
            raise DecodeError("a reference to a value that contains it", path=path)
        return value

    def _count_step(self, path: str) -> None:
        if len(path) > MAX_PATH_LENGTH:
            raise LimitExceededError(
                f"a reference of more than {MAX_PATH_LENGTH} characters",
                declared=len(path),
                limit=MAX_PATH_LENGTH,
            )
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise LimitExceededError(
                f"references of more than {MAX_STEPS} steps", declared=self._steps, limit=MAX_STEPS
            )


def _step(value: JsonValue, name: str, read_key: Callable[[str], JsonValue]) -> JsonValue:
    if isinstance(value, list):
        return value[int(name)] if name.isdecimal() and int(name) < len(value) else None
    if not isinstance(value, dict):
        return None
    if name in value:
        return value[name]
    key = _first_object_key(value) if name == "null" else None
    return None if key is None else read_key(key)


def _is_key_reference(key: str) -> bool:
    return isinstance(key, BareKey) and key.startswith('{"$ref":')


def _first_object_key(value: JsonValue) -> str | None:
    if isinstance(value, dict):
        for key in value:
            if isinstance(key, BareKey) and key.startswith("{") and not _is_key_reference(key):
                return key
    return None


def _measure(root: Container, limits: JsonLimits) -> None:
    sizes: dict[int, tuple[int, int]] = {}  # container -> number of values and levels in it
    open_: set[int] = set()
    waiting: list[Container] = [root]
    while waiting:
        container = waiting[-1]
        name = id(container)
        if name in sizes:
            waiting.pop()
            continue
        inner = _inner(container)
        if name in open_:
            open_.discard(name)
            waiting.pop()
            below = [sizes[id(value)] for value in inner]
            size = len(container) + sum(count for count, _ in below)
            depth = 1 + max((levels for _, levels in below), default=0)
            sizes[name] = (size, depth)
            _check("values", size, limits.max_count)
            _check("levels of nesting", depth, limits.max_depth)
        else:
            open_.add(name)
            for value in inner:
                if id(value) in open_:
                    raise DecodeError("a reference to a value that contains it")
                if id(value) not in sizes:
                    waiting.append(value)


def _inner(container: Container) -> list[Container]:
    values = container.values() if isinstance(container, dict) else container
    return [value for value in values if isinstance(value, (dict, list))]


def _check(unit: str, declared: int, limit: int) -> None:
    if declared > limit:
        raise LimitExceededError(
            f"with references written out more than {limit} {unit}", declared=declared, limit=limit
        )
