"""Any bytes are an index file or a ``DecodeError``, and a lookup in it ends."""

from __future__ import annotations

from itertools import islice

from rocketwire.store import index_file
from tests.fuzz import stores


def read(data: bytes) -> None:
    """With each geometry that fits: all slots that are in use."""
    header = index_file.decode_index_header(data)
    assert data.startswith(index_file.encode_index_header(header))
    for geometry in islice(index_file.geometries(len(data)), 50):
        if not index_file.fits(data, geometry):
            continue
        reader = index_file.reader_of(data)
        for number in range(min(geometry.slots, 200)):
            entries = list(index_file.lookup(reader, geometry, number))
            assert len(entries) <= geometry.entries
            assert all(entry.key_hash == number for entry in entries)


def start() -> list[bytes]:
    """Index files of several stores."""
    return stores.seeds("/index/")
