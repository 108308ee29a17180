"""A broker is killed at each system call while messages wait; all of them come once, in the end."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from tests.support.broker import START, bodies
from tests.support.broker_folder import BrokerWithFolder
from tests.support.virtual_disk import KilledError, VirtualDisk

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.broker import Client

COMMIT = 8
STEPS = range(100)
"""System calls before the kill; the last ones are more than there are."""


def work(client: Client, home: BrokerWithFolder, acknowledged: set[bytes]) -> None:
    """Send messages that wait, and end transactions; notes what was acknowledged."""
    for number in range(3):
        key = f"D{number}"
        if client.send(body=key.encode(), properties={"DELAY": "1", "UNIQ_KEY": key}).code == 0:
            acknowledged.add(key.encode())
        home.pass_time(600)
        key = f"T{number}"
        properties = {"TIMER_DELAY_MS": "1500", "UNIQ_KEY": key}
        if client.send(body=key.encode(), properties=properties).code == 0:
            acknowledged.add(key.encode())
        home.pass_time(400)
        key = f"H{number}"
        properties = {"TRAN_MSG": "true", "PGROUP": "p", "UNIQ_KEY": key}
        sent = client.send(body=key.encode(), properties=properties, f=4).ext_fields or {}
        fields = {
            "producerGroup": "p",
            "tranStateTableOffset": sent["queueOffset"],
            "commitLogOffset": int(sent["msgId"][-16:], 16),
            "commitOrRollback": COMMIT,
        }
        if client.call(37, fields).code == 0:
            acknowledged.add(key.encode())
        if number == 1:
            home.folder.persist(home.now)


@pytest.mark.parametrize("calls", STEPS)
def test_each_message_comes_once(calls: int, tmp_path: Path) -> None:
    acknowledged: set[bytes] = set()
    with VirtualDisk(tmp_path, calls) as disk:
        with suppress(KilledError):
            home = BrokerWithFolder(tmp_path, log_file_size=8_192)
            work(home.connect(), home, acknowledged)
        disk.revive()

    home = BrokerWithFolder(tmp_path, log_file_size=8_192, now=START + 10_000)
    home.pass_time(10_000)
    there = bodies(home.connect().pulled(0))

    assert acknowledged <= set(there)
    assert len(there) == len(set(there)), "none comes twice"
    again = home.killed()
    again.pass_time(10_000)
    assert bodies(again.connect().pulled(0)) == there
