"""KV configuration: codes 100, 101, 102 and 219."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire_tools.conformance.cases.common import ENTRY, SPACE, put
from rocketwire_tools.conformance.model.case import ONLY_5_5, Case, case
from rocketwire_tools.conformance.model.outcomes import ANY, Answer, Json, Text
from rocketwire_tools.conformance.model.requests import OK_BARE, ask, found

if TYPE_CHECKING:
    from collections.abc import Mapping

NOTHING: Final = Answer(code=22, ext={}, remark="No config item, Namespace: {namespace} Key: {key}")
EMPTY: Final = found(Text('{"table":{}}'), ext=None)
PUT: Final = "DefaultRequestProcessor.putKVConfig, KVConfigManager.putKVConfig @ 5.5.0"
GET: Final = "DefaultRequestProcessor.getKVConfig, KVConfigManager.getKVConfig @ 5.5.0"
LIST: Final = (
    "DefaultRequestProcessor.getKVListByNamespace, KVConfigManager.getKVListByNamespace @ 5.5.0"
)
DELETE: Final = "DefaultRequestProcessor.deleteKVConfig, KVConfigManager.deleteKVConfig @ 5.5.0"
LOAD: Final = "KVConfigManager.load @ 5.5.0"
REFUSED: Final = Answer(code=1, remark="namespace or key is null", ext=None)


def _refused(number: int, what: str, ext: Mapping[str, str] | None) -> Case:
    return case(
        f"ns/100/{number}",
        f"100 without {what} MUST be rejected.",
        ask(100, ext, REFUSED),
        evidence=PUT,
        items=(41,),
    )


def _kept(number: int, what: str, value: str, written: str) -> Case:
    return case(
        f"ns/100/{number}",
        f"A value with {what} MUST be stored, and MUST be listed in Java's JSON encoding.",
        ask(100, put(value), OK_BARE),
        ask(101, ENTRY, Answer(ext={"value": value})),
        ask(219, SPACE, found(Text('{"table":{"{key}":"' + written + '"}}'))),
        evidence=f"{PUT}, JSONWriter.writeString of fastjson2",
        items=(45,),
        profiles=ONLY_5_5,
    )


def _loaded(number: int, what: str, content: str, value: str | None) -> Case:
    expected = (
        Answer(code=22, ext={}, remark=ANY) if value is None else Answer(ext={"value": value})
    )
    return case(
        f"ns/100/{number}",
        f"A KV file that {what} MUST NOT prevent the start.",
        ask(101, {"namespace": "n", "key": "k"}, expected),
        evidence=LOAD,
        items=(46,),
        kv=content,
    )


CASES: Final = (
    case(
        "ns/100/1", "101 MUST return a stored value, and 219 MUST list it.",
        ask(100, put(), Answer(ext=None)),
        ask(101, ENTRY, Answer(ext={"value": "v"})),
        ask(219, SPACE, found(Text('{"table":{"{key}":"v"}}'), ext=None)),
        evidence=f"{PUT}, {GET}, {LIST}", items=(37,),
    ),
    case(
        "ns/100/3", "A second value for a key MUST replace the first.",
        ask(100, put("one")),
        ask(100, put("two")),
        ask(101, ENTRY, Answer(ext={"value": "two"})),
        evidence=PUT, items=(37,),
    ),
    case(
        "ns/100/4", "Several keys of a namespace MUST be listed together.",
        ask(100, put("1", "{keyA}")),
        ask(100, put("2", "{keyB}")),
        ask(219, SPACE, found(Json({"table": {"{keyA}": "1", "{keyB}": "2"}}))),
        evidence=LIST, items=(37,),
    ),
    _refused(5, "a namespace", {"key": "{key}", "value": "v"}),
    _refused(6, "a key", {"namespace": "{namespace}", "value": "v"}),
    _refused(7, "ext fields", None),
    case(
        "ns/100/8", "100 without a value SHOULD create the namespace but no entry.",
        ask(100, ENTRY, Answer(ext=None)),
        ask(101, ENTRY, NOTHING),
        ask(219, SPACE, EMPTY),
        evidence=PUT, items=(42,),
    ),
    case(
        "ns/100/9", "An empty value in a JSON header MUST be stored.",
        ask(100, put("")),
        ask(101, ENTRY, Answer(ext={"value": ""})),
        evidence=PUT, items=(43,),
    ),
    case(
        "ns/100/10", "An empty value in a binary header SHOULD be read as no value.",
        ask(100, put(""), binary=True),
        ask(101, ENTRY, NOTHING),
        ask(219, SPACE, EMPTY),
        evidence="RocketMQSerializable.readStr, mapDeserialize @ 5.5.0", items=(43,),
    ),
    _kept(20, "a quotation mark and a backslash", '"\\', '\\"\\\\'),
    _kept(21, "a slash, <, >, &, ' and =", "/<>&'=", "/<>&'="),
    _kept(22, "line feed, tab and carriage return", "\n\t\r\b\f", "\\n\\t\\r\\b\\f"),
    _kept(23, "control characters", "\x01\x0b\x1f", "\\u0001\\u000b\\u001f"),
    _kept(24, "U+007F, U+0080, U+2028 and U+2029", "\x7f\x80\u2028\u2029", "\x7f\x80\u2028\u2029"),
    _kept(25, "non-ASCII letters", "é漢", "é漢"),
    _kept(26, "characters above U+FFFF", "😀", "😀"),
    _kept(27, "leading and trailing spaces", "  v  ", "  v  "),
    case(
        "ns/101/1",
        "101 for an unknown entry MUST return code 22 with the requested names in the remark.",
        ask(101, ENTRY, NOTHING),
        evidence=GET, items=(38,),
    ),
    case(
        "ns/101/2", "101 for an unknown key of an existing namespace MUST return code 22.",
        ask(100, put("v", "{keyB}")),
        ask(101, ENTRY, NOTHING),
        evidence=GET, items=(38,),
    ),
    case(
        "ns/101/3", "101 without ext fields MUST return code 22 with null in the remark.",
        ask(101, None, Answer(code=22, ext={}, remark="No config item, Namespace: null Key: null")),
        evidence=GET, items=(39,),
    ),
    case(
        "ns/102/1", "A deleted entry MUST be removed; its namespace remains.",
        ask(100, put()),
        ask(102, ENTRY, Answer(ext=None)),
        ask(101, ENTRY, NOTHING),
        ask(219, SPACE, EMPTY),
        evidence=DELETE, items=(44,),
    ),
    case(
        "ns/102/2", "Deleting an unknown entry MUST succeed.",
        ask(102, ENTRY, Answer(ext=None)),
        ask(102, None, Answer(ext=None)),
        evidence=DELETE, items=(44,),
    ),
    case(
        "ns/102/3", "Deleting an entry MUST NOT remove other entries of its namespace.",
        ask(100, put("1", "{keyA}")),
        ask(100, put("2", "{keyB}")),
        ask(102, {"namespace": "{namespace}", "key": "{keyA}"}),
        ask(219, SPACE, found(Text('{"table":{"{keyB}":"2"}}'))),
        evidence=DELETE, items=(44,),
    ),
    case(
        "ns/219/1", "219 for an unknown namespace MUST return code 22 with its name in the remark.",
        ask(
            219, {"namespace": "{namespaceX}"},
            Answer(code=22, ext=None, remark="No config item, Namespace: {namespaceX}"),
        ),
        ask(219, None, Answer(code=22, ext=None, remark="No config item, Namespace: null")),
        evidence=LIST, items=(40,),
    ),
    _loaded(50, "is empty", "", None),
    _loaded(51, "is null", "null", None),
    case(
        "ns/100/52",
        "A KV file MUST be read; whitespace, unknown members and numbers instead of strings are "
        "allowed.",
        ask(101, {"namespace": "n", "key": "k"}, Answer(ext={"value": "v"})),
        ask(101, {"namespace": "n", "key": "one"}, Answer(ext={"value": "1"})),
        ask(101, {"namespace": "n", "key": "nil"}, Answer(code=22, ext={}, remark=ANY)),
        ask(219, {"namespace": "empty"}, EMPTY),
        evidence=LOAD, items=(46,),
        kv='{\n "a":1, "configTable" : { "n" : {"k":"v", "one":1, "nil":null}, "empty":{} }, '
        '"b":[]}\n',
    ),
)  # fmt: skip
