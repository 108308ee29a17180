"""A broker is killed at each system call while messages wait; all of them come once, in the end."""

from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.broker import START, Client, bodies, fields_of
from tests.support.broker_folder import BrokerWithFolder
from tests.support.virtual_disk import KilledError, VirtualDisk
from tests.unit.broker.groups import end_transaction, send_half

STEPS = range(100)
"""System calls before the kill; the highest numbers are beyond the work."""


def work(client: Client, home: BrokerWithFolder, acknowledged: set[bytes]) -> None:
    """Send messages that wait, and end transactions; add the acknowledged keys to a set."""

    def note(key: str, code: int) -> None:
        if code == 0:
            acknowledged.add(key.encode())

    def send(key: str, **properties: str) -> None:
        properties["UNIQ_KEY"] = key
        note(key, client.send(body=key.encode(), properties=properties).code)

    for number in range(3):
        send(f"D{number}", DELAY="1")
        home.pass_time(600)
        send(f"T{number}", TIMER_DELAY_MS="1500")
        home.pass_time(400)
        key = f"H{number}"
        half = fields_of(send_half(client, key, body=key.encode(), f=4))
        offset, position = int(half["queueOffset"]), int(half["msgId"][-16:], 16)
        note(key, end_transaction(client, offset, position))
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
    delivered = bodies(home.connect().pull_now(0))

    assert acknowledged <= set(delivered)
    assert len(delivered) == len(set(delivered)), "none comes twice"
    home = home.restart_after_kill()
    home.pass_time(10_000)
    assert bodies(home.connect().pull_now(0)) == delivered
