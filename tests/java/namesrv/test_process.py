"""The name server as a process, compared with Java's: arguments, exit statuses, settings, and files that each reads of the other."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.peers import raw_call
from tests.peers.cache import ROOT
from tests.peers.peers import CURRENT, java, prepare, quick_start
from tests.support.name_servers import name_server

CONSOLE = ("-Drmq.logback.configurationFile=rmq.namesrv.logback.xml",)
"""Log as the launcher of an installation has it, from which -p prints."""
SECONDS = 300


class Ended(NamedTuple):
    status: int
    out: list[str]
    err: str


def run(command: list[str], folder: Path) -> Ended:
    home = {"HOME": ".", "ROCKETMQ_HOME": ".", "PYTHONPATH": f"{ROOT}:{ROOT / 'namesrv'}"}
    ended = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **home},
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    chatter = (" |-", "\tat ")
    lines = [
        line for line in ended.stdout.splitlines() if not any(mark in line for mark in chatter)
    ]
    return Ended(ended.returncode, lines, ended.stderr)


def run_both(arguments: list[str], folder: Path) -> tuple[Ended, Ended]:
    # Run Java's and ours with the same arguments in folders with the same files.
    prepare(folder)
    main = "org.apache.rocketmq.namesrv.NamesrvStartup"
    theirs = run(java(CURRENT, main, *arguments, jvm=[*quick_start(CURRENT), *CONSOLE]), folder)
    return theirs, run([sys.executable, "-m", "rocketwire_namesrv", *arguments], folder)


@pytest.fixture(autouse=True)
def _java_is_there(java: None) -> None:
    """Skip without it."""


def items(lines: list[str]) -> list[str]:
    return [line.partition(" INFO main - ")[2] or line for line in lines]


def test_all_settings_are_printed_as_java_prints_them(tmp_path: Path) -> None:
    (tmp_path / "a.properties").write_text(
        "listenPort=1234\nenableTopicList=true \nserverWorkerThreads=9x\nunknown=1\n"
        "bindAddress= ::1 \nwaitSecondsForService=+7\nuseTLS=true\nscanAvailableNameSrv=no\n"
    )

    theirs, ours = run_both(["-c", "a.properties", "-p"], tmp_path)

    javas = items(theirs.out)
    printed, additions = items(ours.out)[: len(javas)], items(ours.out)[len(javas) :]
    assert (ours.status, printed) == (theirs.status, javas)
    assert "enableTopicList=false" in printed
    assert additions
    assert all(line.startswith("rocketwire.") for line in additions)


def test_the_help_begins_with_javas(tmp_path: Path) -> None:
    theirs, ours = run_both(["-hp"], tmp_path)

    assert (ours.status, ours.out[: len(theirs.out)]) == (theirs.status, theirs.out)
    assert ours.err == theirs.err


ITEMS = {
    ("ORDER_TOPIC_CONFIG", "TopicTest"): "broker-a:4;broker-b:8",
    ("ns", 'quotes " and \\ and / and <tags>'): "a\tb\u2028c",
    ("ns", "é漢😀"): "",
    ("", ""): "null",
}


@pytest.mark.parametrize(("first", "second"), [("java", "ours"), ("ours", "java")])
def test_the_kv_file_of_one_is_read_by_the_other_and_written_the_same(
    first: str, second: str, tmp_path: Path
) -> None:
    file = tmp_path / "kvConfig.json"
    options = {"kvConfigPath": f"../{file.name}"}
    with name_server(first, tmp_path / "first", options) as server:
        for (namespace, key), value in ITEMS.items():
            fields = {"namespace": namespace, "key": key, "value": value}
            assert raw_call.ask(server.port, 100, fields).header["code"] == 0
    written = file.read_bytes()
    with name_server(second, tmp_path / "second", options) as server:
        values = {
            (namespace, key): raw_call.ask(
                server.port, 101, {"namespace": namespace, "key": key}
            ).header["extFields"]
            for namespace, key in ITEMS
        }
        raw_call.ask(server.port, 102, {"namespace": "none", "key": "none"})  # saves in any case

    assert values == {item: {"value": value} for item, value in ITEMS.items()}
    assert file.read_bytes() == written
