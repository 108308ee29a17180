"""Wheel and log of timers, read by the rules of ``rocketwire-store pending``."""

from pathlib import Path

from rocketwire.store.timers import decode_timer_check
from tests.peers.peers import CURRENT
from tests.support.broker import START
from tests.support.broker_folder import BrokerWithFolder
from tests.support.stores.fixtures import unpack
from tests.unit.broker.files.conftest import ListPending


def test_timer_files_are_like_javas(tmp_path: Path, list_pending: ListPending) -> None:
    source = unpack(CURRENT, "timers", tmp_path)

    def list_timers() -> list[tuple[int, int, str]]:
        rows = list_pending(source.root, "timer")
        return sorted((row["due"], row["commit_log_offset"], row["msg_id"]) for row in rows)

    java = list_timers()
    home = BrokerWithFolder(source.root, now=min(due for due, _, _ in java) - 60_000)

    home.folder.close(home.now)

    assert java
    assert list_timers() == java


def test_delivered_message_is_absent(tmp_path: Path, list_pending: ListPending) -> None:
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

    dues = sorted(row["due"] - START for row in list_pending(tmp_path, "timer"))

    check = decode_timer_check((tmp_path / "config/timercheck").read_bytes())
    assert dues == [59_000] * 4 + [119_000]
    assert (check.read_time, check.queue_offset) == (START + 13_000, 8)
    assert home.restart_after_kill().broker.timers.offsets() == {0, 2, 4, 5, 6}


def test_there_are_none_without_such_messages(home: BrokerWithFolder, tmp_path: Path) -> None:
    home.connect().send()

    home.folder.close(home.now)

    assert not {"timerwheel", "timerlog"} & {path.name for path in tmp_path.iterdir()}
