"""A commit log is read to its end, whatever stands between its messages."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from rocketwire.store import commit_log
from rocketwire.store.commit_log import walk
from rocketwire.store.folder import read_folder
from rocketwire.wire.message.host import Host
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from rocketwire_tools.store.engine.blocks import FileBlocks
from rocketwire_tools.store.engine.scan import SEARCH_EFFORT, LogScan, RegionKind, State
from tests.support.stores import BrokerStore, damage


def scan_of(root: Path, block_size: int = 8 << 20) -> tuple[dict[int, State], LogScan]:
    """Physical offset → state of each message, and the scan."""
    scan = LogScan(files=read_folder([root]).commit_log, block_size=block_size)
    messages: dict[int, State] = {}
    for block in scan:
        for position in block.messages.positions.tolist():
            assert block.base + position not in messages
            messages[block.base + position] = block.state
    return messages, scan


def offsets_of(store: BrokerStore) -> dict[int, int]:
    """Physical offset → size of each message that the broker answers."""
    return {message.physical_offset: message.size for message in store.truth.pulled}


def files_of(store: BrokerStore) -> Sequence[Path]:
    return sorted((store.root / "commitlog").iterdir())


def write(store: BrokerStore, offset: int, data: bytes) -> None:
    """Overwrite bytes of the log."""
    size = files_of(store)[0].stat().st_size
    damage.put(store.root / "commitlog" / f"{offset - offset % size:020d}", offset % size, data)


def zero_two_files(root: Path) -> None:
    for path in damage.log_files(root)[1:3]:
        path.write_bytes(bytes(path.stat().st_size))


@pytest.mark.parametrize("block_size", [8 << 20, 70_000, 1000, 64])
def test_every_message_is_live_in_a_whole_log(intact: BrokerStore, block_size: int) -> None:
    messages, scan = scan_of(intact.root, block_size)

    assert messages == dict.fromkeys(offsets_of(intact), State.LIVE)
    assert not any(region.is_damage for region in scan.regions)
    assert [region.kind for region in scan.regions][-1] is RegionKind.END


def test_bytes_after_a_blank_are_no_part_of_the_log(store: BrokerStore) -> None:
    file = files_of(store)[0]
    data = file.read_bytes()
    positions, end = walk(data, 0, len(data))
    size = positions[1] - positions[0]
    write(store, int(file.name) + end + 8, data[: min(size, len(data) - end - 8)])

    messages, _ = scan_of(store.root)

    assert messages == dict.fromkeys(offsets_of(store), State.LIVE)


def test_scan_can_begin_and_end_at_offsets(intact: BrokerStore) -> None:
    offsets = sorted(offsets_of(intact))
    files = read_folder([intact.root]).commit_log

    scan = LogScan(files=files, start=offsets[10], stop=offsets[20])

    assert [
        block.base + position for block in scan for position in block.messages.positions.tolist()
    ] == offsets[10:20]


def test_any_number_of_false_messages_costs_a_bounded_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the heads names a message that reaches to the end of the file, with a wrong checksum."""
    size, step = 1 << 20, 128
    host = Host(bytes([127, 0, 0, 1]), 10911)
    data = bytearray(size)
    for position in range(step, size - 4096, step):
        length = size - position
        message = StoredMessage(
            topic="orders", body=b"x", commit_log_offset=position, born_host=host, store_host=host
        )
        head = bytearray(encode_stored_message(message)[:88])
        head[:4] = length.to_bytes(4, "big")
        head[8:12] = (1).to_bytes(4, "big")
        head[84:] = (length - 97).to_bytes(4, "big")
        data[position : position + 88] = head
    data[-9:] = b"\x06orders\0\0"
    (tmp_path / ("0" * 20)).write_bytes(data)

    checked: list[int] = []
    is_message = commit_log.is_message

    def count(data: bytes | memoryview, position: int, base: int) -> bool:
        parts = commit_log.message_parts(data, position)
        assert parts is not None
        checked.append(parts.size)
        return is_message(data, position, base)

    monkeypatch.setattr(commit_log, "is_message", count)
    messages, scan = scan_of(tmp_path)

    assert messages == {}
    assert scan.regions[-1].end == size
    assert size < sum(checked) <= SEARCH_EFFORT * size


def test_message_beyond_the_limit_is_passed_over(intact: BrokerStore) -> None:
    sizes = offsets_of(intact)
    files = read_folder([intact.root]).commit_log
    scan = LogScan(files=files, max_message_size=50_000, block_size=10_000)

    offsets = [block.base + place for block in scan for place in block.messages.positions.tolist()]

    assert offsets == [offset for offset in sorted(sizes) if sizes[offset] <= 50_000]
    assert any("is larger than 50000" in region.reason for region in scan.regions)


def test_messages_that_a_broker_writes_during_a_search_are_read(
    store: BrokerStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, last = sorted(offsets_of(store))[-2:]
    end = last + offsets_of(store)[last]
    size = files_of(store)[0].stat().st_size
    path = store.root / "commitlog" / f"{first - first % size:020d}"
    data = path.read_bytes()[first % size : end - path.stat().st_size * (first // size)]
    write(store, first, bytes(end - first))
    search = LogScan._next_message  # pyright: ignore[reportPrivateUsage] - calls are counted

    def next_message(scan: LogScan, blocks: FileBlocks, position: int) -> int | None:
        write(store, first, data)
        return search(scan, blocks, position)

    monkeypatch.setattr(LogScan, "_next_message", next_message)

    messages, scan = scan_of(store.root)

    assert messages == dict.fromkeys(offsets_of(store), State.LIVE)
    assert not any(region.is_damage for region in scan.regions)


@pytest.mark.parametrize(
    "damaged", [damage.zero_middle_file, damage.zero_tail_of_middle_file, zero_two_files]
)
def test_zeros_at_the_end_of_a_file_are_a_hole_before_later_messages(
    damaged: Callable[[Path], None], store: BrokerStore
) -> None:
    sizes = offsets_of(store)
    damaged(store.root)
    contents = {path.name: path.read_bytes() for path in files_of(store)}
    length = files_of(store)[0].stat().st_size
    lost = {
        offset
        for offset in sizes
        if not any(contents[f"{offset - offset % length:020d}"][offset % length :][:8])
    }
    assert lost

    messages, scan = scan_of(store.root)

    assert messages == {
        offset: State.LIVE if offset < min(lost) else State.SAVED for offset in sizes.keys() - lost
    }
    holes = [region for region in scan.regions if region.kind is RegionKind.HOLE]
    assert holes[0].start == min(lost)
    assert holes[-1].end > max(lost)
    assert scan.is_damaged


def test_messages_that_a_broker_writes_where_a_file_ended_are_read(
    store: BrokerStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It also begins the next file before that one is read."""
    last_but_one, last = damage.log_files(store.root)[-2:]
    contents = last_but_one.read_bytes(), last.read_bytes()
    damage.zero_tail_of_middle_file(store.root)
    last.write_bytes(bytes(len(contents[1])))
    add = LogScan._add  # pyright: ignore[reportPrivateUsage] - the moment after a file was read

    def add_region(scan: LogScan, kind: RegionKind, *arguments: Any) -> None:
        add(scan, kind, *arguments)
        if kind is RegionKind.END:
            last_but_one.write_bytes(contents[0])
            last.write_bytes(contents[1])

    monkeypatch.setattr(LogScan, "_add", add_region)

    messages, scan = scan_of(store.root)

    assert messages == dict.fromkeys(offsets_of(store), State.LIVE)
    assert not scan.is_damaged


def test_missing_file_after_another_one_is_an_error(store: BrokerStore) -> None:
    files = read_folder([store.root]).commit_log
    files[1].path.unlink()

    with pytest.raises(FileNotFoundError):
        list(LogScan(files=files))
