"""Whether what came is what a pattern accepts, and if not, where it differs.

Every function returns None for a match and otherwise one line that says what is wrong, beginning with the place.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from rocketwire.errors import DecodeError
from rocketwire.wire.json import fastjson
from rocketwire_tools.conformance.model.outcomes import (
    ANY,
    NO_BODY,
    NO_EXT,
    AllOf,
    Bytes,
    Check,
    Contains,
    Has,
    Json,
    Lacks,
    Like,
    Mark,
    Ordered,
    Text,
)
from rocketwire_tools.conformance.model.predicates import PREDICATES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rocketwire.wire.command import RemotingCommand
    from rocketwire_tools.conformance.model.outcomes import Answer, Body, Incoming
    from rocketwire_tools.conformance.model.placeholders import Names

SHOWN = 400
"""Characters of a value in a message."""


def shown(value: object) -> str:
    """A value for a message, cut where it is long."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}... ({len(text)} characters)"


def value(pattern: object, got: object, names: Names, path: str = "") -> str | None:
    """Compare a JSON-like value with a pattern; ``Like``, ``Has`` and the others may stand anywhere in it."""
    if pattern is ANY:
        return None
    rule = _RULES.get(type(pattern))
    if rule is not None:
        return rule(pattern, got, names, path)
    expected = names.text(pattern) if isinstance(pattern, str) else pattern
    if type(expected) is type(got) and expected == got:
        return None
    numbers = isinstance(expected, (int, float)) and isinstance(got, (int, float))
    if numbers and expected == got and not isinstance(expected, bool) and not isinstance(got, bool):
        return None
    return f"{path or 'value'}: {shown(got)} instead of {shown(expected)}"


def _like(pattern: Like, got: object, names: Names, path: str) -> str | None:
    expected = names.pattern(pattern.pattern)
    if isinstance(got, str) and re.fullmatch(expected, got, re.DOTALL):
        return None
    return f"{path or 'text'}: {shown(got)} is not like {expected!r}"


def _exact_map(
    pattern: Mapping[object, object], got: object, names: Names, path: str
) -> str | None:
    wrong = _members(pattern, got, names, path)
    if wrong is not None:
        return wrong
    expected = {names.text(str(key)) for key in pattern}
    extra = sorted(set(cast("dict[str, object]", got)) - expected)
    return f"{path or 'map'}: also has {shown(extra)}" if extra else None


def _has(pattern: Has, got: object, names: Names, path: str) -> str | None:
    return _members(cast("Mapping[object, object]", pattern.members), got, names, path)


def _members(pattern: Mapping[object, object], got: object, names: Names, path: str) -> str | None:
    if not isinstance(got, dict):
        return f"{path or 'value'}: {shown(got)} is no map"
    members = cast("dict[str, object]", got)
    for key, inner in pattern.items():
        name = names.text(str(key))
        if name not in members:
            return f"{path}.{name}: missing; there are {shown(sorted(members))}"
        wrong = value(inner, members[name], names, f"{path}.{name}")
        if wrong is not None:
            return wrong
    return None


def _lacks(pattern: Lacks, got: object, names: Names, path: str) -> str | None:
    if not isinstance(got, (dict, list)):
        return f"{path or 'value'}: {shown(got)} is neither map nor list"
    present = list(cast("list[object]", got))
    for key in pattern.keys:
        if any(value(key, element, names) is None for element in present):
            return f"{path or 'value'}: has {shown(names.value(key))}"
    return None


def _ordered(pattern: Ordered, got: object, names: Names, path: str) -> str | None:
    if not isinstance(got, list):
        return f"{path or 'value'}: {shown(got)} is no list"
    values = cast("list[object]", got)
    if len(values) != len(pattern.values):
        return f"{path or 'list'}: {len(values)} values instead of {len(pattern.values)}: {shown(values)}"
    for number, (expected, element) in enumerate(zip(pattern.values, values, strict=True)):
        wrong = value(expected, element, names, f"{path}[{number}]")
        if wrong is not None:
            return wrong
    return None


def _contains(pattern: Contains, got: object, names: Names, path: str) -> str | None:
    if not isinstance(got, list):
        return f"{path or 'value'}: {shown(got)} is no list"
    remaining = list(cast("list[object]", got))
    return _take_all(pattern.values, remaining, names, path)


def _exact_list(pattern: Sequence[object], got: object, names: Names, path: str) -> str | None:
    if not isinstance(got, list):
        return f"{path or 'value'}: {shown(got)} is no list"
    remaining = list(cast("list[object]", got))
    wrong = _take_all(pattern, remaining, names, path)
    if wrong is not None:
        return wrong
    return f"{path or 'list'}: also has {shown(remaining)}" if remaining else None


def _take_all(
    expected: Sequence[object], remaining: list[object], names: Names, path: str
) -> str | None:
    """Remove from ``remaining`` one value for each that is wanted, whatever their order."""
    for element in expected:
        reasons = [value(element, candidate, names, path) for candidate in remaining]
        if None not in reasons:
            nearest = f" ({reasons[0]})" if len(reasons) == 1 else ""
            return (
                f"{path or 'list'}: {shown(remaining)} lacks {shown(names.value(element))}{nearest}"
            )
        del remaining[reasons.index(None)]
    return None


def _all_of(pattern: AllOf, got: object, names: Names, path: str) -> str | None:
    reasons = (value(inner, got, names, path) for inner in pattern.patterns)
    return next((reason for reason in reasons if reason is not None), None)


_RULES: dict[type, Callable[..., str | None]] = {
    Like: _like,
    Has: _has,
    Lacks: _lacks,
    Ordered: _ordered,
    Contains: _contains,
    AllOf: _all_of,
    dict: _exact_map,
    list: _exact_list,
    tuple: _exact_list,
}


def _json_body(pattern: Json, got: bytes, names: Names) -> str | None:
    try:
        parsed = fastjson.loads(got)
    except DecodeError as error:
        return f"body: no JSON ({error}): {shown(got)}"
    return value(pattern.value, parsed, names, "body")


def body(pattern: Body, got: bytes | None, names: Names) -> str | None:
    """Compare a body with what a case wants it to be."""
    if pattern is ANY:
        return None
    if pattern is NO_BODY or isinstance(pattern, Mark):
        return None if not got else f"body: {shown(got)} instead of none"
    if got is None:
        return "body: there is none"
    if isinstance(pattern, Json):
        return _json_body(pattern, got, names)
    if isinstance(pattern, Bytes):
        return (
            None if got == pattern.data else f"body: {shown(got)} instead of {shown(pattern.data)}"
        )
    if isinstance(pattern, Check):
        wrong = PREDICATES[pattern.name](got, names, *pattern.arguments)
        return None if wrong is None else f"body: {wrong}: {shown(got)}"
    return _text_body(pattern, got, names)


def _text_body(pattern: Text, got: bytes, names: Names) -> str | None:
    try:
        text = got.decode()
    except UnicodeDecodeError:
        return f"body: no UTF-8: {shown(got)}"
    return value(pattern.text, text, names, "body")


def ext(pattern: object, got: Mapping[str, str] | None, names: Names) -> str | None:
    """Compare ext fields with what a case wants them to be."""
    if pattern is ANY:
        return None
    if pattern is NO_EXT or pattern is None:
        unwanted = bool(got) if pattern is NO_EXT else got is not None
        return f"ext: {shown(got)} instead of none" if unwanted else None
    return value(pattern, None if got is None else dict(got), names, "ext")


def _header(expected: Mapping[str, tuple[object, object]], names: Names) -> str | None:
    for place, (pattern, got) in expected.items():
        wrong = value(pattern, got, names, place)
        if wrong is not None:
            return wrong
    return None


def answer(expected: Answer, got: RemotingCommand, names: Names) -> str | None:
    """Compare a response with one acceptable answer, all but its number."""
    header: dict[str, tuple[object, object]] = {
        "code": (expected.code, got.code),
        "remark": (expected.remark, got.remark),
        "flag": (expected.flag, got.flag),
        "version": (expected.version, got.version),
        "language": (expected.language, getattr(got.language, "name", got.language)),
    }
    if expected.binary is not None:
        header["binary header"] = (expected.binary, bool(got.serialize_type))
    return (
        _header(header, names)
        or ext(expected.ext, got.ext_fields, names)
        or body(expected.body, got.body, names)
    )


def incoming(expected: Incoming, got: RemotingCommand, names: Names) -> str | None:
    """Compare a request of the server's with the one that a case awaits."""
    header: dict[str, tuple[object, object]] = {
        "code": (expected.code, got.code),
        "flag": (expected.flag, got.flag),
    }
    return (
        _header(header, names)
        or ext(expected.ext, got.ext_fields, names)
        or body(expected.body, got.body, names)
    )
