"""Answers wait until their messages are on the disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio

from rocketwire.client import Message, open_producer
from rocketwire.errors import RocketWireError
from rocketwire_broker.config import Config
from rocketwire_broker.files import log_files
from rocketwire_broker.files.disk import Disk
from rocketwire_broker.files.log_files import LogFiles
from rocketwire_broker.server import syncing as module
from rocketwire_broker.server.programs import open_broker, open_name_server
from rocketwire_broker.server.syncing import Syncing

if TYPE_CHECKING:
    from pathlib import Path


class Syncs:
    """The place of the system call; counts, and fails if it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self.is_broken = False
        self._sync = log_files.sync
        monkeypatch.setattr(module, "sync", self)

    def __call__(self, descriptors: list[int]) -> None:
        self._sync(descriptors)
        self.count += 1
        if self.is_broken:
            raise OSError(5, "Input/output error")


@pytest.fixture
def syncs(monkeypatch: pytest.MonkeyPatch) -> Syncs:
    return Syncs(monkeypatch)


async def test_one_sync_serves_all_who_wait(tmp_path: Path, syncs: Syncs) -> None:
    log = LogFiles(Disk(tmp_path), 1_000, [])
    syncing = Syncing(log)
    log.append(0, b"a")
    assert syncing.is_due

    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(syncing.run)

    assert (syncs.count, syncing.is_due) == (1, False)


async def test_messages_are_not_on_a_disk_that_fails(tmp_path: Path, syncs: Syncs) -> None:
    log = LogFiles(Disk(tmp_path), 1_000, [])
    syncing = Syncing(log)
    log.append(0, b"a")
    syncs.is_broken = True

    assert not await syncing.run()
    assert syncing.is_due
    syncs.is_broken = False
    assert await syncing.run()


async def test_a_send_is_acknowledged_after_its_sync_alone(tmp_path: Path, syncs: Syncs) -> None:
    async with open_name_server(0, "127.0.0.1") as address:
        config = Config(
            listen_port=0,
            namesrv_addr=address,
            flush_disk_type="SYNC_FLUSH",
            store_path=str(tmp_path),
            log_file_size=1 << 20,
        )
        async with open_broker(config), open_producer(address, "p") as producer:
            for _ in range(3):
                await producer.send(Message("orders", b"paid"))
            assert syncs.count == 3
            syncs.is_broken = True
            with pytest.raises(RocketWireError):
                await producer.send(Message("orders", b"paid"))
