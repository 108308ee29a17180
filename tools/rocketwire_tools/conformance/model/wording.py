"""Descriptions of cases: steps, sent data and acceptable outcomes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, cast

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire_tools.conformance.model.outcomes import (
    ANY,
    NO_BODY,
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
    Outcome,
    Response,
    TextBody,
)
from rocketwire_tools.conformance.model.steps import (
    Ask,
    Call,
    Close,
    Expect,
    Frame,
    Listen,
    Open,
    Reply,
    Request,
    Restart,
    Send,
    Sendable,
    Step,
    Until,
    Wait,
)

# Maximum characters of one value.
MAX_CHARACTERS: Final = 400
_RESPONSE_FLAG: Final = 1


def describe_outcome(accepted: Outcome) -> str:
    if isinstance(accepted, Response):
        return _response(accepted)
    if isinstance(accepted, Incoming):
        request = f"a request {request_name(accepted.code)} from the server"
        return ", ".join([request, _ext(accepted.ext), _flag(accepted.flag), _body(accepted.body)])
    if isinstance(accepted, Closed):
        return "the server closes the connection without sending anything"
    return f"nothing arrives for {accepted.seconds:g} s and the connection stays open"


def _response(accepted: Response) -> str:
    code = f"code {response_name(accepted.code)}" if isinstance(accepted.code, int) else "any code"
    parts = [f"a response with {code}", _remark(accepted.remark), _ext(accepted.ext)]
    parts.append(_body(accepted.body))
    if accepted.flag != _RESPONSE_FLAG:
        parts.append(_flag(accepted.flag))
    if accepted.opaque is not None:
        parts.append(f"opaque {accepted.opaque}")
    if accepted.binary is not None:
        parts.append(f"{'binary' if accepted.binary else 'JSON'} header")
    if accepted.language is not ANY:
        parts.append(f"language {describe_pattern(accepted.language)}")
    return ", ".join(parts)


def _remark(expected: object) -> str:
    if expected is None:
        return "no remark"
    return "any remark" if expected is ANY else f"remark {describe_pattern(expected)}"


def _ext(expected: object) -> str:
    if expected is ANY:
        return "any ext fields"
    if expected is None:
        return "without the member extFields"
    if expected is NO_EXT or expected == {}:
        return "no ext fields"
    return f"ext fields {describe_pattern(expected)}"


def _flag(expected: object) -> str:
    return "any flag" if expected is ANY else f"flag {expected}"


def _body(expected: object) -> str:
    if expected is ANY:
        return "any body"
    if expected is NO_BODY:
        return "no body"
    if isinstance(expected, JsonBody):
        return f"a JSON body: {describe_pattern(expected.value)}"
    if isinstance(expected, TextBody):
        return f"a body of exactly this text: {describe_pattern(expected.text)}"
    if isinstance(expected, Messages):
        return _messages(expected)
    if isinstance(expected, Check):
        rule = _CHECKS.get(expected.name, expected.name)
        return f"a body that {rule} {', '.join(map(describe_pattern, expected.arguments))}".rstrip()
    return describe_pattern(expected)


def _messages(expected: Messages) -> str:
    if not expected.patterns:
        return "a body without messages"
    return f"the messages {', then '.join(map(describe_pattern, expected.patterns))}"


def _number(expected: Number) -> str:
    if expected.equal is not None:
        return f"the number {expected.equal}"
    low = "" if expected.least is None else f" from {expected.least}"
    high = "" if expected.most is None else f" up to {expected.most}"
    return f"a number{low}{high}"


_CHECKS: Final = {
    "lacks-text": "does not contain",
    "lacks-one": "lacks at least one of",
    "has-lines": "has the lines",
    "has-names": "has lines for the names",
    "sorted-lines": "is a sorted list of lines key=value, with the keys",
}


def describe_pattern(expected: object) -> str:
    match expected:
        case Mark.ANY:
            return "anything"
        case Like():
            return f"a text that matches /{expected.pattern}/"
        case Has():
            return f"an object with at least {describe_pattern(expected.members)}"
        case Lacks():
            return f"a value without {_many(expected.keys)}"
        case Number():
            return _number(expected)
        case InOrder():
            return f"a list of {_many(expected.values)} in this order"
        case Contains():
            return f"a list with at least {_many(expected.values)}"
        case AllOf():
            return " and ".join(map(describe_pattern, expected.patterns))
        case bytes():
            return cut(expected.hex(" "))
        case _:
            return _describe_value(expected)


def _describe_value(expected: object) -> str:
    if isinstance(expected, Mapping):
        members = cast("Mapping[object, object]", expected)
        inner = (f"{_key(key)}: {describe_pattern(value)}" for key, value in members.items())
        return "{" + ", ".join(inner) + "}"
    if isinstance(expected, (list, tuple)):
        values = cast("list[object]", expected)
        ending = " in any order" if len(values) > 1 else ""
        return "[" + ", ".join(map(describe_pattern, values)) + "]" + ending
    return cut(json.dumps(expected, ensure_ascii=False, default=str))


def _key(key: object) -> str:
    return json.dumps(key, ensure_ascii=False) if isinstance(key, str) else str(key)


def _many(values: tuple[object, ...]) -> str:
    return ", ".join(map(describe_pattern, values))


def describe_step(item: Step) -> str:
    match item:
        case Open():
            tls = f" with TLS ({item.tls})" if item.tls else ""
            first = f" after the bytes {item.preamble.hex(' ')}" if item.preamble else ""
            end = "; it must be refused" if item.refused else ""
            return f"open connection {item.on!r}{tls}{first}{end}"
        case Send() | Ask() | Until():
            return _describe_sending(item)
        case Restart():
            return "stop the server and start it again"
        case Listen():
            return f"listen on {item.address} for the server's connection {item.on!r}"
        case Expect():
            return f"expect within {item.within:g} s on connection {item.on!r}"
        case Reply():
            return f"answer the server's request on connection {item.on!r} with code {item.code}"
        case Close():
            return f"{'reset' if item.reset else 'close'} connection {item.on!r}"
        case Wait():
            return f"wait {item.seconds:g} s"
        case Call():
            return f"call {_function(item)}"


def _describe_sending(item: Send | Ask | Until) -> str:
    if isinstance(item, Send):
        data = " and ".join(map(describe_data, item.parts))
        pieces = f", {item.pieces} bytes at a time" if item.pieces else ""
        return f"send {data} on connection {item.on!r}{pieces}; do not wait"
    request = f"send {describe_data(item.request)} on connection {item.on!r}"
    if isinstance(item, Ask):
        return f"{request}; expect its response within {item.within:g} s"
    early = f", and not before {item.not_before:g} s" if item.not_before else ""
    until = f"repeatedly until the response is acceptable, within {item.within:g} s"
    return f"{request} {until}{early}"


def describe_data(part: Sendable) -> str:
    if isinstance(part, Request):
        oneway = ", one-way" if part.flag & 2 else ""
        return f"request {request_name(part.code)}{oneway}"
    return "a literal frame" if isinstance(part, Frame) else f"{len(part)} bytes"


def _function(item: Call) -> str:
    name = getattr(item.function, "__name__", "a function").strip("_").replace("_", " ")
    text = (item.function.__doc__ or "").strip().partition("\n")[0]
    return f'"{name}"' + (f": {text}" if text else "")


def request_name(code: int) -> str:
    """A request code with its name, such as ``100 PUT_KV_CONFIG``; only the number if unknown."""
    return _code_name(RequestCode(code))


def response_name(code: int) -> str:
    """A response code with its name, such as ``22 QUERY_NOT_FOUND``; only the number if unknown."""
    return _code_name(ResponseCode(code))


def _code_name(code: RequestCode | ResponseCode) -> str:
    return f"{int(code)} {code.name}" if code.is_known else str(int(code))


def cut(text: str, limit: int = MAX_CHARACTERS) -> str:
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text)} characters)"
