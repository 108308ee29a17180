"""Changes of the server's configuration: code 318."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire_tools.conformance.cases.common import DONE, shows
from rocketwire_tools.conformance.model.case import SINCE_5_3, Case, case
from rocketwire_tools.conformance.model.outcomes import Answer, Check
from rocketwire_tools.conformance.model.requests import ask, found
from rocketwire_tools.conformance.model.steps import Call

if TYPE_CHECKING:
    from rocketwire_tools.conformance.run.executor import Play

UPDATE: Final = "DefaultRequestProcessor.updateConfig, Configuration.update @ 5.5.0"
DENIED: Final = "DefaultRequestProcessor.validateBlackListConfigExist @ 5.5.0"
BLACK: Final = Answer(code=16, remark="Can not update config in black list.", ext=None)
MINE: Final = {"conformance.key": "mine"}
DESTRUCTIVE: Final = frozenset({"destructive"})


def lacks(*texts: str) -> Answer:
    """The response to 319 without this text."""
    return found(Check("lacks-text", texts), ext=None)


def _updated(number: int, what: str, body: str | bytes, shown: str, item: int = 115) -> Case:
    return case(
        f"ns/318/{number}",
        what,
        ask(318, None, DONE, body=body),
        ask(319, None, shows(shown)),
        evidence=UPDATE,
        items=(item,),
        profiles=SINCE_5_3,
        tags=DESTRUCTIVE,
        options=MINE,
    )


def _denied(number: int, key: str, body: str) -> Case:
    return case(
        f"ns/318/{number}",
        f"An update of {key} MUST be rejected, and no property of the request applied.",
        ask(318, None, BLACK, body=f"serverWorkerThreads=77\n{body}\n"),
        ask(319, None, lacks("serverWorkerThreads=77")),
        ask(319, None, lacks("=/x\n")),
        evidence=DENIED,
        items=(116,),
        profiles=SINCE_5_3,
        tags=DESTRUCTIVE,
        options=MINE,
    )


async def _file_is_kept(play: Play) -> None:
    """Check that the configuration file has the new value and the backup the old text."""
    server = play.server()
    new, old = server.read("namesrv.properties") or "", server.read("namesrv.properties.bak") or ""
    lines = new.splitlines()
    if "enableTopicList=false" not in lines or "foo.bar=1" not in lines:
        play.fail(f"the file lacks the new values: {new!r}")
    if lines != sorted(lines):
        play.fail(f"the file is not sorted: {new!r}")
    if "foo.bar=1" not in old or "enableTopicList" in old:
        play.fail(f"the backup lacks the old text: {old!r}")


CASES: Final = (
    case(
        "ns/318/1",
        "318 SHOULD apply a property at once and save it to the file, with a backup of the old "
        "text.",
        ask(318, None, DONE, body="enableTopicList=false"),
        ask(224, {"cluster": "c"}, Answer(code=1, remark="disable")),
        ask(319, None, shows("enableTopicList=false")),
        Call(_file_is_kept),
        ask(318, None, DONE, body="enableTopicList=true"),
        ask(224, {"cluster": "c"}, found()),
        evidence=f"{UPDATE}, Configuration.persist", items=(115,), profiles=SINCE_5_3,
        tags=DESTRUCTIVE, options={"foo.bar": "1"}, fresh=True,
    ),
    case(
        "ns/318/2", "318 without a body MUST succeed.",
        ask(318, None, DONE),
        evidence=UPDATE, items=(117,), profiles=SINCE_5_3, tags=DESTRUCTIVE, options=MINE,
    ),
    case(
        "ns/318/3", "318 with an invalid escape MUST be rejected with code 1.",
        ask(
            318, None, Answer(code=1, remark="string2Properties error", ext=None),
            body="bad\\u00zz=1",
        ),
        evidence="MixAll.string2Properties @ 5.5.0", items=(117,), profiles=SINCE_5_3,
        tags=DESTRUCTIVE, options=MINE,
    ),
    case(
        "ns/318/4", "318 MUST NOT add an unknown property.",
        ask(318, None, DONE, body="unknown.key=1"),
        ask(319, None, lacks("unknown.key")),
        evidence=UPDATE, items=(117,), profiles=SINCE_5_3, tags=DESTRUCTIVE, options=MINE,
    ),
    _updated(
        5, "An invalid number MUST NOT change the current one.", "waitSecondsForService=abc",
        "waitSecondsForService=45", item=117,
    ),
    _updated(
        6, "Non-ASCII letters MAY be read byte by byte, as Java reads properties.",
        "productEnvName=é", "productEnvName=Ã©", 118,
    ),
    _updated(
        7, "The lines of an update MUST be read as properties: comments, separators, line ends.",
        "#c\r\n  serverSelectorThreads : 5\r\n!d\r\n", "serverSelectorThreads=5", item=115,
    ),
    _updated(
        8, "A changed port SHOULD be listed without effect on the listening port.", "listenPort=1",
        "listenPort=1", 119,
    ),
    case(
        "ns/318/9", "318 for an unknown property of the file MUST succeed with or without effect.",
        ask(318, None, DONE, body="conformance.key=yours"),
        ask(319, None, shows("conformance.key=yours"), shows("conformance.key=mine")),
        evidence=UPDATE, items=(115,), profiles=SINCE_5_3, tags=DESTRUCTIVE, options=MINE,
    ),
    _denied(20, "kvConfigPath", "kvConfigPath=/x"),
    _denied(21, "configStorePath", "configStorePath=/x"),
    _denied(22, "rocketmqHome", "rocketmqHome=/x"),
    _denied(23, "configBlackList", "configBlackList=/x"),
    _denied(24, "kvConfigPath with a colon", "kvConfigPath:/x"),
)  # fmt: skip
