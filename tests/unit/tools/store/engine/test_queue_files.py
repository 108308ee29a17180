"""Files of a broker's queues as units."""

from pathlib import Path

from rocketwire.store.consume_queue import UNIT_SIZE
from rocketwire.store.folder import read_folder
from rocketwire_tools.store.engine.queues import UNIT, QueueFiles
from tests.support.stores import BrokerStore


def test_file_with_holes_has_the_units_of_one_without(intact: BrokerStore, tmp_path: Path) -> None:
    files = next(iter(read_folder([intact.root]).queues.values()))
    data = files[0].path.read_bytes()[: 100 * UNIT_SIZE]
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
    starts = range(0, len(data), UNIT_SIZE)
    assert len(units[0]) >= 3 * sum(any(data[start : start + UNIT_SIZE]) for start in starts)
