"""The server as a program: output, exit status, files, overload and shutdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import trio

from rocketwire_tools.conformance.cases.common import ROUTE, put
from rocketwire_tools.conformance.model.case import UNRELEASED, Case, case, since_5_3
from rocketwire_tools.conformance.model.outcomes import ANY, Response, Silence
from rocketwire_tools.conformance.model.requests import (
    NO_ROUTE,
    ask,
    expect,
    not_supported,
    register,
    send,
    success,
    until,
)
from rocketwire_tools.conformance.model.steps import Call, Request, Send

if TYPE_CHECKING:
    from rocketwire_tools.conformance.run.executor import CaseRun
    from rocketwire_tools.conformance.run.target import ProcessResult

SUBMIT: Final = "NettyRemotingAbstract.processRequestCommand @ 5.5.0"
BUSY: Final = Response(
    code=2, remark="[OVERLOAD]system busy, start flow control for a while", ext=None
)
GO_AWAY: Final = Response(code=1500, remark="please go away", ext=None)
NOT_READY: Final = Response(code=1, remark="name server not ready", ext=None)
NEW: Final = 479
OLD: Final = 475


async def _terminate(play: CaseRun) -> None:
    play.server().terminate()


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
N_K: Final = {"namespace": "n", "key": "k"}
UNUSABLE_KV: Final = ("{}", '{"configTable":null}', "garbage", '{"configTable":{"n":')


def _ends(play: CaseRun, finished: ProcessResult, status: int, *lines: str) -> None:
    if finished.status != status:
        play.fail(f"status {finished.status} instead of {status}: {finished.out[-400:]!r}")
    printed = finished.out.splitlines()
    missing = [line for line in lines if line not in printed]
    if missing:
        play.fail(f"not printed: {missing}; but {finished.out[-400:]!r}")


async def _says_where_it_listens(play: CaseRun) -> None:
    server = play.server()
    line = f"The Name Server boot success. serializeType=JSON, address {server.address}"
    for _ in range(200):
        if line in server.output.splitlines():
            return
        await trio.sleep(0.05)
    play.fail(f"not printed: {line!r}; but {server.output[-400:]!r}")


async def _ends_with_143(play: CaseRun) -> None:
    status = await play.server().stop()
    if status != 143:
        play.fail(f"status {status} instead of 143")


async def _help(play: CaseRun) -> None:
    _ends(play, await play.server().launch(["-h"]), 0, *USAGE)
    _ends(play, await play.server().launch(["-n", "x", "--help"]), 0, *USAGE)


async def _unknown_flag(play: CaseRun) -> None:
    _ends(play, await play.server().launch(["-x"]), 1, "Unrecognized option: -x", *USAGE)
    _ends(play, await play.server().launch(["-c"]), 1, "Missing argument for option: c", *USAGE)


async def _missing_file(play: CaseRun) -> None:
    _ends(play, await play.server().launch(["-c", "there-is-none"]), 255)


async def _port_in_use(play: CaseRun) -> None:
    _ends(play, await play.server().launch(), 255)


async def _no_home(play: CaseRun) -> None:
    finished = await play.server().launch(without=["ROCKETMQ_HOME"])
    if finished.status != 255:  # it stopped before it opened the port, which is in use
        _ends(play, finished, 254, NO_HOME)


async def _prints_its_properties(play: CaseRun) -> None:
    # Java prints through its log, which the operator's command may disable.
    _ends(play, await play.server().launch(["-p"]), 0)


async def _unusable_kv(play: CaseRun) -> None:
    for text in UNUSABLE_KV:
        _ends(play, await play.server().launch(options={"listenPort": "0"}, kv=text), 255)


async def _kv_file(play: CaseRun) -> None:
    server = play.server()
    await play.run(ask(100, N_K | {"value": "v"}))
    first = server.read("kvConfig.json")
    await play.run(ask(100, N_K | {"value": "w"}))
    second, kept = server.read("kvConfig.json"), server.read("kvConfig.json.bak")
    if first != '{"configTable":{"n":{"k":"v"}}}' or second != '{"configTable":{"n":{"k":"w"}}}':
        play.fail(f"the file was {first!r}, then {second!r}")
    if kept != first:
        play.fail(f"the file before was not kept: {kept!r}")


async def _ephemeral_port(play: CaseRun) -> None:
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
    *,
    fresh: bool = False,
) -> Case:
    options = None if fresh else {"conformance.key": "process"}
    return since_5_3(f"process/{number}", item, evidence, what,
        function,
        tags=SLOW, options=options, fresh=fresh,
    )  # fmt: skip


CASES: Final = (
    since_5_3("overload/1", 35, SUBMIT,
        "A request beyond the queue's capacity MUST get code 2 at once; route requests have "
        "their own queue.",
        Send(tuple(Request(code=206, opaque=n) for n in range(300))),
        *(expect(success(), BUSY) for _ in range(300)), ask(105, ROUTE, NO_ROUTE),
        ask(206, None, success()),
        options={"defaultThreadPoolNums": "1", "defaultThreadPoolQueueCapacity": "2"}),
    since_5_3("goaway/1", 36,
        "NettyRemotingAbstract.processRequestCommand (isShuttingDown), "
        "NettyRemotingServer.shutdown @ 5.5.0",
        "During a graceful shutdown a server MUST redirect newer clients and serve older ones as "
        "before.",
        ask(106, None, success(), version=NEW), ask(106, None, success(), version=OLD, on="old"),
        Call(_terminate), until(106, None, GO_AWAY, version=NEW, within=8.0),
        ask(9999, None, GO_AWAY, version=NEW), ask(106, None, success(), version=OLD, on="old"),
        ask(9999, None, not_supported(9999), version=OLD, on="old"),
        ask(106, None, GO_AWAY, version=NEW, on="new"),
        ask(106, None, success(), version=OLD, on="new"),
        send(Request(code=106, flag=2, version=NEW), on="new"), expect(Silence(), on="new"),
        tags=frozenset({"slow"}),
        options={"enableShutdownGracefully": "true", "shutdownWaitTimeSeconds": "8"}, fresh=True),
    case("goaway/2", (36, 96),
        "ClientRequestProcessor.getRouteInfoByTopic @ 5.5.1 with apache/rocketmq pull request "
        "11073 (isShutdown)",
        'After the start of a shutdown, route requests MUST be answered "not ready" or with a '
        "redirect.",
        register(on="broker", version=OLD), ask(105, ROUTE, success(), version=OLD, on="old"),
        Call(_terminate), until(105, ROUTE, NOT_READY, version=OLD, on="old", within=8.0),
        ask(105, {"topic": "{topicX}"}, NOT_READY, version=OLD, on="old"),
        ask(105, None, NOT_READY, version=OLD, on="old"),
        ask(105, ROUTE, NOT_READY, version=OLD, on="later"),
        ask(105, ROUTE, NOT_READY, GO_AWAY, version=NEW, on="new"),
        ask(106, None, success(), version=OLD, on="old"), profiles=UNRELEASED,
        tags=frozenset({"slow"}),
        options={"enableShutdownGracefully": "true", "shutdownWaitTimeSeconds": "8"}, fresh=True),
    _case(1, "A ready server MUST print its header type and its address.",
        Call(_says_where_it_listens), STARTUP, 122),
    _case(2, "A server MUST end with status 143 after SIGTERM.", Call(_ends_with_143),
        "Runtime.addShutdownHook in NamesrvStartup.start @ 5.5.0", 123, fresh=True),
    _case(3, "-h MUST print the usage and end with status 0.", Call(_help),
        f"ServerUtil.parseCmdLine, {STARTUP}", 121),
    _case(4,
        "An unknown option, or a missing argument, MUST be reported with the usage and status 1.",
        Call(_unknown_flag), "ServerUtil.parseCmdLine @ 5.5.0", 121),
    _case(5, "A missing configuration file MUST end the server with status 255.",
        Call(_missing_file), STARTUP, 121),
    _case(6, "A port that is in use MUST end the server with status 255.", Call(_port_in_use),
        "NettyRemotingServer.start @ 5.5.0", 121),
    _case(7,
        "Without ROCKETMQ_HOME a server SHOULD end with status 254 and a message, or not need it.",
        Call(_no_home), CONTROLLER, 121),
    _case(8, "-p SHOULD end with status 0 and not start.", Call(_prints_its_properties),
        "MixAll.printObjectProperties @ 5.5.0", 121),
    _case(9, "An unreadable KV file MUST end the server with status 255.", Call(_unusable_kv), LOAD,
        46),
    _case(10, "The KV file MUST be written after every change, with a backup of the old text.",
        Call(_kv_file), PERSIST, 37, fresh=True),
    _case(11, "With port 0 a server MUST use any free port and print it.", Call(_ephemeral_port),
        "NettyRemotingServer.start @ 5.5.0", 122),
    case("process/12", 47, PERSIST,
        "If the KV file is not writable, changes MUST be applied and answered with success or "
        "code 1.",
        ask(100, put(), Response(), Response(code=1, remark=ANY)),
        ask(101, {"namespace": "{namespace}", "key": "{key}"}, Response(ext={"value": "v"})),
        options={
            "deleteTopicWithBrokerRegistration": "true",
            "kvConfigPath": "/proc/none/kvConfig.json",
        }),
)  # fmt: skip
