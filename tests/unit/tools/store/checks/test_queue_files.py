"""Files of a broker's queues as units."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.store.consume_queue import UNIT_SIZE
from rocketwire.store.folder import read_folder
from rocketwire_tools.store.checks.queue_files import UNIT, QueueFiles

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.stores import BrokerStore


def queues_of(store: BrokerStore) -> dict[tuple[str, int], QueueFiles]:
    folder = read_folder([store.root])
    return {name: QueueFiles(files, UNIT) for name, files in folder.queues.items()}


def test_units_are_those_of_the_messages_that_the_broker_answered(plain: BrokerStore) -> None:
    queues = queues_of(plain)

    for message in plain.truth.pulled:
        files = queues[message.topic, message.queue_id]
        view = memoryview(bytearray(UNIT_SIZE))
        unit = files.read(message.queue_offset, 1)[0]
        assert files.read_into(message.queue_offset, view)
        assert bytes(view) == unit.tobytes()
        assert (unit["physical_offset"], unit["size"]) == (message.physical_offset, message.size)


def test_units_that_no_file_has_are_not_read(plain: BrokerStore) -> None:
    for files in queues_of(plain).values():
        first, end = files.files[0].offset // UNIT_SIZE, files.files[-1].end // UNIT_SIZE
        view = memoryview(bytearray(2 * UNIT_SIZE))

        assert not files.read_into(end - 1, view)
        assert not files.read_into(first - 1, view)
        assert not files.read_into(-3, view)
        assert not files.read(end, 2)["size"].any()


def test_units_of_two_files_are_read_piece_by_piece_only(plain: BrokerStore) -> None:
    files = next(files for files in queues_of(plain).values() if len(files.files) > 1)
    border = files.files[1].offset // UNIT_SIZE

    assert not files.read_into(border - 1, memoryview(bytearray(2 * UNIT_SIZE)))
    assert files.read(border - 1, 2)["size"].all()


def test_a_file_with_holes_has_the_units_of_one_without(plain: BrokerStore, tmp_path: Path) -> None:
    files = next(files for files in queues_of(plain).values())
    data = files.files[0].path.read_bytes()[: 100 * UNIT_SIZE]
    pieces = {0: data, 70_000: data, 300_000: data}
    for name, is_sparse in (("sparse", True), ("full", False)):
        path = tmp_path / name / "consumequeue" / "topic" / "0" / f"{0:020}"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"" if is_sparse else bytes(400_000))
        with path.open("r+b") as stream:
            for position, piece in pieces.items():
                stream.seek(position)
                stream.write(piece)
            stream.truncate(400_000)

    units = [
        {
            first + number: unit.tobytes()
            for _, first, units in QueueFiles(folder.queues["topic", 0], UNIT).runs()
            for number, unit in enumerate(units)
            if any(unit.tobytes())
        }
        for folder in (read_folder([tmp_path / name]) for name in ("sparse", "full"))
    ]

    assert units[0] == units[1]
    assert len(units[0]) >= 3 * sum(any(data[at : at + 20]) for at in range(0, len(data), 20))
