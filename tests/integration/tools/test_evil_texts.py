"""Whatever strangers wrote: no command of any program lets it reach the terminal."""

import argparse
import re
import shlex
from pathlib import Path

import pytest

from rocketwire.controls import escape_lines
from rocketwire_tools.admin.registry import EXAMPLES, all_commands
from rocketwire_tools.cli.command import Command
from tests.support.evil import MARK, EvilServer, frames, show, write_capture, write_store

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
    """Words that let a command reach a server."""
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
    """A call of every command."""
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


def assert_harmless(output: str) -> None:
    """Nothing of it changes a terminal."""
    foreign_text = OWN.sub("", output)
    assert [line for line in foreign_text.split("\n") if line != escape_lines(line)] == []


@pytest.mark.parametrize(
    "form",
    [
        "table",
        pytest.param("json", marks=pytest.mark.full),
        pytest.param("csv", marks=pytest.mark.full),
    ],
)
def test_admin_commands_with_evil_answers(form: str, tmp_path: Path) -> None:
    with EvilServer() as server:
        output = show(calls_of_admin(server.address, form), tmp_path)

    assert_harmless(output)
    assert sum(MARK in part for part in output.split("\n$ ")) >= MIN_MARKED


@pytest.mark.full
def test_admin_commands_with_evil_refusals(tmp_path: Path) -> None:
    with EvilServer() as server:
        server.refuses = True
        output = show(calls_of_admin(server.address, "table"), tmp_path)

    assert_harmless(output)
    assert sum(MARK in part for part in output.split("\n$ ")) >= MIN_MARKED


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

    assert_harmless(output)
    assert sum(MARK in part for part in output.split("\n$ ")) >= 8


def test_capture_commands_with_evil_frames(tmp_path: Path) -> None:
    capture = str(write_capture(tmp_path / "evil.pcap"))
    calls = [[name, capture] for name in ("live", "summary", "slow", "topics", "connections")]
    calls += [[name, "--json", capture] for name in ("summary", "slow", "topics", "connections")]
    for form in ("text", "jsonl", "csv"):
        calls.append(["decode", "--format", form, "--body", "decoded", capture])

    output = show([("rocketwire_tools.pcap.__main__", words) for words in calls], tmp_path)

    assert_harmless(output)
    assert sum(MARK in part for part in output.split("\n$ ")) >= 8
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

    assert_harmless(output)
    assert sum(MARK in part for part in output.split("\n$ ")) >= 3
