"""Cases in words: what is sent, and which outcomes are right."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import singledispatch
from typing import TYPE_CHECKING, Final, cast

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire_tools.conformance.model.outcomes import (
    ANY,
    NO_BODY,
    NO_EXT,
    AllOf,
    Answer,
    Bytes,
    Check,
    Closed,
    Contains,
    Has,
    Incoming,
    Json,
    Lacks,
    Like,
    Ordered,
    Silence,
    Text,
)
from rocketwire_tools.conformance.model.steps import (
    Ask,
    Call,
    Close,
    Expect,
    Frame,
    Listen,
    Open,
    Request,
    Restart,
    Send,
    Until,
    Wait,
)

if TYPE_CHECKING:
    from enum import IntEnum

    from rocketwire_tools.conformance.model.outcomes import Outcome
    from rocketwire_tools.conformance.model.steps import Sendable, Step

_SHOWN: Final = 400
"""Characters of one text."""
_RESPONSE_FLAG: Final = 1


def outcome(accepted: Outcome) -> str:
    """What is accepted, in words."""
    if isinstance(accepted, Answer):
        return _answer(accepted)
    if isinstance(accepted, Incoming):
        return f"a request {request_name(accepted.code)} from the server, " + ", ".join(
            [_ext(accepted.ext), _flag(accepted.flag), _body(accepted.body)]
        )
    if isinstance(accepted, Closed):
        return "the server closes the connection and sends nothing before"
    if isinstance(accepted, Silence):
        return f"nothing comes for {accepted.seconds:g} s and the connection stays open"
    return f"exactly these bytes: {accepted.data.hex(' ')}"


def _answer(accepted: Answer) -> str:
    code = "any code" if accepted.code is ANY else f"code {response_name(accepted.code)}"
    parts = [f"an answer with {code}", _remark(accepted.remark), _ext(accepted.ext)]
    parts.append(_body(accepted.body))
    if accepted.flag != _RESPONSE_FLAG:
        parts.append(_flag(accepted.flag))
    if accepted.opaque is not None:
        parts.append(f"opaque {accepted.opaque}")
    if accepted.binary is not None:
        parts.append(f"{'binary' if accepted.binary else 'JSON'} header")
    for name, expected in (("version", accepted.version), ("language", accepted.language)):
        if expected is not ANY:
            parts.append(f"{name} {pattern(expected)}")
    return ", ".join(parts)


def _remark(expected: object) -> str:
    if expected is None:
        return "no remark"
    return "any remark" if expected is ANY else f"remark {pattern(expected)}"


def _ext(expected: object) -> str:
    if expected is ANY:
        return "any ext fields"
    if expected is None:
        return "without the member extFields"
    if expected is NO_EXT or expected == {}:
        return "no ext fields"
    return f"ext fields {pattern(expected)}"


def _flag(expected: object) -> str:
    return "any flag" if expected is ANY else f"flag {expected}"


def _body(expected: object) -> str:
    if expected is ANY:
        return "any body"
    if expected is NO_BODY:
        return "no body"
    if isinstance(expected, Json):
        return f"a JSON body: {pattern(expected.value)}"
    if isinstance(expected, Text):
        return f"a body of exactly this text: {pattern(expected.text)}"
    if isinstance(expected, Bytes):
        return f"a body of exactly these bytes: {expected.data.hex(' ')}"
    if isinstance(expected, Check):
        rule = _CHECKS.get(expected.name, expected.name)
        return f"a body that {rule} {', '.join(map(pattern, expected.arguments))}".rstrip()
    return pattern(expected)


_CHECKS: Final = {
    "has-text": "contains",
    "lacks-text": "does not contain",
    "in-order": "contains, in this order,",
    "lacks-one": "lacks at least one of",
    "has-lines": "has the lines",
    "sorted-lines": "is a sorted list of lines key=value, with the keys",
}


@singledispatch
def pattern(expected: object) -> str:
    """A JSON-like value, or a pattern for one, in words."""
    if expected is ANY:
        return "anything"
    if isinstance(expected, Mapping):
        members = cast("Mapping[object, object]", expected)
        inner = (f"{_key(key)}: {pattern(value)}" for key, value in members.items())
        return "{" + ", ".join(inner) + "}"
    if isinstance(expected, (list, tuple)):
        values = cast("list[object]", expected)
        ending = " in any order" if len(values) > 1 else ""
        return "[" + ", ".join(map(pattern, values)) + "]" + ending
    if isinstance(expected, bytes):
        return _cut(expected.hex(" "))
    return _cut(json.dumps(expected, ensure_ascii=False, default=str))


@pattern.register
def _(expected: Like) -> str:
    return f"a text that matches /{expected.pattern}/"


@pattern.register
def _(expected: Has) -> str:
    return f"an object with at least {pattern(expected.members)}"


@pattern.register
def _(expected: Lacks) -> str:
    return f"a value without {_many(expected.keys)}"


@pattern.register
def _(expected: Contains) -> str:
    return f"a list with at least {_many(expected.values)}"


@pattern.register
def _(expected: Ordered) -> str:
    return f"a list of exactly {_many(expected.values)}, in this order"


@pattern.register
def _(expected: AllOf) -> str:
    return " and ".join(map(pattern, expected.patterns))


def _key(key: object) -> str:
    return json.dumps(key, ensure_ascii=False) if isinstance(key, str) else str(key)


def _many(values: tuple[object, ...]) -> str:
    return ", ".join(map(pattern, values))


@singledispatch
def step(item: Step) -> str:
    """One step in words, without the frames that it sends and without the outcomes that it accepts."""
    raise TypeError(f"no step: {item!r}")


def sent(part: Sendable) -> str:
    """What is sent, in words."""
    if isinstance(part, Request):
        oneway = ", one-way" if part.flag & 2 else ""
        return f"request {request_name(part.code)}{oneway}"
    return "a hand-made frame" if isinstance(part, Frame) else f"{len(part)} bytes"


@step.register
def _(item: Open) -> str:
    how = f" with TLS ({item.tls})" if item.tls else ""
    first = f" after the bytes {item.preamble.hex(' ')}" if item.preamble else ""
    end = "; it has to be refused" if item.refused else ""
    return f"open connection {item.on!r}{how}{first}{end}"


@step.register
def _(item: Send) -> str:
    what = " and ".join(map(sent, item.parts))
    pieces = f", {item.pieces} bytes at a time" if item.pieces else ""
    return f"send {what} on connection {item.on!r}{pieces}; wait for nothing"


@step.register
def _(item: Until) -> str:
    early = f", and not before {item.not_before:g} s" if item.not_before else ""
    what = f"send {sent(item.request)} on connection {item.on!r}"
    return f"{what} again and again until the answer is right, within {item.within:g} s{early}"


@step.register
def _(item: Restart) -> str:
    kv = "" if item.kv is None else f", with the KV file {item.kv!r}"
    return f"{'kill' if item.kill else 'stop'} the server and start it again{kv}"


@step.register
def _(item: Listen) -> str:
    return f"listen on {item.at} for the server's connection {item.on!r}"


@step.register
def _(item: Expect) -> str:
    return f"expect within {item.within:g} s on connection {item.on!r}"


@step.register
def _(item: Ask) -> str:
    what = f"send {sent(item.request)} on connection {item.on!r}"
    return f"{what}; expect its answer within {item.within:g} s"


@step.register
def _(item: Close) -> str:
    return f"{'reset' if item.reset else 'close'} connection {item.on!r}"


@step.register
def _(item: Wait) -> str:
    return f"wait {item.seconds:g} s"


@step.register
def _(item: Call) -> str:
    return f"call {_function(item)}"


def _function(item: Call) -> str:
    """What a function of a case does, by its docstring if it has one."""
    name = getattr(item.function, "__name__", "a function").strip("_").replace("_", " ")
    text = (item.function.__doc__ or "").strip().partition("\n")[0]
    return f'"{name}"' + (f": {text}" if text else "")


def request_name(code: int) -> str:
    """``100 PUT_KV_CONFIG``; the number alone if no request has it."""
    return _named(RequestCode, code)


def response_name(code: object) -> str:
    """``22 QUERY_NOT_FOUND``; the number alone if no response has it."""
    return _named(ResponseCode, code)


def _named(codes: type[IntEnum], code: object) -> str:
    name = next((member.name for member in codes if member == code), None)
    return f"{code} {name}" if name else str(code)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(text)} characters)"
