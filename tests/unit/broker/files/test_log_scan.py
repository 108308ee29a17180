"""Reading a commit log at the start; bytes after its end are put aside."""

from pathlib import Path

import pytest

from rocketwire.wire.message.host import Host
from rocketwire_broker.files.disk import Disk
from rocketwire_broker.files.log_files import LogFiles, name_of
from rocketwire_broker.files.log_scan import entry_at, scan
from rocketwire_broker.storage.message import Message

HOST = Host(b"\x7f\0\0\x01", 10911)
SIZE = 100_000


def record(physical: int, offset: int = 0) -> bytes:
    message = Message(topic="t", queue_id=1, body=b"body", properties={"TAGS": "a"}, born_host=HOST)
    return message.encode(offset, physical, HOST, 5)


def damage(data: bytes) -> bytes:
    return data[:90] + bytes([data[90] ^ 1]) + data[91:]


class Store:
    def __init__(self, root: Path, *files: bytes) -> None:
        self.disk = Disk(root)
        for number, data in enumerate(files):
            self.disk.write(name_of(number * SIZE), 0, data, SIZE)
        self.log = LogFiles(self.disk, SIZE, [number * SIZE for number in range(len(files))])

    def scan(self) -> list[int]:
        return [entry.parts.physical_offset for entry in scan(self.disk, self.log)]

    def names(self) -> list[str]:
        paths = (path for path in self.disk.root.rglob("*") if path.is_file())
        return sorted(str(path.relative_to(self.disk.root)) for path in paths)


def full(data: bytes) -> bytes:
    return data + (SIZE - len(data)).to_bytes(4) + bytes.fromhex("cbd43194")


LENGTH = len(record(0))


def test_a_message_has_its_fields(tmp_path: Path) -> None:
    store = Store(tmp_path, record(0, offset=3))

    (entry,) = scan(store.disk, store.log)

    assert (entry.topic, entry.properties) == (b"t", b"TAGS\x01a\x02")
    assert entry.parts[:7] == (LENGTH, 0, 1, 3, 0, 5, 0)
    assert store.log.end == LENGTH


def test_the_log_continues_after_a_blank(tmp_path: Path) -> None:
    store = Store(tmp_path, full(record(0)), record(SIZE) + record(SIZE + LENGTH))

    assert store.scan() == [0, SIZE, SIZE + LENGTH]
    assert store.log.end == SIZE + 2 * LENGTH


def test_a_full_last_file_is_followed_by_the_next_one(tmp_path: Path) -> None:
    store = Store(tmp_path, full(record(0)))

    assert (store.scan(), store.log.end) == ([0], SIZE)


def test_a_spare_file_of_zeros_is_removed(tmp_path: Path) -> None:
    store = Store(tmp_path, record(0), b"")

    assert (store.scan(), store.log.starts()) == ([0], [0])
    assert store.names() == [name_of(0)]


@pytest.mark.parametrize("kept", range(1, LENGTH))
def test_a_part_of_the_last_message_is_none(tmp_path: Path, kept: int) -> None:
    store = Store(tmp_path, record(0) + record(LENGTH)[:kept])

    assert (store.scan(), store.log.end) == ([0], LENGTH)
    assert store.disk.read(name_of(0), LENGTH, SIZE) == bytes(SIZE - LENGTH)
    assert store.names() == [name_of(0)]


def test_messages_behind_the_end_are_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    data = damage(record(0)) + record(LENGTH) + record(2 * LENGTH)

    Store(tmp_path, data, b"no message").scan()

    assert [record.message for record in caplog.records] == [
        f"{name_of(0)}: 2 messages behind the end at 0 are in no queue, "
        f"they are put aside into cut/{0:020d}",
        f"{name_of(SIZE)} is behind the end of the log, "
        f"it is put aside into cut/{SIZE:020d} with 0 messages",
    ]


def test_messages_after_damage_are_saved_apart(tmp_path: Path) -> None:
    cut = damage(record(LENGTH)) + record(2 * LENGTH)
    store = Store(tmp_path, record(0) + cut, b"no message")

    assert (store.scan(), store.log.end, store.log.starts()) == ([0], LENGTH, [0])
    assert store.names() == [name_of(0), f"cut/{LENGTH:020d}", f"cut/{SIZE:020d}"]
    assert (tmp_path / f"cut/{LENGTH:020d}").read_bytes() == cut
    assert store.disk.read(name_of(0), LENGTH, SIZE) == bytes(SIZE - LENGTH)


@pytest.mark.parametrize("follows", [True, False], ids=["messages", "nothing"])
def test_damage_in_an_earlier_file_does_not_end_the_log(tmp_path: Path, follows: bool) -> None:
    damaged = damage(record(LENGTH))
    following = record(2 * LENGTH) if follows else b""
    store = Store(tmp_path, full(record(0) + damaged + following), record(SIZE))
    expected = [0, 2 * LENGTH, SIZE] if follows else [0, SIZE]

    assert (store.scan(), store.log.end) == (expected, SIZE + LENGTH)
    assert (tmp_path / f"cut/{LENGTH:020d}").read_bytes()[:LENGTH] == damaged
    entries = scan(store.disk, LogFiles(store.disk, SIZE, [0, SIZE]))
    messages = [entry.parts for entry in entries if not entry.parts.sys_flag]
    assert [parts.physical_offset for parts in messages] == expected


def test_a_message_of_another_place_is_none(tmp_path: Path) -> None:
    store = Store(tmp_path, record(0) + record(7))

    assert store.scan() == [0]


def test_bytes_of_any_length_are_read_without_an_error() -> None:
    data = memoryview(record(0))
    for length in range(len(data)):
        assert entry_at(data[:length], 0, 0) is None
    assert entry_at(memoryview(b"\xff" * 200), 0, 0) is None
