"""Faults during a write of the KV file lose no acknowledged item, and we and Java can read the file."""

import errno
import json
import os
import shutil
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pytest

from rocketwire_namesrv.runtime import storage
from tests.peers import raw_call
from tests.support.name_servers import name_server
from tests.support.virtual_disk import KilledError, VirtualDisk

pytestmark = pytest.mark.chaos

GET_KV_LIST = 219
TABLES = tuple(
    {"ns": {f"key-{number}": "value " * 200 for number in range(size)}} for size in range(4)
)
"""Values to save one after the other; the first is there from the beginning."""


class Death(NamedTuple):
    call: str
    saved: int
    path: Path


class FailingDisk(VirtualDisk):
    def end(self, name: str) -> None:
        code = (errno.ENOSPC, errno.EIO, errno.EDQUOT)[len(self.calls) % 3]
        self._last, self.is_dead = None, False
        raise OSError(code, f"{os.strerror(code)}, {name}")


@pytest.fixture(scope="module")
def deaths(tmp_path_factory: pytest.TempPathFactory) -> list[Death]:
    folder = tmp_path_factory.mktemp("deaths")
    deaths: list[Death] = []
    for number in count():
        path = folder / str(number) / "kvConfig.json"
        storage.save(str(path), storage.kv_document(TABLES[0]))
        saved = 0
        with VirtualDisk(path.parent, number) as disk:
            with suppress(KilledError):
                for table in TABLES[1:]:
                    storage.save(str(path), storage.kv_document(table))
                    saved += 1
            is_over = not disk.is_dead
            disk.revive()
        deaths.append(Death(disk.calls[-1] if number else "", saved, path))
        if is_over:
            return deaths
    return deaths


def test_process_is_killed_at_every_step(deaths: list[Death]) -> None:
    assert {death.call for death in deaths} >= {"open", "write", "fsync", "rename", "unlink"}
    assert {0, 1, 2, 3} == {death.saved for death in deaths}


def test_no_acknowledged_value_is_lost_when_the_process_is_killed(deaths: list[Death]) -> None:
    for death in deaths:
        items = storage.load_kv(str(death.path))

        assert items in TABLES[death.saved : death.saved + 2], death


def test_files_of_a_killed_process_are_no_obstacle(deaths: list[Death], tmp_path: Path) -> None:
    for number, death in enumerate(deaths):
        folder = tmp_path / str(number)
        shutil.copytree(death.path.parent, folder)
        path = str(folder / death.path.name)

        storage.save(path, storage.kv_document({"ns": {"new": "value"}}))

        assert storage.load_kv(path) == {"ns": {"new": "value"}}
        assert sorted(os.listdir(folder)) == ["kvConfig.json", "kvConfig.json.bak"]


def test_failed_write_leaves_the_old_text_or_the_new(tmp_path: Path) -> None:
    path = tmp_path / "kvConfig.json"
    outcomes: set[tuple[bool, bool]] = set()
    for number in range(200):
        storage.save(str(path), storage.kv_document(TABLES[1]))
        descriptors = len(os.listdir("/proc/self/fd"))
        failed = False
        with FailingDisk(tmp_path, number):
            try:
                storage.save(str(path), storage.kv_document(TABLES[2]))
            except OSError:
                failed = True
        items = storage.load_kv(str(path))
        assert items in TABLES[1:3]
        assert failed or items == TABLES[2]
        assert len(os.listdir("/proc/self/fd")) == descriptors
        outcomes.add((failed, items == TABLES[2]))
        storage.save(str(path), storage.kv_document(TABLES[3]))
        assert storage.load_kv(str(path)) == TABLES[3]
        if not failed:  # there are no more calls
            break

    assert outcomes == {(True, False), (True, True), (False, True)}


@pytest.mark.full
@pytest.mark.process
@pytest.mark.java
def test_java_reads_the_file_of_each_killed_process(deaths: list[Death], tmp_path: Path) -> None:
    contents = {death.path.read_bytes() for death in deaths}

    for number, content in enumerate(sorted(contents)):
        folder = tmp_path / str(number)
        (folder / "conf").mkdir(parents=True)
        (folder / "conf" / "kvConfig.json").write_bytes(content)
        java = name_server("java", folder, {"kvConfigPath": "conf/kvConfig.json"})
        with java:
            answer = raw_call.ask(java.port, GET_KV_LIST, {"namespace": "ns"})
        assert json.loads(content)["configTable"]["ns"] == json.loads(answer.body)["table"]
