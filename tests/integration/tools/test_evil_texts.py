"""Whatever strangers wrote: no command of any program lets it reach the terminal."""

import argparse
import json
import os
import pty
import re
import shlex
import subprocess
import sys
import tty
from collections.abc import Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, Final, cast, get_type_hints

import pytest

from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.controls import escape_lines
from rocketwire.messages.operations.model import ArrayOf, Raw
from rocketwire.messages.operations.registry import OPERATIONS
from rocketwire.messages.route import BrokerData, ClusterInfo, QueueData, TopicRouteData
from rocketwire.testing import reply
from rocketwire.wire.command import RemotingCommand, encode
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from rocketwire_tools.admin.program import EXAMPLES, all_commands
from rocketwire_tools.cli.command import Command
from tests.fuzz.broker_requests import BrokerRequests
from tests.fuzz.chance import Chance
from tests.peers.foreign.files import save
from tests.support.broker_folder import BrokerWithFolder
from tests.support.captures.recut import Sent, cut, resend
from tests.support.fakes.tcp_cluster import TcpCluster

MARK: Final = "pwned"
EVIL: Final = f"=1+1|\x1b]0;{MARK}\x07\x1b[31m\r\n\x7f\x9b2J\u202e\u2066<b>\t"
MESSAGE: Final = StoredMessage(
    topic="orders",
    body=EVIL.encode(),
    properties={"TAGS": EVIL, "KEYS": EVIL, "UNIQ_KEY": EVIL, EVIL: EVIL},
    born_timestamp=1_700_000_000_000,
    store_timestamp=1_700_000_000_000,
)
_RUN: Final = """
import importlib, json, sys
for module, words in json.load(open(sys.argv[1])):
    print("$", module, *words, flush=True)
    sys.argv = [module, *words]
    try:
        importlib.import_module(module).main()
    except SystemExit:
        pass
    sys.stdout.flush()
"""


class _Usual:
    def below(self, limit: int) -> int:
        return limit - 1

    def choice(self, values: Sequence[Any]) -> Any:
        return values[0]


class _Texts(BrokerRequests):
    def fields(self, header: type[Any]) -> dict[str, str]:
        return {
            wire: {"int": "1", "bool": "true"}.get(hint, EVIL)
            for wire, hint in _hints_of(header).items()
        }

    def body(self, body_type: object) -> bytes | None:
        if isinstance(body_type, ArrayOf):
            return b"[%b]" % json.dumps(self._members(body_type.element, 6)).encode()
        if isinstance(body_type, type):
            return json.dumps(self._members(body_type, 6)).encode()
        if body_type in {Raw.STORED_MESSAGE, Raw.STORED_MESSAGES}:
            return encode_stored_message(MESSAGE)
        return None if body_type is None else f"{EVIL}={EVIL}\n".encode()

    def _value(self, name: str, hint: Any, depth: int) -> Any:
        if hint in {int, float} or depth == 0:
            return 1
        return super()._value(name, hint, depth)

    def _container(self, name: str, origin: Any, arguments: list[Any], depth: int) -> Any:
        if len(arguments) == 2 and is_dataclass(arguments[0]):
            return {}  # no JSON has objects as names
        return super()._container(name, origin, arguments, depth)

    def _text(self, name: str) -> str:
        return EVIL


def _hints_of(header: type[Any]) -> dict[str, str]:
    from rocketwire.messages._codec.fields import ext_fields_of

    hints = get_type_hints(header)
    return {
        field.wire: str(hints[name]).removeprefix("<class '").split("'")[0].split(" ")[0]
        for name, field in ext_fields_of(header).items()
    }


class EvilServer(TcpCluster):
    def __init__(self) -> None:
        super().__init__()
        self.refuses = False
        self._texts = _Texts(cast("Chance", _Usual()))

    def _answer(self, request: RemotingCommand) -> RemotingCommand:
        code = request.code
        if code == Code.GET_ROUTEINFO_BY_TOPIC:
            return reply(body=self._evil_route())
        if code == Code.GET_BROKER_CLUSTER_INFO:
            return reply(body=self._info())
        if self.refuses:
            return reply(code=ResponseCode.SYSTEM_ERROR, remark=EVIL)
        operation = OPERATIONS.get(code)
        if operation is None:
            return reply(remark=EVIL)
        header = operation.response_header
        fields = {} if header is None else self._texts.fields(header)
        if code != Code.GET_MAX_OFFSET and "offset" in fields:
            fields["offset"] = "0"  # a queue has one message
        fields.pop("offsetDelta", None)
        if code in {Code.PULL_MESSAGE, Code.LITE_PULL_MESSAGE} and self.is_drained(request):
            return reply(code=ResponseCode.PULL_NOT_FOUND, ext_fields=fields)
        return reply(ext_fields=fields, body=self._texts.body(operation.response_body), remark=EVIL)

    def is_drained(self, request: RemotingCommand) -> bool:
        return (request.ext_fields or {}).get("queueOffset", "0") != "0"

    def _brokers(self) -> tuple[BrokerData, ...]:
        return tuple(
            BrokerData(broker_name=name, cluster="c", broker_addrs={0: self.address})
            for name in ("broker-a", EVIL)
        )

    def _evil_route(self) -> TopicRouteData:
        queues = tuple(
            QueueData(broker_name=name, perm=6, read_queue_nums=1, write_queue_nums=1)
            for name in ("broker-a", EVIL)
        )
        return TopicRouteData(broker_datas=self._brokers(), queue_datas=queues)

    def _info(self) -> ClusterInfo:
        return ClusterInfo(
            broker_addr_table={broker.broker_name or "": broker for broker in self._brokers()},
            cluster_addr_table={"DefaultCluster": ("broker-a", EVIL), EVIL: (EVIL,)},
        )


def frames() -> list[bytes]:
    fields = {"topic": EVIL, "b": EVIL, "i": EVIL, "consumerGroup": EVIL, EVIL: EVIL}
    request = RemotingCommand(
        code=Code.PULL_MESSAGE, opaque=1, ext_fields=fields, body=EVIL.encode()
    )
    answer = RemotingCommand(
        code=1, opaque=1, flag=1, remark=EVIL, ext_fields=fields, body=EVIL.encode()
    )
    return [encode(request), encode(answer)]


def write_capture(path: Path) -> Path:
    sent = [
        Sent(by_client, data, cut(data))
        for by_client, data in zip((True, False), frames(), strict=True)
    ]
    return save(path, resend([sent]))


def write_store(folder: Path) -> Path:
    broker = BrokerWithFolder(folder)
    client = broker.connect()
    evil = {"KEYS": EVIL, "TAGS": EVIL, "UNIQ_KEY": EVIL, "a": EVIL}
    for properties in (evil, {**evil, "DELAY": "3"}, {**evil, "TRAN_MSG": "true", "PGROUP": EVIL}):
        client.send(
            body=EVIL.encode(), properties=properties, a=EVIL, f=4 if "PGROUP" in properties else 0
        )
    broker.folder.close(broker.now)
    return folder


def show(calls: Sequence[tuple[str, Sequence[str]]], folder: Path) -> str:
    script = folder / "calls.json"
    script.write_text(json.dumps(calls))
    ours, theirs = pty.openpty()
    tty.setraw(theirs)  # line breaks stay as they are
    environment = {**os.environ, "XDG_CONFIG_HOME": "nowhere", "NO_COLOR": "1", "TERM": "xterm"}
    paths = os.pathsep.join(
        os.path.join(os.getcwd(), name) for name in (".", "tools", "namesrv", "broker")
    )
    environment["PYTHONPATH"] = paths
    command = [sys.executable, "-c", _RUN, str(script)]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, cwd=folder, env=environment
    ):
        os.close(theirs)
        output = bytearray()
        while True:
            try:
                data = os.read(ours, 65_536)
            except OSError:  # Linux reports it at the end
                break
            if not data:
                break
            output += data
    os.close(ours)
    return output.decode("utf-8", "surrogateescape")


pytestmark = pytest.mark.process

OWN = re.compile("\r\x1b\\[K|\x1b\\[[0-9;]*m")
"""Control sequences of the programs themselves: a line of progress is cleared."""
MORE = {
    "consume": "-t orders -g g --pull --from first --count 1 --timeout 5",
    "produce": "-t orders",
    "startMonitoring": "--rounds 1 -i 1",
    "clusterRT": "--rounds 1 -i 1 -c DefaultCluster",
    "help": "",
    "completion": "bash",
    "updateOrderConf": "-t orders -m get",
    "topicList": "-c",
    "producer": "-b broker1:10911",
    "queryMsgById": "-t orders -i 0A00000200002A9F0000000000000010",
    "exportPopRecord": "-b broker1:10911 -d true",
    "diff": "ns1:9876 ns1:9876",
    "doctor": "-q",
    "queryMsgByOffset": "-t orders -b broker-a -i 0 -o 0",
    "consumeMessage": "-t orders -b broker-a -i 0 -o 0 -c 1",
    "getBrokerConfig": "-b broker1:10911",
    "printMsg": "-t orders",
    "queryCq": "-t orders -q 0 -i 0 -b broker1:10911",
}
VALUES = {
    "brokerAddr": "broker1:10911",
    "controllerAddress": "broker1:10911",
    "brokerContainerAddr": "broker1:10911",
    "fromBroker": "broker1:10911",
    "toBroker": "broker1:10911",
    "broker": "broker1:10911",
    "clusterName": "DefaultCluster",
    "cluster": "DefaultCluster",
    "topic": "orders",
}
"""Values of options; others are 1, or their first choice."""
MIN_MARKED = 45
"""Commands of the administrator that show something evil."""


def words_of(command: Command) -> list[str]:
    text = MORE.get(command.name, EXAMPLES.get(command.name))
    if text is not None:
        return shlex.split(text)
    parser = argparse.ArgumentParser()
    for add_option in command.options:
        add_option(parser)
    words: list[str] = []
    for action in parser._actions:
        name = action.option_strings[1].lstrip("-") if action.option_strings[1:] else action.dest
        if action.required or name == "brokerAddr":
            choice = next(iter(action.choices or ("1",)))
            words += [*action.option_strings[:1], VALUES.get(name, str(choice))]
    return words


def calls_of_admin(address: str, form: str) -> list[tuple[str, list[str]]]:
    calls: list[tuple[str, list[str]]] = []
    for command in all_commands():
        words = [
            word.replace("ns1:9876", address).replace("broker1:10911", address)
            for word in words_of(command)
        ]
        if not command.offline and "-n" not in words:
            words += ["-n", address]
        if not command.streams and not command.offline:
            words += ["--output", form, "--verbose"]
        calls.append(("rocketwire_tools.admin.__main__", [command.name, *words]))
    return calls


def assert_harmless(output: str, marked: int) -> None:
    foreign_text = OWN.sub("", output)
    assert [line for line in foreign_text.split("\n") if line != escape_lines(line)] == []
    assert sum(MARK in part for part in output.split("\n$ ")) >= marked


@pytest.mark.parametrize(
    ("form", "refuses"),
    [
        ("table", False),
        *(
            pytest.param(*values, marks=pytest.mark.full)
            for values in (("json", False), ("csv", False), ("table", True))
        ),
    ],
)
def test_admin_commands_with_evil_answers(form: str, refuses: bool, tmp_path: Path) -> None:
    with EvilServer() as server:
        server.refuses = refuses
        output = show(calls_of_admin(server.address, form), tmp_path)

    assert_harmless(output, MIN_MARKED)


def test_store_commands_with_evil_messages(tmp_path: Path) -> None:
    store = str(write_store(tmp_path / "store"))
    queue = ("--at", "orders:0:0", store)
    commands = [["info"], ["check"], ["pending"], ["messages"], ["export"], ["replay", "--dry-run"]]
    commands += [["stat", "--by", column] for column in ("topic", "tag", "group")]
    commands += [["rebuild", "--log-file-size", "1048576", str(tmp_path / "built")]]
    calls = [[*words, store] for words in commands]
    calls += [[*words[:1], "--json", *words[1:], store] for words in commands[:9]]
    calls += [["messages", "--body", "text", store], ["get", *queue], ["get", "--json", *queue]]

    output = show([("rocketwire_tools.store.__main__", words) for words in calls], tmp_path)

    assert_harmless(output, 8)


def test_capture_commands_with_evil_frames(tmp_path: Path) -> None:
    capture = str(write_capture(tmp_path / "evil.pcap"))
    calls = [[name, capture] for name in ("live", "summary", "slow", "topics", "connections")]
    calls += [[name, "--json", capture] for name in ("summary", "slow", "topics", "connections")]
    for form in ("text", "jsonl", "csv"):
        calls.append(["decode", "--format", form, "--body", "decoded", capture])

    output = show([("rocketwire_tools.pcap.__main__", words) for words in calls], tmp_path)

    assert_harmless(output, 8)
    assert "'=1+1|" in output


def test_codec_and_conformance_with_evil_answers(tmp_path: Path) -> None:
    file = tmp_path / "frames.hex"
    file.write_text("\n".join(frame.hex() for frame in frames()))
    suite = "rocketwire_tools.conformance.__main__"
    only = ["--only", "ns/105", "--only", "ns/106", "--patience", "0.1"]
    with EvilServer() as server:
        calls = [
            ("rocketwire_tools.codec.__main__", ["decode", str(file)]),
            (suite, [server.address, *only, "--json", "report.json"]),
            (suite, ["matrix", "report.json"]),
            (suite, ["diff", server.address, server.address, *only]),
            ("rocketwire_tools.exporter.__main__", ["--once", "-n", server.address]),
        ]
        output = show(calls, tmp_path)

    assert_harmless(output, 3)
