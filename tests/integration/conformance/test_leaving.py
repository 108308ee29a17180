"""A run leaves a live server as it was, except for one empty KV namespace."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import pytest

from rocketwire.wire.command import RemotingCommand
from rocketwire_broker.config import Config
from rocketwire_tools.conformance.__main__ import main
from rocketwire_tools.pytest_plugin.cluster import BrokerOfTest
from rocketwire_tools.pytest_plugin.requests import ask
from rocketwire_tools.pytest_plugin.trio_thread import Backstage
from tests.peers.cache import ROOT
from tests.peers.peers import RELEASES, JavaNameServer
from tests.support.name_servers import NameServer, OurNameServer

pytestmark = pytest.mark.process

SHARED = "rocketwire-conformance"
LISTS = (106, 206, 304, 311, 312, 313, 319)
PRODUCTS = ["ours", *(pytest.param(release, marks=pytest.mark.java) for release in RELEASES)]
PROFILES = {"ours": "java-5.5", "5.5.0": "java-5.5", "5.3.3": "java-5.3", "4.9.4": "java-4.9"}


@contextmanager
def live(product: str, folder: Path) -> Generator[NameServer]:
    # A name server in use: it has a registered broker, and KV entries of others.
    options = {"rocketwire.allowConfigUpdate": "true"}
    is_ours = product == "ours"
    server = OurNameServer(folder, options) if is_ours else JavaNameServer(folder, version=product)
    with server, Backstage() as backstage:
        config = Config(listen_port=0, broker_name="theirs", namesrv_addr=server.address)
        BrokerOfTest(backstage, config).start()
        for namespace in ("theirs", "ORDER_TOPIC_CONFIG"):
            fields = {"namespace": namespace, "key": "k", "value": "v"}
            read_answer(server, 100, fields)
        yield server


def read_answer(
    server: NameServer, code: int, fields: dict[str, str] | None = None
) -> tuple[int, bytes | None]:
    answer = ask(server.address, RemotingCommand(code=code, ext_fields=fields), seconds=60)
    return answer.code, answer.body


def visible(server: NameServer, folder: Path) -> dict[object, object]:
    # All that a server shows: its lists, its configuration, the routes, and the file of its KV configuration.
    state: dict[object, object] = {}
    for code in LISTS:
        answered, body = read_answer(server, code)
        state[code] = answered, _in_order(body)
    topics: list[str] = json.loads(read_answer(server, 206)[1] or b"{}").get("topicList") or []
    for topic in sorted(topics):
        state["route", topic] = _in_order(read_answer(server, 105, {"topic": topic})[1])
    state["kv"] = json.loads((folder / "namesrv" / "kvConfig.json").read_text())["configTable"]
    return state


def _in_order(body: bytes | None) -> object:
    text = (body or b"").decode()
    for ends in ("[],", "{}", '":'):
        text = text.replace(ends, f" {ends} ")
    return sorted(text.replace(",", " ").replace("[", " ").replace("]", " ").split())


def wait_settled(
    server: NameServer, folder: Path, expected: dict[object, object]
) -> dict[object, object]:
    # Return the visible state when it is as expected, or after two minutes: brokers leave in the background.
    deadline = time.monotonic() + 120
    while (state := visible(server, folder)) != expected and time.monotonic() < deadline:
        time.sleep(0.1)
    return state


@pytest.mark.full
@pytest.mark.parametrize("product", PRODUCTS)
def test_a_live_server_is_as_before_but_for_one_empty_namespace(
    product: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--profile", PROFILES[product], "--patience", "4", "--quiet", "--without", "minute"]
    with live(product, tmp_path) as server:
        state_before = visible(server, tmp_path)
        expected = with_shared(state_before)

        assert main([server.address, *words]) == 0
        assert wait_settled(server, tmp_path, expected) == expected
        details = capsys.readouterr().out
        assert details.count(f"leaves the empty KV namespace {SHARED} behind") == 1
        assert main([server.address, *words, "--only", "ns/100"]) == 0
        assert wait_settled(server, tmp_path, expected) == expected


@pytest.mark.parametrize(
    "product", ["ours", pytest.param("5.5.0", marks=[pytest.mark.java, pytest.mark.full])]
)
def test_what_destructive_cases_configure_is_restored(
    product: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--only", "ns/318", "--only", "ns/319", "--patience", "4", "--destructive"]
    with live(product, tmp_path) as server:
        state_before = visible(server, tmp_path)
        assert main([server.address, *words]) == 0
        assert visible(server, tmp_path) == state_before

    details = capsys.readouterr().out
    assert details.startswith(
        "14 of 21 cases are run\n  skipped   7: needs its own server (--start)"
    )
    assert "14 of 21 cases: 14 pass, 7 skip; no MUST failed" in details
    assert "could not" not in details


COMMAND = [sys.executable, "-m", "rocketwire_tools.conformance"]
PLACES = os.pathsep.join(str(ROOT / part) for part in ("", "namesrv", "tools"))


def suite(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *words],
        env={**os.environ, "PYTHONPATH": PLACES, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def with_shared(state_before: dict[object, object]) -> dict[object, object]:
    kv = cast("dict[str, object]", state_before["kv"])
    empty: dict[str, str] = {}
    return {**state_before, "kv": {**kv, SHARED: empty}}


def interrupt(process: subprocess.Popen[str]) -> str:
    # Wait for the first KV case, which is one of the first, and interrupt the run.
    assert process.stdout is not None
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line)
        if "pass  ns/100/1 " in line:
            process.send_signal(signal.SIGINT)
            break
    return "".join(lines) + process.communicate(timeout=60)[0]


def unread(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if "pass  ns/100/1 " in line:
            break
    process.stdout.close()
    process.wait(60)
    return ""


@pytest.mark.parametrize("ends", [interrupt, unread])
def test_a_run_that_ends_early_removes_its_entries(
    ends: Callable[[subprocess.Popen[str]], str], tmp_path: Path
) -> None:
    with live("ours", tmp_path) as server:
        state_before = visible(server, tmp_path)
        process = suite(server.address, "--patience", "4", "--only", "ns/100", "--only", "ns/103")
        details = ends(process)
        state = wait_settled(server, tmp_path, with_shared(state_before))

    assert state == with_shared(state_before)
    assert process.returncode == 1
    assert "Traceback" not in details
    if ends is interrupt:
        assert re.search(r"interrupted: [1-9]\d* of \d+ cases were run, \d+ skipped", details)
        assert f"leaves the empty KV namespace {SHARED} behind" in details


def test_entries_of_a_run_that_was_killed_are_removed_by_the_next_one(tmp_path: Path) -> None:
    with live("ours", tmp_path) as server:
        state_before = visible(server, tmp_path)
        for key in ("key-killed-0001", "key-killed-0002"):
            read_answer(server, 100, {"namespace": SHARED, "key": key, "value": "v"})

        assert main([server.address, "--patience", "4", "--quiet", "--only", "ns/219"]) == 0
        expected = with_shared(state_before)
        assert wait_settled(server, tmp_path, expected) == expected


@pytest.mark.full
def test_a_run_leaves_nothing_if_its_server_restarts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with OurNameServer(tmp_path) as server:
        read_answer(server, 100, {"namespace": "theirs", "key": "k", "value": "v"})

        def start_again() -> None:
            server.kill()
            server.start()

        timer = threading.Timer(1.0, start_again)
        timer.start()
        main([server.address, "--patience", "4", "--quiet", "--without", "minute"])
        timer.join()
        stored = json.loads((tmp_path / "namesrv" / "kvConfig.json").read_text())["configTable"]

    details = capsys.readouterr().out
    assert stored["theirs"] == {"k": "v"}
    assert set(stored) <= {"theirs", SHARED}
    assert stored.get(SHARED, {}) == {} or "could not remove" in details


@pytest.mark.parametrize(
    "chosen",
    [["--only", "ns/100", "--only", "ns/103"], pytest.param([], marks=pytest.mark.full)],
    ids=["key-value settings", "all cases"],
)
def test_a_comparison_leaves_only_an_empty_namespace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], chosen: list[str]
) -> None:
    folders = tmp_path / "a", tmp_path / "b"
    with live("ours", folders[0]) as first, live("ours", folders[1]) as second:
        states = [visible(*pair) for pair in zip((first, second), folders, strict=True)]
        main(["diff", first.address, second.address, "--patience", "4", *chosen])
        for server, folder, state in zip((first, second), folders, states, strict=True):
            assert wait_settled(server, folder, with_shared(state)) == with_shared(state)

    details = capsys.readouterr().out
    assert details.count(f"leaves the empty KV namespace {SHARED} behind") == 2


def test_a_run_without_kv_cases_leaves_nothing_at_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with live("ours", tmp_path) as server:
        state_before = visible(server, tmp_path)
        assert main([server.address, "--patience", "4", "--quiet", "--only", "ns/217"]) == 0
        assert wait_settled(server, tmp_path, state_before) == state_before

    assert "leaves" not in capsys.readouterr().out
