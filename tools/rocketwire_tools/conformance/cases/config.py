"""KV configuration (100, 101, 102, 219) and the server's own (318, 319), with their files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rocketwire_tools.conformance.cases.common import DONE, ENTRY, SPACE, put, shows
from rocketwire_tools.conformance.model.case import Case, case, only_5_5, since_5_3
from rocketwire_tools.conformance.model.outcomes import ANY, Check, JsonBody, Response, TextBody
from rocketwire_tools.conformance.model.requests import OK_BARE, ask, success
from rocketwire_tools.conformance.model.steps import Ask, Call, Request, Restart
from rocketwire_tools.conformance.run.target import StartedTarget

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rocketwire_tools.conformance.model.steps import Step
    from rocketwire_tools.conformance.run.executor import CaseRun


# KV configuration: codes 100, 101, 102 and 219, and the KV file.

NOTHING: Final = Response(
    code=22, ext={}, remark="No config item, Namespace: {namespace} Key: {key}"
)
EMPTY: Final = success(TextBody('{"table":{}}'), ext=None)
PUT: Final = "DefaultRequestProcessor.putKVConfig, KVConfigManager.putKVConfig @ 5.5.0"
GET: Final = "DefaultRequestProcessor.getKVConfig, KVConfigManager.getKVConfig @ 5.5.0"
LIST: Final = (
    "DefaultRequestProcessor.getKVListByNamespace, KVConfigManager.getKVListByNamespace @ 5.5.0"
)
DELETE: Final = "DefaultRequestProcessor.deleteKVConfig, KVConfigManager.deleteKVConfig @ 5.5.0"
LOAD: Final = "KVConfigManager.load @ 5.5.0"
REFUSED: Final = Response(code=1, remark="namespace or key is null", ext=None)


def _refuses(number: int, what: str, ext: Mapping[str, str] | None) -> Case:
    return case(f"ns/100/{number}", 41, PUT, f"100 without {what} MUST be rejected.",
        ask(100, ext, REFUSED),
    )  # fmt: skip


def _keeps(number: int, what: str, value: str, written: str) -> Case:
    return only_5_5(f"ns/100/{number}", 45, f"{PUT}, JSONWriter.writeString of fastjson2",
        f"A value with {what} MUST be stored, and MUST be listed in Java's JSON encoding.",
        ask(100, put(value), OK_BARE),
        ask(101, ENTRY, Response(ext={"value": value}), on="reader"),
        ask(219, SPACE, success(TextBody('{"table":{"{key}":"' + written + '"}}'))),
    )  # fmt: skip


def _loads(number: int, what: str, content: str, value: str | None) -> Case:
    expected = (
        Response(code=22, ext={}, remark=ANY) if value is None else Response(ext={"value": value})
    )
    return case(f"ns/100/{number}", 46, LOAD, f"A KV file that {what} MUST NOT prevent the start.",
        ask(101, {"namespace": "n", "key": "k"}, expected),
        kv=content,
    )  # fmt: skip


VALUES: Final = (
    "x" * 30_000,
    "é漢😀" * 20_000,
    "\"\\/<>&'= \n\t\r\u007f\u2028",
    "  v\n\n",
    '{"a":[1,null]}',
    "null",
    "007",
    "a=b;c:d,e|f#g%20+",
)
KEYS: Final = ("{key}", "{key}a", "{key}A", "{key} ", "{key}.a", "{key}é", "{key}/a:b=c", '{key}"')


def _stores() -> Iterator[Step]:
    for key, value in zip(KEYS, VALUES, strict=True):
        yield ask(100, put(value, key))


def _read() -> Iterator[Step]:
    for key, value in zip(KEYS, VALUES, strict=True):
        entry = {"namespace": "{namespace}", "key": key}
        yield ask(101, entry, Response(ext={"value": value}), on="reader")
    yield ask(101, ENTRY | {"key": "{key}b"}, Response(code=22, remark=ANY), on="reader")
    yield ask(219, SPACE, _table(dict(zip(KEYS, VALUES, strict=True))), on="reader")


def _table(entries: dict[str, str]) -> Response:
    return success(JsonBody({"table": entries}))


# The server's configuration: the file, and codes 318 and 319.

READ: Final = "DefaultRequestProcessor.getConfig, Configuration.getAllConfigsFormatString @ 5.5.0"
MINE: Final = {"conformance.key": "mine"}
# Properties that show how the file is parsed.
ODD: Final = {
    "foo.bar": "a=b\\:c d",
    "enableTopicList": "true ",
    "supportActingMaster": "TRUE",
    "scanNotActiveBrokerInterval": "9x",
    "productEnvName": "a\\u00e9b",
}
FILE: Final = "MixAll.properties2Object, NamesrvStartup.parseCommandlineAndConfigFile @ 5.5.0"
# Properties with Java's default values.
DEFAULTS: Final = (
    *(
        "clientRequestThreadPoolNums=8",
        "clusterTest=false",
        "deleteTopicWithBrokerRegistration=false",
    ),
    *("configBlackList=configBlackList;configStorePath;kvConfigPath", "enableAllTopicList=true"),
    *("enableTopicList=true", "needWaitForService=false", "notifyMinBrokerIdChanged=false"),
    *("orderMessageEnable=false", "returnOrderTopicConfigToBroker=true"),
    *("scanNotActiveBrokerInterval=5000", "serverChannelMaxIdleTimeSeconds=120"),
    *("supportActingMaster=false", "waitSecondsForService=45"),
)


def _parses(number: int, what: str, line: str) -> Case:
    return since_5_3(f"ns/319/{number}", 120, FILE, what,
        ask(319, None, shows(line)),
        options=ODD,
    )  # fmt: skip


UPDATE: Final = "DefaultRequestProcessor.updateConfig, Configuration.update @ 5.5.0"
DENIED: Final = "DefaultRequestProcessor.validateBlackListConfigExist @ 5.5.0"
BLACK: Final = Response(code=16, remark="Can not update config in black list.", ext=None)
DESTRUCTIVE: Final = frozenset({"destructive"})
LIVE: Final[dict[str, Any]] = {"tags": DESTRUCTIVE, "options": MINE, "live": True}


def lacks(*texts: str) -> Response:
    return success(Check("lacks-text", texts), ext=None)


def _updates(number: int, what: str, body: str | bytes, line: str, item: int = 115) -> Case:
    return since_5_3(f"ns/318/{number}", item, UPDATE, what,
        Ask(Request(code=319), (success(),), save={"old": f"line.{line.partition('=')[0]}"}),
        ask(318, None, DONE, body=body),
        ask(319, None, shows(line)),
        **LIVE,
    )  # fmt: skip


def _denies(number: int, key: str, body: str) -> Case:
    return since_5_3(f"ns/318/{number}", 116, DENIED,
        f"An update of {key} MUST be rejected, and no property of the request applied.",
        ask(318, None, BLACK, body=f"serverWorkerThreads=77\n{body}\n"),
        ask(319, None, lacks("serverWorkerThreads=77")),
        ask(319, None, lacks("=/x\n")),
        **LIVE,
    )  # fmt: skip


async def _file_is_kept(play: CaseRun) -> None:
    """Check that a started server's file has the new value and the backup the old text."""
    server = play.target
    if not isinstance(server, StartedTarget):
        return
    new, old = server.read("namesrv.properties") or "", server.read("namesrv.properties.bak") or ""
    lines = new.splitlines()
    if "enableTopicList=false" not in lines or "foo.bar=1" not in lines:
        play.fail(f"the file lacks the new values: {new!r}")
    if lines != sorted(lines):
        play.fail(f"the file is not sorted: {new!r}")
    if "foo.bar=1" not in old or "enableTopicList" in old:
        play.fail(f"the backup lacks the old text: {old!r}")


KV: Final = (
    case("ns/100/1", 37, f"{PUT}, {GET}, {LIST}",
        "101 MUST return a stored value, and 219 MUST list it.",
        ask(100, put(), Response(ext=None)),
        *(
            step
            for link in ("main", "reader")
            for step in (
                ask(101, ENTRY, Response(ext={"value": "v"}), on=link),
                ask(219, SPACE, success(TextBody('{"table":{"{key}":"v"}}'), ext=None), on=link),
            )
        )),
    case("ns/100/3", 37, PUT, "A second value for a key MUST replace the first.",
        ask(100, put("one")), ask(101, ENTRY, Response(ext={"value": "one"}), on="reader"),
        ask(100, put("two"), on="b"), ask(101, ENTRY, Response(ext={"value": "two"}), on="reader"),
        ask(101, ENTRY, Response(ext={"value": "two"}))),
    case("ns/100/4", 37, LIST, "Several keys of a namespace MUST be listed together.",
        ask(100, put("1", "{keyA}")), ask(100, put("2", "{keyB}")),
        ask(219, SPACE, success(JsonBody({"table": {"{keyA}": "1", "{keyB}": "2"}})))),
    _refuses(5, "a namespace", {"key": "{key}", "value": "v"}),
    _refuses(6, "a key", {"namespace": "{namespace}", "value": "v"}),
    _refuses(7, "ext fields", None),
    case("ns/100/8", 42, PUT, "100 without a value SHOULD create the namespace but no entry.",
        ask(100, ENTRY, Response(ext=None)), ask(101, ENTRY, NOTHING), ask(219, SPACE, EMPTY)),
    case("ns/100/9", 43, PUT, "An empty value in a JSON header MUST be stored.",
        ask(100, put("")), ask(101, ENTRY, Response(ext={"value": ""}))),
    case("ns/100/10", 43, "RocketMQSerializable.readStr, mapDeserialize @ 5.5.0",
        "An empty value in a binary header SHOULD be read as no value.",
        ask(100, put(""), binary=True), ask(101, ENTRY, NOTHING), ask(219, SPACE, EMPTY)),
    _keeps(20, "a quotation mark and a backslash", '"\\', '\\"\\\\'),
    _keeps(21, "a slash, <, >, &, ' and =", "/<>&'=", "/<>&'="),
    _keeps(22, "line feed, tab and carriage return", "\n\t\r\b\f", "\\n\\t\\r\\b\\f"),
    _keeps(23, "control characters", "\x01\x0b\x1f", "\\u0001\\u000b\\u001f"),
    _keeps(24, "U+007F, U+0080, U+2028 and U+2029", "\x7f\x80\u2028\u2029", "\x7f\x80\u2028\u2029"),
    _keeps(25, "non-ASCII letters", "é漢", "é漢"),
    _keeps(26, "characters above U+FFFF", "😀", "😀"),
    _keeps(27, "leading and trailing spaces", "  v  ", "  v  "),
    case("ns/101/1", 38, GET,
        "101 for an unknown entry MUST return code 22 with the requested names in the remark.",
        ask(101, ENTRY, NOTHING)),
    case("ns/101/2", 38, GET,
        "101 for an unknown key of an existing namespace MUST return code 22.",
        ask(100, put("v", "{keyB}")), ask(101, ENTRY, NOTHING)),
    case("ns/101/3", 39, GET, "101 without ext fields MUST return code 22 with null in the remark.",
        ask(101, None,
            Response(code=22, ext={}, remark="No config item, Namespace: null Key: null"))),
    case("ns/102/1", 44, DELETE, "A deleted entry MUST be removed; its namespace remains.",
        ask(100, put()), ask(102, ENTRY, Response(ext=None)), ask(101, ENTRY, NOTHING),
        ask(219, SPACE, EMPTY)),
    case("ns/102/2", 44, DELETE, "Deleting an unknown entry MUST succeed.",
        ask(102, ENTRY, Response(ext=None)), ask(102, None, Response(ext=None))),
    case("ns/102/3", 44, DELETE,
        "Deleting an entry MUST NOT remove other entries of its namespace.",
        ask(100, put("1", "{keyA}")), ask(100, put("2", "{keyB}")),
        ask(102, {"namespace": "{namespace}", "key": "{keyA}"}),
        ask(219, SPACE, success(TextBody('{"table":{"{keyB}":"2"}}')))),
    case("ns/219/1", 40, LIST,
        "219 for an unknown namespace MUST return code 22 with its name in the remark.",
        ask(219, {"namespace": "{namespaceX}"},
            Response(code=22, ext=None, remark="No config item, Namespace: {namespaceX}")),
        ask(219, None, Response(code=22, ext=None, remark="No config item, Namespace: null"))),
    _loads(50, "is empty", "", None),
    _loads(51, "is null", "null", None),
    case("ns/100/52", 46, LOAD,
        "A KV file MUST be read; whitespace, unknown members and numbers instead of strings are "
        "allowed.",
        ask(101, {"namespace": "n", "key": "k"}, Response(ext={"value": "v"})),
        ask(101, {"namespace": "n", "key": "one"}, Response(ext={"value": "1"})),
        ask(101, {"namespace": "n", "key": "nil"}, Response(code=22, ext={}, remark=ANY)),
        ask(219, {"namespace": "empty"}, EMPTY),
        kv='{\n "a":1, "configTable" : { "n" : {"k":"v", "one":1, "nil":null}, "empty":{} }, '
        '"b":[]}\n'),
    case("ns/100/2", 46, "KVConfigManager.load, persist @ 5.5.0",
        "All entries, and no deleted one, MUST survive a restart of the server.",
        *_stores(), ask(100, {"namespace": "{namespaceb}", "key": "{key}", "value": "small"}),
        ask(100, {"namespace": "{namespaceB}", "key": "{key}", "value": "large"}),
        ask(100, put("v", "deleted")), ask(102, {"namespace": "{namespace}", "key": "deleted"}),
        Restart(), *_read(), ask(219, {"namespace": "{namespaceb}"}, _table({"{key}": "small"})),
        ask(219, {"namespace": "{namespaceB}"}, _table({"{key}": "large"})),
        tags=frozenset({"slow"}), fresh=True),
    case("ns/100/30", 45, f"{PUT}, {GET}, {LIST}",
        "Long and odd values, and keys that differ little, MUST be returned unchanged on every "
        "connection.",
        *_stores(), *_read(), ask(102, ENTRY | {"key": "{key}A"}),
        ask(101, ENTRY | {"key": "{key}A"}, Response(code=22, remark=ANY), on="reader"),
        ask(101, ENTRY | {"key": "{key}a"}, Response(ext=ANY), on="reader")),
    case("ns/100/31", (), PUT, "Namespace and key MAY be empty strings.",
        ask(100, {"namespace": "", "key": "", "value": "v"}),
        ask(101, {"namespace": "", "key": ""}, Response(ext={"value": "v"})),
        ask(101, ENTRY | {"key": ""}, Response(code=22, remark=ANY)),
        ask(101, {"namespace": "", "key": "{key}"}, Response(code=22, remark=ANY)),
        tags=frozenset({"destructive"}), cleanup=(ask(102, {"namespace": "", "key": ""}),)),
    case("ns/100/32", (), "RemotingCommand.decodeCommandCustomHeader @ 5.5.0",
        "Unknown ext fields MUST be ignored.",
        ask(100, put() | {"AccessKey": "a", "Signature": "s", "other": "x"}),
        ask(101, ENTRY | {"other": "x"}, Response(ext={"value": "v"}))),
)  # fmt: skip


CASES: Final = (
    since_5_3("ns/319/1", 114, READ,
        "319 MUST list all properties with their values, one per line, sorted by name.",
        ask(319, None,
            success(Check("sorted-lines", ("listenPort", *(line.partition("=")[0]
                for line in DEFAULTS))), ext=None))),
    case("ns/319/2", 114, READ, "319 MUST list unknown properties of the file unchanged.",
        ask(319, None, shows("foo.bar=a=b:c d")), options=ODD),
    since_5_3("ns/319/3", 114, "NamesrvConfig, NettyServerConfig @ 5.5.0",
        "319 SHOULD list Java's default values.",
        ask(319, None, shows(*DEFAULTS)), options=MINE),
    _parses(10, "A boolean followed by a space in the file MUST be read as false.",
        "enableTopicList=false"),
    _parses(11, "TRUE in the file MUST be read as true.", "supportActingMaster=true"),
    _parses(12, "An invalid number in the file MUST NOT change the default.",
        "scanNotActiveBrokerInterval=5000"),
    _parses(13, "Escapes in the file MUST be decoded.", "productEnvName=aéb"),
    since_5_3("ns/318/1", 115, f"{UPDATE}, Configuration.persist",
        "318 SHOULD apply a property at once and save it to the file, with a backup of the old "
        "text.",
        ask(318, None, DONE, body="enableTopicList=false"),
        ask(224, {"cluster": "c"}, Response(code=1, remark="disable")),
        ask(319, None, shows("enableTopicList=false")), Call(_file_is_kept),
        ask(318, None, DONE, body="enableTopicList=true"), ask(224, {"cluster": "c"}, success()),
        tags=DESTRUCTIVE, options={"foo.bar": "1"}, fresh=True, live=True),
    since_5_3("ns/318/2", 117, UPDATE, "318 without a body MUST succeed.",
        ask(318, None, DONE), **LIVE),
    since_5_3("ns/318/3", 117, "MixAll.string2Properties @ 5.5.0",
        "318 with an invalid escape MUST be rejected with code 1.",
        ask(318, None, Response(code=1, remark="string2Properties error", ext=None),
            body="bad\\u00zz=1"),
        **LIVE),
    since_5_3("ns/318/4", 117, UPDATE, "318 MUST NOT add an unknown property.",
        ask(318, None, DONE, body="unknown.key=1"), ask(319, None, lacks("unknown.key")), **LIVE),
    _updates(5, "An invalid number MUST NOT change the current one.", "waitSecondsForService=abc",
        "waitSecondsForService={=old}", item=117),
    _updates(6, "Non-ASCII letters MAY be read byte by byte, as Java reads properties.",
        "productEnvName=é", "productEnvName=Ã©", 118),
    _updates(7,
        "The lines of an update MUST be read as properties: comments, separators, line ends.",
        "#c\r\n  serverSelectorThreads : 5\r\n!d\r\n", "serverSelectorThreads=5", item=115),
    _updates(8, "A changed port SHOULD be listed without effect on the listening port.",
        "listenPort=1", "listenPort=1", 119),
    since_5_3("ns/318/9", 115, UPDATE,
        "318 for an unknown property of the file MUST succeed with or without effect.",
        ask(318, None, DONE, body="conformance.key=yours"),
        ask(319, None, shows("conformance.key=yours"), shows("conformance.key=mine")),
        tags=DESTRUCTIVE, options=MINE),
    _denies(20, "kvConfigPath", "kvConfigPath=/x"),
    _denies(21, "configStorePath", "configStorePath=/x"),
    _denies(22, "rocketmqHome", "rocketmqHome=/x"),
    _denies(23, "configBlackList", "configBlackList=/x"),
    _denies(24, "kvConfigPath with a colon", "kvConfigPath:/x"),
)  # fmt: skip
