"""Typed headers of every class, in both header forms, and fields with texts of another type."""

from collections.abc import Iterator, Mapping
from itertools import cycle
from typing import Any, NamedTuple

from rocketwire.messages._codec.fields import fast_codec_of
from rocketwire.messages._codec.headers import Ext
from rocketwire.messages.operations.registry import OPERATIONS
from tests.fuzz.typed import ABSTRACT, BITS, fields_of, header_classes
from tests.java.oracle.vectors import nasty
from tests.java.oracle.vectors.sheet import Javas, Line, Sheet, same_or
from tests.peers.oracle import Answer, Oracle

GOOD = {"topicFilterType": "SINGLE_TAG", "commitOrRollback": 8, "maxCount": 7}
"""Values of the fields that Java checks."""

INHERITED = "Java writes the inherited RPC fields of this class and does not read them"
NO_VALUE = "Java writes an empty text in a binary header, and reads null"

ODD_NUMBERS = ("", " 5", "5 ", "+5", "-0", "007", "5.0", "1e3", "0x10", "\u0663", "\uff15", "1_0", "abc", "5L", "2147483648", "-2147483649", "9223372036854775807", "9223372036854775808", "null", "NaN", "\0")  # fmt: skip
ODD_BOOLEANS = (
    "true",
    "TRUE",
    "tRuE",
    "True",
    "yes",
    "1",
    "0",
    "",
    " true",
    "false",
    "null",
    "\u0422rue",
)
ODD_BOUNDARIES = ("lower", "UPPER", "Upper", "LOWER ", "", "middle", "null", "\u0130")
OF_TYPES: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "int": ("UpdateConsumerOffsetRequestHeader", "queueId", ODD_NUMBERS),
    "Integer": ("GetMaxOffsetRequestHeader", "queueId", ODD_NUMBERS),
    "long": ("QueryMessageRequestHeader", "beginTimestamp", ODD_NUMBERS),
    "Long": ("UpdateConsumerOffsetRequestHeader", "commitOffset", ODD_NUMBERS),
    "fast int": ("SendMessageRequestHeaderV2", "e", ODD_NUMBERS),
    "fast long": ("PullMessageRequestHeader", "queueOffset", ODD_NUMBERS),
    "boolean": ("RegisterBrokerRequestHeader", "compressed", ODD_BOOLEANS),
    "Boolean": ("GetRouteInfoRequestHeader", "acceptStandardJsonOnly", ODD_BOOLEANS),
    "fast boolean": ("SendMessageRequestHeaderV2", "k", ODD_BOOLEANS),
    "BoundaryType": ("SearchOffsetRequestHeader", "boundaryType", ODD_BOUNDARIES),
    "String": ("GetRouteInfoRequestHeader", "topic", tuple(nasty.TEXTS.values())),
}
"""Type -> a class that has a field of it, the field, the texts to read."""


class _Place(NamedTuple):
    code: int
    flag: int


def sheets(java: Javas) -> Iterator[Sheet]:
    how = "RemotingCommand.makeCustomHeaderToNet and decodeCommandCustomHeader"
    oracle = java.newest
    yield Sheet("vectors/headers/json.jsonl", f"{how}; all fields", list(_all(oracle)))
    yield Sheet("vectors/headers/binary.jsonl", f"{how}; nasty", list(_nasty(oracle)))
    yield Sheet("vectors/headers/least.jsonl", f"{how}; mandatory fields", list(_least(oracle)))
    yield Sheet("vectors/headers/fast.jsonl", f"{how}; fast headers", list(_fast(oracle)))
    yield Sheet("vectors/headers/texts.jsonl", f"{how}; odd texts", list(_texts(oracle)))


def classes() -> dict[str, type[Any]]:
    return {
        name: cls
        for name, cls in header_classes().items()
        if fields_of(cls) and name not in ABSTRACT
    }


def _place(cls: type[Any]) -> _Place:
    for code, operation in OPERATIONS.items():
        if operation.request_header is cls:
            return _Place(code, 0)
    return _Place(0, 1)


def _ordinary(wire: str, ext: Ext, number: int) -> object:
    if ext.check is not None:
        return GOOD[wire]
    java = ext.form.java
    if java in BITS:
        return 1000 + number
    if java in ("boolean", "Boolean"):
        return number % 2 == 0
    return "UPPER" if java == "BoundaryType" else f"{wire} {number}"


def _all(oracle: Oracle) -> Iterator[Line]:
    for name, cls in classes().items():
        values = {
            ext.wire: _ordinary(ext.wire, ext, number)
            for number, ext in enumerate(fields_of(cls).values())
        }
        yield _line(oracle, f"{name}/all", cls, values, "JSON")


def _nasty(oracle: Oracle) -> Iterator[Line]:
    texts, wholes = cycle(nasty.TEXTS.values()), {32: cycle(nasty.INT32), 64: cycle(nasty.INT64)}
    for name, cls in classes().items():
        values: dict[str, object] = {}
        for number, ext in enumerate(fields_of(cls).values()):
            values[ext.wire] = _ordinary(ext.wire, ext, number)
            if ext.check is None and ext.form.java in BITS:
                values[ext.wire] = next(wholes[BITS[ext.form.java]])
            elif ext.check is None and ext.form.java == "String":
                values[ext.wire] = next(texts)
        yield _line(oracle, f"{name}/nasty", cls, values, "ROCKETMQ")


def _least(oracle: Oracle) -> Iterator[Line]:
    for name, cls in classes().items():
        fields = fields_of(cls).values()
        if any(ext.clock for ext in fields):
            continue
        values = {
            ext.wire: _ordinary(ext.wire, ext, number)
            for number, ext in enumerate(fields)
            if ext.required or ext.check is not None
        }
        if len(values) < len(fields):
            yield _line(oracle, f"{name}/least", cls, values, "JSON")


def _fast(oracle: Oracle) -> Iterator[Line]:
    for name, cls in classes().items():
        if not fast_codec_of(cls):
            continue
        fields = fields_of(cls)
        wires = [ext.wire for ext in fields.values() if ext.form.java == "String"]
        texts = nasty.TEXTS.items() if wires else ()
        for title, text in texts:
            values = {ext.wire: _ordinary(ext.wire, ext, 1) for ext in fields.values()}
            values.update(dict.fromkeys(wires[:2], text))
            yield _line(oracle, f"{name}/{title}", cls, values, "ROCKETMQ")
        for number in nasty.INT32:
            values = {ext.wire: _ordinary(ext.wire, ext, 1) for ext in fields.values()}
            numeric = {ext.wire: number for ext in fields.values() if ext.form.java in BITS}
            yield _line(oracle, f"{name}/{number}", cls, {**values, **numeric}, "ROCKETMQ")


def _line(
    oracle: Oracle, title: str, cls: type[Any], values: Mapping[str, object], form: str
) -> Line:
    name, place = title.partition("/")[0], _place(cls)
    head = {"code": place.code, "flag": place.flag, "opaque": 7, "serialize": form, "header": name}
    frame_hex = oracle.find("encode_frame", fields=values, **head)["hex"]
    read = oracle.find("decode_frame", hex=frame_hex, header=name)["command"]["header"]
    encoded = oracle.ask("encode_frame", fields=read, **head).get("hex")
    reason = NO_VALUE if form == "ROCKETMQ" else INHERITED
    line: Line = {"id": title, "class": name, "hex": frame_hex, "value": read}
    return {**line, "reencodes": same_or(reason, encoded, frame_hex)}


def _texts(oracle: Oracle) -> Iterator[Line]:
    for title, name, fields, answer in odd_fields(oracle):
        header = answer["command"]["header"]
        if "@error" not in header:
            line = {"id": title, "class": name, "ext": fields}
            yield {**line, "value": header, "reencodes": "not as Java writes it"}


def odd_fields(oracle: Oracle) -> Iterator[tuple[str, str, dict[str, str], Answer]]:
    # Each odd text in a field of each type: title, class, all fields, and Java's result.
    for java, (name, wire, texts) in OF_TYPES.items():
        cls = classes()[name]
        base = {
            ext.wire: str(_ordinary(ext.wire, ext, 0)).replace("True", "true")
            for ext in fields_of(cls).values()
            if ext.required or ext.check is not None
        }
        for number, text in enumerate(texts):
            fields = {**base, wire: text}
            frame = oracle.find("encode_frame", ext=fields, opaque=7)["hex"]
            answer = oracle.ask("decode_frame", hex=frame, header=name)
            if answer["ok"]:  # it cannot read every name that it writes
                yield f"{java}/{number}", name, fields, answer
