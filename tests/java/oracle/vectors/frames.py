"""Frames in both header forms."""

from collections.abc import Iterator

from tests.java.oracle.vectors import nasty
from tests.java.oracle.vectors.sheet import NEWEST, OLDER, Javas, Line, Sheet, same_or, with_refusal
from tests.peers.oracle import Oracle

LANGUAGES = ("JAVA", "CPP", "DOTNET", "PYTHON", "DELPHI", "ERLANG", "RUBY", "OTHER", "HTTP", "GO", "PHP", "OMS", "RUST", "NODE_JS")  # fmt: skip
DEFAULT_LANGUAGE = "an absent language is read as JAVA"
ESCAPED = "5.3.3 escapes U+007F to U+009F, U+2028 and U+2029; 5.5.0 writes them as they are"
NO_FIELD = "an entry without a value is null in Java, which no header class can tell from absence"

ODD_HEADERS = {
    "empty-object": '{"opaque":7}',
    "white-space": ' {\n\t"code" : 105 ,\r\n "opaque":7 } ',
    "other-order": '{"version":513,"opaque":7,"language":"CPP","flag":1,"code":0}',
    "unknown-members": '{"opaque":7,"headers":{"a":[1,{"b":null}]},"x":1.5e3,"code":3}',
    "null-members": '{"code":3,"opaque":7,"extFields":null,"remark":null,"language":null}',
    "numbers-as-texts": '{"code":"105","flag":"1","opaque":"7","version":"-3"}',
    "numbers-with-zero-fraction": '{"code":105.0,"opaque":7}',
    "booleans-for-numbers": '{"code":true,"flag":false,"opaque":7}',
    "negative-zero": '{"code":-0,"opaque":7}',
    "largest-numbers": '{"code":2147483647,"flag":-2147483648,"opaque":2147483647,"version":-2147483648}',
    "numbers-for-texts": '{"opaque":7,"remark":12,"extFields":{"a":1,"b":-7,"c":1.5}}',
    "booleans-for-texts": '{"opaque":7,"remark":true,"extFields":{"a":false,"b":true}}',
    "objects-for-texts": '{"opaque":7,"extFields":{"a":{"b":1},"c":["d",2],"e":{},"f":[]}}',
    "empty-texts": '{"opaque":7,"remark":"","extFields":{"":"a","b":""}}',
    "empty-fields": '{"opaque":7,"extFields":{}}',
    "repeated-member": '{"code":1,"opaque":7,"code":2}',
    "repeated-field": '{"opaque":7,"extFields":{"a":"1","b":"2","a":"3"}}',
    "repeated-fields": '{"opaque":7,"extFields":{"a":"1"},"extFields":{"b":"2"}}',
    "escapes": '{"opaque":7,"remark":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u4e3b"}',
    "escaped-surrogates": '{"opaque":7,"remark":"\\ud83d\\ude80"}',
    "upper-case-escapes": '{"opaque":7,"remark":"\\u00E9\\uD83D\\uDE80"}',
    "raw-controls": '{"opaque":7,"remark":"a\x01b\tc\x1f"}',
    "hexadecimal-escape": '{"opaque":7,"remark":"\\x41\\v"}',
    "single-quotes": "{'opaque':7,'remark':'it is \"so\"'}",
    "comma-before-end": '{"opaque":7,"code":105,}',
    "commas": '{"opaque":7,"extFields":{"a":"b",},}',
    "language-by-number": '{"opaque":7,"language":3}',
    "language-by-number-as-text": '{"opaque":7,"language":"3"}',
    "language-in-lower-case": '{"opaque":7,"language":"java"}',
    "serialize-type-of-the-other-form": '{"opaque":7,"serializeTypeCurrentRPC":"ROCKETMQ"}',
    "reference-to-itself": '{"opaque":7,"extFields":{"a":{"$ref":"$"}}}',
    "reference-as-text": '{"opaque":7,"extFields":{"$ref":"a"}}',
    "names-in-upper-case": '{"opaque":7,"CODE":105,"Remark":"a"}',
    "raw-separators": '{"opaque":7,"remark":"a\u2028b\u2029c\x7f\x85\ufeff"}',
    "escaped-names": '{"\\u006fpaque":7,"\\u0063ode":105}',
    "blank-after": '{"opaque":7,"code":105} \n\t',
}
"""JSON headers that no Java program writes, and that it reads."""


def sheets(java: Javas) -> Iterator[Sheet]:
    how = "NettyEncoder.encode, RemotingCommand.decode"
    for file, oracle, form, release in (
        ("json-5.5.0", java.newest, "JSON", NEWEST),
        ("json-5.3.3", java.older, "JSON", OLDER),
        ("binary", java.newest, "ROCKETMQ", NEWEST),
    ):
        lines = list(_write(java, oracle, form))
        yield Sheet(f"vectors/frames/{file}.jsonl", how, lines, release)
    unusual = list(_odd(java))
    yield Sheet("vectors/frames/odd.jsonl", "by hand; RemotingCommand.decode reads them", unusual)


def _write(java: Javas, oracle: Oracle, form: str) -> Iterator[Line]:
    base = {"code": 10, "opaque": 7, "serialize": form}
    for name, members in _commands(form):
        sample = oracle.find("encode_frame", **{**base, **members})
        line = _read(java, {"id": name, "hex": sample["hex"]})
        yield {**line, "reencodes": _reencodes(java, line)}


def _reencodes(java: Javas, line: Line) -> bool | str:
    # Whether 5.5.0 writes the command that way, in whichever order its map has the fields.
    if line["value"]["serialize"] == "ROCKETMQ":
        return NO_FIELD if "because" in line else True
    encoded = java.newest.ask("encode_frame", **line["value"]).get("hex")
    absent = line["id"] == "language=null"
    return same_or(DEFAULT_LANGUAGE if absent else ESCAPED, encoded, line["hex"])


def _read(java: Javas, line: Line) -> Line:
    # The line with what 5.5.0 reads, or, where it cannot read it, even though it may have written it, 5.3.3.
    answer = java.newest.ask("decode_frame", hex=line["hex"])
    by: Line = {}
    if not answer["ok"]:
        answer = java.older.find("decode_frame", hex=line["hex"])
        by = {"read_by": OLDER}
    value = answer["command"]
    return {**line, "value": value, **_without_nulls(value), **by}


def _without_nulls(read: Line) -> Line:
    fields: dict[str, str | None] = read["ext"] or {}
    kept = {name: text for name, text in fields.items() if text is not None and name != "@null"}
    if kept == fields:
        return {}
    return {"here": {"ext": kept}, "because": NO_FIELD}


def _commands(form: str) -> Iterator[tuple[str, Line]]:
    numbers = (0, 1, 105, 32767, -32768, -1) if form == "ROCKETMQ" else nasty.INT32
    for code in numbers:
        yield f"code={code}", {"code": code}
        yield f"version={code}", {"version": code}
    for number in nasty.INT32:
        yield f"opaque={number}", {"opaque": number}
        yield f"flag={number}", {"flag": number}
    for language in LANGUAGES:
        yield f"language={language}", {"language": language}
    if form == "JSON":
        yield "language=null", {"language": None}
    yield "fields-empty", {"ext": {}}
    yield "everything-empty", {"ext": {}, "remark": "", "body": ""}
    for name, body in nasty.BODIES.items():
        yield f"body-{name}", {"body": body.hex(), "ext": {"bodyCrc32": "1"}}
    for name, text in nasty.TEXTS.items():
        yield f"remark-{name}", {"remark": text, "flag": 1}
        yield f"field-{name}", {"ext": {"a": text, text: "b", "topic": text}}
    yield "fields-many", {"ext": {f"name{i}": f"value {i}" for i in range(200)}}
    yield "field-of-32767", {"ext": {"k" * (32767 if form == "ROCKETMQ" else 5000): "v" * 5000}}


def build_frame(header: bytes, body: bytes = b"", form: int = 0) -> bytes:
    length = (4 + len(header) + len(body)).to_bytes(4, "big")
    return length + bytes((form,)) + len(header).to_bytes(3, "big") + header + body


def _odd(java: Javas) -> Iterator[Line]:
    for name, header in ODD_HEADERS.items():
        line = {"id": name, "hex": build_frame(header.encode(), b"body").hex(), "header": header}
        yield with_refusal({**_read(java, line), "reencodes": "not as Java writes it"})
