"""The server as a program: output, exit status and files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import trio

from rocketwire_tools.conformance.model.case import SINCE_5_3, Case, Profile, case
from rocketwire_tools.conformance.model.outcomes import ANY, Answer
from rocketwire_tools.conformance.model.requests import ask
from rocketwire_tools.conformance.model.steps import Call

if TYPE_CHECKING:
    from rocketwire_tools.conformance.run.executor import Play
    from rocketwire_tools.conformance.run.target import Finished

STARTUP: Final = (
    "NamesrvStartup.parseCommandlineAndConfigFile, createAndStartNamesrvController @ 5.5.0"
)
CONTROLLER: Final = "NamesrvStartup.createNamesrvController @ 5.5.0"
LOAD: Final = "KVConfigManager.load @ 5.5.0"
PERSIST: Final = "KVConfigManager.persist, MixAll.string2File @ 5.5.0"
SLOW: Final = frozenset({"slow"})
NO_HOME: Final = (
    "Please set the ROCKETMQ_HOME variable in your environment to match the location of the "
    "RocketMQ installation"
)
USAGE: Final = (
    "usage: mqnamesrv [-c <arg>] [-h] [-n <arg>] [-p]",
    " -c,--configFile <arg>    Name server config properties file",
    " -h,--help                Print help",
    " -n,--namesrvAddr <arg>   Name server address list, eg: '192.168.0.1:9876;192.168.0.2:9876'",
    " -p,--printConfigItem     Print all config items",
)
ENTRY: Final = {"namespace": "n", "key": "k"}
UNUSABLE_KV: Final = ("{}", '{"configTable":null}', "garbage", '{"configTable":{"n":')


def _ended(play: Play, finished: Finished, status: int, *lines: str) -> None:
    """Fail unless the program ended with this status and printed these lines."""
    if finished.status != status:
        play.fail(f"status {finished.status} instead of {status}: {finished.out[-400:]!r}")
    printed = finished.out.splitlines()
    missing = [line for line in lines if line not in printed]
    if missing:
        play.fail(f"not printed: {missing}; but {finished.out[-400:]!r}")


async def _says_where_it_listens(play: Play) -> None:
    server = play.server()
    line = f"The Name Server boot success. serializeType=JSON, address {server.address}"
    for _ in range(200):
        if line in server.output.splitlines():
            return
        await trio.sleep(0.05)
    play.fail(f"not printed: {line!r}; but {server.output[-400:]!r}")


async def _ends_with_143(play: Play) -> None:
    status = await play.server().stop()
    if status != 143:
        play.fail(f"status {status} instead of 143")


async def _help(play: Play) -> None:
    _ended(play, await play.server().launch(["-h"]), 0, *USAGE)
    _ended(play, await play.server().launch(["-n", "x", "--help"]), 0, *USAGE)


async def _unknown_flag(play: Play) -> None:
    _ended(play, await play.server().launch(["-x"]), 1, "Unrecognized option: -x", *USAGE)
    _ended(play, await play.server().launch(["-c"]), 1, "Missing argument for option: c", *USAGE)


async def _missing_file(play: Play) -> None:
    _ended(play, await play.server().launch(["-c", "there-is-none"]), 255)


async def _port_in_use(play: Play) -> None:
    _ended(play, await play.server().launch(), 255)


async def _no_home(play: Play) -> None:
    finished = await play.server().launch(without=["ROCKETMQ_HOME"])
    if finished.status != 255:  # it stopped before it opened the port, which is in use
        _ended(play, finished, 254, NO_HOME)


async def _prints_its_properties(play: Play) -> None:
    # Java prints through its log, which the operator's command may disable.
    _ended(play, await play.server().launch(["-p"]), 0)


async def _unusable_kv(play: Play) -> None:
    for text in UNUSABLE_KV:
        _ended(play, await play.server().launch(options={"listenPort": "0"}, kv=text), 255)


async def _kv_file(play: Play) -> None:
    server = play.server()
    await play.run(ask(100, ENTRY | {"value": "v"}))
    first = server.read("kvConfig.json")
    await play.run(ask(100, ENTRY | {"value": "w"}))
    second, kept = server.read("kvConfig.json"), server.read("kvConfig.json.bak")
    if first != '{"configTable":{"n":{"k":"v"}}}' or second != '{"configTable":{"n":{"k":"w"}}}':
        play.fail(f"the file was {first!r}, then {second!r}")
    if kept != first:
        play.fail(f"the file before was not kept: {kept!r}")


async def _ephemeral_port(play: Play) -> None:
    begin = "The Name Server boot success. serializeType=JSON, address 127.0.0.1:"
    finished = await play.server().launch(options={"listenPort": "0"}, until=begin)
    ports = [line[len(begin) :] for line in finished.out.splitlines() if line.startswith(begin)]
    if finished.status is not None or not ports or ports[-1] == "0":
        play.fail(f"status {finished.status}, ports {ports}: {finished.out[-400:]!r}")


def _case(
    number: int,
    what: str,
    function: Call,
    evidence: str,
    item: int,
    profiles: frozenset[Profile] = SINCE_5_3,
    *,
    fresh: bool = False,
) -> Case:
    return case(
        f"process/{number}",
        what,
        function,
        evidence=evidence,
        items=(item,),
        profiles=profiles,
        tags=SLOW,
        options=None if fresh else {"conformance.key": "process"},
        fresh=fresh,
    )


CASES: Final = (
    _case(
        1, "A ready server MUST print its header type and its address.",
        Call(_says_where_it_listens), STARTUP, 122,
    ),
    _case(
        2, "A server MUST end with status 143 after SIGTERM.", Call(_ends_with_143),
        "Runtime.addShutdownHook in NamesrvStartup.start @ 5.5.0", 123, fresh=True,
    ),
    _case(
        3, "-h MUST print the usage and end with status 0.", Call(_help),
        f"ServerUtil.parseCmdLine, {STARTUP}", 121,
    ),
    _case(
        4,
        "An unknown option, or a missing argument, MUST be reported with the usage and status 1.",
        Call(_unknown_flag), "ServerUtil.parseCmdLine @ 5.5.0", 121,
    ),
    _case(
        5, "A missing configuration file MUST end the server with status 255.", Call(_missing_file),
        STARTUP, 121,
    ),
    _case(
        6, "A port that is in use MUST end the server with status 255.", Call(_port_in_use),
        "NettyRemotingServer.start @ 5.5.0", 121,
    ),
    _case(
        7,
        "Without ROCKETMQ_HOME a server SHOULD end with status 254 and a message, or not need it.",
        Call(_no_home), CONTROLLER, 121,
    ),
    _case(
        8, "-p SHOULD end with status 0 and not start.", Call(_prints_its_properties),
        "MixAll.printObjectProperties @ 5.5.0", 121,
    ),
    _case(
        9, "An unreadable KV file MUST end the server with status 255.", Call(_unusable_kv), LOAD,
        46,
    ),
    _case(
        10, "The KV file MUST be written after every change, with a backup of the old text.",
        Call(_kv_file), PERSIST, 37, fresh=True,
    ),
    _case(
        11, "With port 0 a server MUST use any free port and print it.", Call(_ephemeral_port),
        "NettyRemotingServer.start @ 5.5.0", 122,
    ),
    case(
        "process/12",
        "If the KV file is not writable, changes MUST be applied and answered with success or code "
        "1.",
        ask(
            100, {"namespace": "{namespace}", "key": "{key}", "value": "v"}, Answer(),
            Answer(code=1, remark=ANY),
        ),
        ask(101, {"namespace": "{namespace}", "key": "{key}"}, Answer(ext={"value": "v"})),
        evidence=PERSIST, items=(47,),
        options={
            "deleteTopicWithBrokerRegistration": "true",
            "kvConfigPath": "/proc/none/kvConfig.json",
        },
    ),
)  # fmt: skip
