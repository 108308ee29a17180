"""The server's configuration: the file, and codes 318 and 319."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rocketwire_tools.conformance.cases.common import DONE, shows
from rocketwire_tools.conformance.model.case import Case, case, since_5_3
from rocketwire_tools.conformance.model.outcomes import Check, Response
from rocketwire_tools.conformance.model.requests import ask, success
from rocketwire_tools.conformance.model.steps import Ask, Call, Request
from rocketwire_tools.conformance.run.target import StartedTarget

if TYPE_CHECKING:
    from rocketwire_tools.conformance.run.executor import CaseRun

READ: Final = "DefaultRequestProcessor.getConfig, Configuration.getAllConfigsFormatString @ 5.5.0"
MINE: Final = {"conformance.key": "mine"}
ODD: Final = {
    "foo.bar": "a=b\\:c d",
    "enableTopicList": "true ",
    "supportActingMaster": "TRUE",
    "scanNotActiveBrokerInterval": "9x",
    "productEnvName": "a\\u00e9b",
}
"""Properties that show how the file is parsed."""
FILE: Final = "MixAll.properties2Object, NamesrvStartup.parseCommandlineAndConfigFile @ 5.5.0"


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
"""Properties with Java's default values."""


def _read(number: int, what: str, line: str) -> Case:
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
    """The response to 319 without this text."""
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


CASES: Final = (
    since_5_3("ns/319/1", 114, READ,
        "319 MUST list all properties with their values, one per line, sorted by name.",
        ask(319, None,
            success(Check("sorted-lines", ("listenPort", *(line.partition("=")[0]
                for line in DEFAULTS))), ext=None)),
    ),
    case("ns/319/2", 114, READ, "319 MUST list unknown properties of the file unchanged.",
        ask(319, None, shows("foo.bar=a=b:c d")),
        options=ODD,
    ),
    since_5_3("ns/319/3", 114, "NamesrvConfig, NettyServerConfig @ 5.5.0",
        "319 SHOULD list Java's default values.",
        ask(319, None,
            shows(*DEFAULTS)),
        options=MINE,
    ),
    _read(10, "A boolean followed by a space in the file MUST be read as false.",
        "enableTopicList=false"),
    _read(11, "TRUE in the file MUST be read as true.", "supportActingMaster=true"),
    _read(12, "An invalid number in the file MUST NOT change the default.",
        "scanNotActiveBrokerInterval=5000"),
    _read(13, "Escapes in the file MUST be decoded.", "productEnvName=aéb"),
    since_5_3("ns/318/1", 115, f"{UPDATE}, Configuration.persist",
        "318 SHOULD apply a property at once and save it to the file, with a backup of the old "
        "text.",
        ask(318, None, DONE, body="enableTopicList=false"),
        ask(224, {"cluster": "c"}, Response(code=1, remark="disable")),
        ask(319, None, shows("enableTopicList=false")),
        Call(_file_is_kept),
        ask(318, None, DONE, body="enableTopicList=true"),
        ask(224, {"cluster": "c"}, success()),
        tags=DESTRUCTIVE, options={"foo.bar": "1"}, fresh=True, live=True,
    ),
    since_5_3("ns/318/2", 117, UPDATE, "318 without a body MUST succeed.",
        ask(318, None, DONE),
        **LIVE,
    ),
    since_5_3("ns/318/3", 117, "MixAll.string2Properties @ 5.5.0",
        "318 with an invalid escape MUST be rejected with code 1.",
        ask(318, None, Response(code=1, remark="string2Properties error", ext=None),
            body="bad\\u00zz=1"),
        **LIVE,
    ),
    since_5_3("ns/318/4", 117, UPDATE, "318 MUST NOT add an unknown property.",
        ask(318, None, DONE, body="unknown.key=1"),
        ask(319, None, lacks("unknown.key")),
        **LIVE,
    ),
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
        tags=DESTRUCTIVE, options=MINE,
    ),
    _denies(20, "kvConfigPath", "kvConfigPath=/x"),
    _denies(21, "configStorePath", "configStorePath=/x"),
    _denies(22, "rocketmqHome", "rocketmqHome=/x"),
    _denies(23, "configBlackList", "configBlackList=/x"),
    _denies(24, "kvConfigPath with a colon", "kvConfigPath:/x"),
)  # fmt: skip
