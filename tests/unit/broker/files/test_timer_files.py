"""Wheel and log of timers, read by the rules of ``rocketwire-store pending``."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from rocketwire.store.timers import decode_timer_check
from rocketwire_tools.store.__main__ import main
from tests.peers.peers import CURRENT
from tests.support.broker import START
from tests.support.broker_folder import BrokerWithFolder
from tests.support.stores.fixtures import unpack

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def pending(root: Path, capsys: pytest.CaptureFixture[str]) -> list[tuple[Any, ...]]:
    """Time, offset and key of the messages that wait by wheel and log."""
    with suppress(SystemExit):
        main(["pending", "--json", str(root)])
    rows = map(json.loads, capsys.readouterr().out.splitlines())
    names = ("due", "commit_log_offset", "msg_id")
    return sorted(tuple(row[name] for name in names) for row in rows if row["what"] == "timer")


def test_timer_files_are_like_javas(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = unpack(CURRENT, "timers", tmp_path)
    java = pending(source.root, capsys)
    home = BrokerWithFolder(source.root, now=min(due for due, _, _ in java) - 60_000)

    home.folder.close(home.now)

    assert java
    assert pending(source.root, capsys) == java


def test_delivered_message_is_absent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = BrokerWithFolder(tmp_path, timer_log_file_size=300)
    client = home.connect()
    for number, delay in enumerate((60, 1, 120, 2, 60, 60, 60)):
        client.send(properties={"TIMER_DELAY_SEC": str(delay), "UNIQ_KEY": f"K{number}"})
        home.folder.persist(home.now)
    home.pass_time(10_000)
    home.folder.persist(home.now)
    client.send(properties={"TIMER_DELAY_SEC": "1", "UNIQ_KEY": "K1"})
    home.pass_time(3_000)
    home.folder.persist(home.now)

    dues = [due - START for due, _, _ in pending(tmp_path, capsys)]

    check = decode_timer_check((tmp_path / "config/timercheck").read_bytes())
    assert dues == [59_000] * 4 + [119_000]
    assert (check.read_time, check.queue_offset) == (START + 13_000, 8)
    assert home.restart_after_kill().broker.timers.offsets() == {0, 2, 4, 5, 6}


def test_there_are_none_without_such_messages(tmp_path: Path) -> None:
    home = BrokerWithFolder(tmp_path)
    home.connect().send()

    home.folder.close(home.now)

    assert not {"timerwheel", "timerlog"} & {path.name for path in tmp_path.iterdir()}
