"""Compares arrivals with outcomes, and values with patterns.

Each function returns None for a match, and otherwise one line with the path and the difference.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, cast

from rocketwire.errors import DecodeError
from rocketwire.wire.json import fastjson
from rocketwire.wire.message.lazy_reader import StoredMessageReader
from rocketwire_tools.conformance.model.outcomes import (
    ANY,
    NO_EXT,
    AllOf,
    Check,
    Closed,
    Contains,
    Has,
    Incoming,
    InOrder,
    JsonBody,
    Lacks,
    Like,
    Mark,
    Messages,
    Number,
    Response,
    Silence,
    TextBody,
)
from rocketwire_tools.conformance.model.wording import cut

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rocketwire.wire.command import RemotingCommand
    from rocketwire.wire.message.stored import StoredMessage
    from rocketwire_tools.conformance.model.outcomes import Body, Outcome
    from rocketwire_tools.conformance.model.placeholders import Names
    from rocketwire_tools.conformance.run.raw_connection import Arrival


def abbreviate(value: object) -> str:
    return cut(repr(value))


def value(pattern: object, got: object, names: Names, path: str = "") -> str | None:
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
    return f"{path or 'value'}: {abbreviate(got)} instead of {abbreviate(expected)}"


def _like(pattern: Like, got: object, names: Names, path: str) -> str | None:
    expected = names.pattern(pattern.pattern)
    if isinstance(got, str) and re.fullmatch(expected, got, re.DOTALL):
        return None
    return f"{path or 'text'}: {abbreviate(got)} is not like {expected!r}"


def _exact_map(
    pattern: Mapping[object, object], got: object, names: Names, path: str
) -> str | None:
    wrong = _members(pattern, got, names, path)
    if wrong is not None:
        return wrong
    expected = {names.text(str(key)) for key in pattern}
    extra = sorted(set(cast("dict[str, object]", got)) - expected)
    return f"{path or 'object'}: also has {abbreviate(extra)}" if extra else None


def _has(pattern: Has, got: object, names: Names, path: str) -> str | None:
    return _members(cast("Mapping[object, object]", pattern.members), got, names, path)


def _members(pattern: Mapping[object, object], got: object, names: Names, path: str) -> str | None:
    if not isinstance(got, dict):
        return f"{path or 'value'}: {abbreviate(got)} is not an object"
    members = cast("dict[str, object]", got)
    for key, inner in pattern.items():
        name = names.text(str(key))
        if name not in members:
            return f"{path}.{name}: missing; there are {abbreviate(sorted(members))}"
        wrong = value(inner, members[name], names, f"{path}.{name}")
        if wrong is not None:
            return wrong
    return None


def _lacks(pattern: Lacks, got: object, names: Names, path: str) -> str | None:
    if not isinstance(got, (dict, list)):
        return f"{path or 'value'}: {abbreviate(got)} is neither an object nor a list"
    present = list(cast("list[object]", got))
    for key in pattern.keys:
        if any(value(key, element, names) is None for element in present):
            return f"{path or 'value'}: has {abbreviate(names.value(key))}"
    return None


def _contains(pattern: Contains, got: object, names: Names, path: str) -> str | None:
    return _exact_list(pattern.values, got, names, path, or_more=True)


def _exact_list(
    pattern: Sequence[object], got: object, names: Names, path: str, *, or_more: bool = False
) -> str | None:
    if not isinstance(got, list):
        return f"{path or 'value'}: {abbreviate(got)} is not a list"
    remaining = list(cast("list[object]", got))
    for element in pattern:
        reasons = [value(element, candidate, names, path) for candidate in remaining]
        if None not in reasons:
            nearest = f" ({reasons[0]})" if len(reasons) == 1 else ""
            missing = abbreviate(names.value(element))
            return f"{path or 'list'}: {abbreviate(remaining)} lacks {missing}{nearest}"
        del remaining[reasons.index(None)]
    if remaining and not or_more:
        return f"{path or 'list'}: also has {abbreviate(remaining)}"
    return None


def _in_order(pattern: InOrder, got: object, names: Names, path: str) -> str | None:
    if not isinstance(got, list):
        return f"{path or 'value'}: {abbreviate(got)} is not a list"
    elements = cast("list[object]", got)
    if len(elements) != len(pattern.values):
        count = f"{len(elements)} values instead of {len(pattern.values)}"
        return f"{path or 'list'}: {count}: {abbreviate(elements)}"
    reasons = (
        value(expected, element, names, f"{path}[{index}]")
        for index, (expected, element) in enumerate(zip(pattern.values, elements, strict=True))
    )
    return next((reason for reason in reasons if reason is not None), None)


def _number(pattern: Number, got: object, names: Names, path: str) -> str | None:
    if isinstance(got, bool) or not isinstance(got, (int, float, str)):
        return f"{path or 'value'}: {abbreviate(got)} is not a number"
    try:
        number = float(got) if isinstance(got, float) else int(got)
        limits = [
            None if limit is None else int(names.text(str(limit)))
            for limit in (pattern.equal, pattern.least, pattern.most)
        ]
    except ValueError as error:
        return f"{path or 'value'}: {abbreviate(got)}: {error}"
    equal, least, most = limits
    if equal is not None and number != equal:
        return f"{path or 'value'}: {number} instead of {equal}"
    if least is not None and number < least:
        return f"{path or 'value'}: {number} is less than {least}"
    if most is not None and number > most:
        return f"{path or 'value'}: {number} is more than {most}"
    return None


def _all_of(pattern: AllOf, got: object, names: Names, path: str) -> str | None:
    reasons = (value(inner, got, names, path) for inner in pattern.patterns)
    return next((reason for reason in reasons if reason is not None), None)


_RULES: dict[type, Callable[..., str | None]] = {
    Like: _like,
    Has: _has,
    Lacks: _lacks,
    Contains: _contains,
    AllOf: _all_of,
    InOrder: _in_order,
    Number: _number,
    dict: _exact_map,
    list: _exact_list,
    tuple: _exact_list,
}


def _json_body(pattern: JsonBody, got: bytes, names: Names) -> str | None:
    try:
        parsed = fastjson.loads(got)
    except DecodeError as error:
        return f"body: not JSON ({error}): {abbreviate(got)}"
    return value(pattern.value, parsed, names, "body")


def lacks_text(body: bytes, names: Names, text: str) -> str | None:
    unwanted = names.text(text)
    return None if unwanted.encode() not in body else f"has {unwanted!r}"


def lacks_one(body: bytes, names: Names, *texts: str) -> str | None:
    expected = [names.text(text) for text in texts]
    return "contains all of them" if all(text.encode() in body for text in expected) else None


def has_lines(body: bytes, names: Names, *lines: str) -> str | None:
    there = body.decode("utf-8", "replace").split("\n")
    missing = [line for line in map(names.text, lines) if line not in there]
    return f"lacks the lines {missing}" if missing else None


def has_names(body: bytes, _: Names, *names: str) -> str | None:
    there = {line.partition("=")[0] for line in body.decode("utf-8", "replace").splitlines()}
    missing = sorted(set(names) - there)
    return f"lacks {missing}" if missing else None


def has_sorted_lines(body: bytes, _: Names, *keys: str) -> str | None:
    *lines, last = body.decode("utf-8", "replace").split("\n")
    names_in_body = [line.partition("=")[0] for line in lines]
    if last or not all("=" in line for line in lines):
        return "is not a list of lines key=value"
    if names_in_body != sorted(names_in_body):
        return "is not sorted by key"
    missing = sorted(set(keys) - set(names_in_body))
    return f"lacks {missing}" if missing else None


# The rules of ``Check``: each returns None or the reason of a mismatch.
PREDICATES: Final[dict[str, Callable[..., str | None]]] = {
    "lacks-text": lacks_text,
    "lacks-one": lacks_one,
    "has-lines": has_lines,
    "has-names": has_names,
    "sorted-lines": has_sorted_lines,
}


def body(pattern: Body, got: bytes | None, names: Names) -> str | None:
    if pattern is ANY:
        return None
    if isinstance(pattern, Mark):
        return None if not got else f"body: {abbreviate(got)} instead of none"
    if got is None:
        return "body: missing"
    if isinstance(pattern, JsonBody):
        return _json_body(pattern, got, names)
    if isinstance(pattern, Messages):
        return _messages(pattern, got, names)
    if isinstance(pattern, Check):
        wrong = PREDICATES[pattern.name](got, names, *pattern.arguments)
        return None if wrong is None else f"body: {wrong}: {abbreviate(got)}"
    return _text_body(pattern, got, names)


def _messages(pattern: Messages, got: bytes, names: Names) -> str | None:
    try:
        there = message_values(got)
    except DecodeError as error:
        return f"body: not messages ({error}): {abbreviate(got)}"
    return _in_order(InOrder(pattern.patterns), there, names, "messages")


def _text_body(pattern: TextBody, got: bytes, names: Names) -> str | None:
    try:
        text = got.decode()
    except UnicodeDecodeError:
        return f"body: not UTF-8: {abbreviate(got)}"
    return value(pattern.text, text, names, "body")


def ext(pattern: object, got: Mapping[str, str] | None, names: Names) -> str | None:
    if pattern is ANY:
        return None
    if pattern is NO_EXT or pattern is None:
        unwanted = bool(got) if pattern is NO_EXT else got is not None
        return f"ext: {abbreviate(got)} instead of none" if unwanted else None
    return value(pattern, None if got is None else dict(got), names, "ext")


def command(expected: Response | Incoming, got: RemotingCommand, names: Names) -> str | None:
    header: dict[str, tuple[object, object]] = {
        "code": (expected.code, got.code),
        "remark": (expected.remark if isinstance(expected, Response) else ANY, got.remark),
        "flag": (expected.flag, got.flag),
    }
    if isinstance(expected, Response):
        header |= {
            "language": (expected.language, getattr(got.language, "name", got.language)),
        }
        if expected.binary is not None:
            header["binary header"] = (expected.binary, bool(got.serialize_type))
    reasons = (value(pattern, there, names, path) for path, (pattern, there) in header.items())
    return (
        next((reason for reason in reasons if reason is not None), None)
        or ext(expected.ext, got.ext_fields, names)
        or body(expected.body, got.body, names)
    )


def mismatch(outcome: Outcome, arrival: Arrival, names: Names) -> str | None:
    """The reason why an arrival is not this outcome; None if it is."""
    if isinstance(outcome, Silence):
        return f"{arrival.kind} instead of silence"
    if isinstance(outcome, Closed):
        return None if arrival.kind == "end" else f"{arrival.kind} instead of the end"
    expected = "response" if isinstance(outcome, Response) else "request"
    got = arrival.command
    if got is None or arrival.kind != expected:
        why = f" ({arrival.reason})" if arrival.reason else ""
        return f"{arrival.kind}{why} instead of a {expected}"
    if isinstance(outcome, Response) and outcome.opaque not in {None, got.opaque}:
        return f"opaque: {got.opaque} instead of {outcome.opaque}"
    return command(outcome, got, names)


def belongs(arrival: Arrival, opaque: int | None) -> bool:
    """Whether an arrival can be the response to ``opaque``; None for any request."""
    if arrival.kind != "response" or opaque is None:
        return True
    return arrival.command is not None and arrival.command.opaque == opaque


def deciding_kinds(outcomes: Sequence[Outcome]) -> frozenset[str]:
    """The kinds of arrivals that decide between these outcomes; later steps see others."""
    if all(isinstance(outcome, Incoming) for outcome in outcomes):
        return frozenset({"request", "rubbish", "end"})
    if any(isinstance(outcome, (Silence, Incoming)) for outcome in outcomes):
        return frozenset({"request", "response", "rubbish", "end"})
    return frozenset({"response", "rubbish", "end"})


def byte_for_byte(outcomes: Sequence[Outcome]) -> bool:
    return any(
        isinstance(outcome, Response) and isinstance(outcome.body, TextBody) for outcome in outcomes
    )


# Hexadecimal digits of the position in the commit log, at the end of an offset id.
_POSITION_DIGITS: Final = 16


def message_values(body: bytes) -> list[object]:
    """The messages of a body, see ``Messages``; raises ``DecodeError`` if it has others."""
    return [_values(message) for message in StoredMessageReader().decode(body)]


def _values(message: StoredMessage) -> dict[str, object]:
    return {
        "topic": message.topic,
        "queueId": message.queue_id,
        "queueOffset": message.queue_offset,
        "body": (message.body or b"").decode("utf-8", "replace"),
        "flag": message.flag,
        "sysFlag": message.sys_flag,
        "reconsumeTimes": message.reconsume_times,
        "bornTimestamp": message.born_timestamp,
        "storeTimestamp": message.store_timestamp,
        "bornHost": str(message.born_host),
        "storeHost": str(message.store_host),
        "preparedTransactionOffset": message.prepared_transaction_offset,
        "commitLogOffset": message.commit_log_offset,
        "storeSize": message.store_size,
        "bodyCRC": message.body_crc,
        "id": message.offset_msg_id,
        "properties": dict(message.properties or {}),
    }


def lines_of(body: bytes) -> dict[str, str]:
    """The properties of a configuration as a server writes them, one per line (26, 319)."""
    pairs = (line.partition("=") for line in body.decode("utf-8", "replace").splitlines())
    return {name: text for name, equals, text in pairs if equals}


def extract(path: str, arrival: Arrival | None) -> str:
    """A value of an arrival, or ``LookupError``; None as arrival is silence.

    A path is ``ext.NAME``, ``ext.NAME:position`` for the position in the commit log of an offset
    id, ``body.KEY.KEY`` of a JSON body, ``line.KEY`` of lines ``KEY=value``, or
    ``message.NUMBER.MEMBER`` of a body of messages. Raises ``DecodeError`` for another body.
    """
    command = None if arrival is None else arrival.command
    if command is None:
        raise LookupError("no frame")
    path, _, form = path.partition(":")
    part, *keys = path.split(".")
    value: Any
    if part == "ext":
        value = dict(command.ext_fields or {})
    elif part == "line":
        value = lines_of(command.body or b"")
    elif part == "body":
        value = fastjson.loads(command.body or b"null")
    else:
        value = message_values(command.body or b"")
    for key in keys:
        if isinstance(value, list):
            value = cast("list[object]", value)[int(key)]
        elif isinstance(value, dict):
            value = cast("dict[str, object]", value)[key]
        else:
            raise LookupError(key)
    if form == "position":
        return str(int(str(value)[-_POSITION_DIGITS:], 16))
    return str(value)
