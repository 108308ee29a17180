"""Index files that real brokers wrote."""

from pathlib import Path

import pytest

from rocketwire.errors import DecodeError
from rocketwire.store import index_file
from tests.support.stores import BrokerStore


def geometry_of(store: BrokerStore) -> index_file.Geometry:
    settings = store.truth.settings
    return index_file.Geometry(int(settings["maxHashSlotNum"]), int(settings["maxIndexNum"]))


def files_of(store: BrokerStore) -> list[Path]:
    return sorted((store.root / "index").iterdir())


def test_the_geometry_of_a_file_is_found_from_its_length_and_entries(store: BrokerStore) -> None:
    for path in files_of(store):
        data = path.read_bytes()
        geometries = index_file.geometries(len(data))
        first = next(geometry for geometry in geometries if index_file.fits(data, geometry))
        assert first == geometry_of(store)
        assert first.file_size == len(data)


def test_no_geometry_fits_a_length_that_java_never_writes() -> None:
    assert list(index_file.geometries(40)) == []
    assert list(index_file.geometries(40 + 4 * 10 + 20 * 40 + 1)) == []
    assert index_file.Geometry(2, 1) in index_file.geometries(40 + 8 + 20)


def test_a_short_file_is_refused() -> None:
    with pytest.raises(DecodeError, match="40 bytes at least"):
        index_file.decode_index_header(bytes(39))
    with pytest.raises(DecodeError, match="20 bytes"):
        index_file.decode_index_entry(bytes(19))


def test_a_hash_is_never_negative() -> None:
    assert index_file.key_hash("TopicA", "key") >= 0
    # Java's hash of this text is -2147483648, which has no positive counterpart
    assert index_file.key_hash("polygenelubricants", "") >= 0


def small_file(*entries: index_file.IndexEntry, slots: int = 4, room: int = 8) -> bytes:
    """An index file with these entries, numbered from 1."""
    header = index_file.IndexHeader(0, 0, 0, 0, 0, len(entries) + 1)
    table = [0] * slots
    for number, entry in enumerate(entries, 1):
        if entry.key_hash >= 0:
            table[entry.key_hash % slots] = number
    data = index_file.encode_index_header(header)
    data += b"".join(slot.to_bytes(4, "big") for slot in table) + bytes(20)
    data += b"".join(map(index_file.encode_index_entry, entries))
    return data.ljust(40 + 4 * slots + 20 * room, b"\0")


GEOMETRY = index_file.Geometry(4, 8)
ENTRY = index_file.IndexEntry(5, 100, 0, 0)


def test_an_entry_that_does_not_belong_to_its_slot_refutes_a_geometry() -> None:
    assert index_file.fits(small_file(ENTRY), GEOMETRY)
    assert not index_file.fits(small_file(ENTRY._replace(key_hash=-1)), GEOMETRY)
    assert not index_file.fits(small_file(ENTRY._replace(previous=1)), GEOMETRY)
    assert not index_file.fits(small_file(ENTRY), index_file.Geometry(4, 1))
    assert not index_file.fits(small_file(ENTRY), index_file.Geometry(4, 100))
    data = bytearray(small_file(ENTRY, ENTRY._replace(key_hash=6)))
    data[40 + 4 : 40 + 8] = (2).to_bytes(4, "big")
    assert not index_file.fits(bytes(data), GEOMETRY)
    data[40 + 4 : 40 + 8] = (9).to_bytes(4, "big")
    assert not index_file.fits(bytes(data), GEOMETRY)


def test_a_chain_that_does_not_go_back_ends() -> None:
    loop = ENTRY._replace(previous=2)

    assert look_up(small_file(ENTRY, loop), 5) == [loop]


def look_up(data: bytes, key_hash: int) -> list[index_file.IndexEntry]:
    return list(index_file.lookup(index_file.reader_of(data), GEOMETRY, key_hash))


def test_other_hashes_of_the_same_slot_are_passed_over() -> None:
    data = small_file(ENTRY, ENTRY._replace(key_hash=9, previous=1))

    assert (look_up(data, 5), look_up(data, 2)) == ([ENTRY], [])


def test_a_file_that_ends_before_an_entry_is_refused() -> None:
    with pytest.raises(DecodeError, match="20 bytes"):
        look_up(small_file(ENTRY)[: 40 + 4 * GEOMETRY.slots + 25], 5)
