"""Index files: a hash table of the keys of messages.

A file has a head, slots and entries.  It does not say how many slots and entries it has room for;
``geometries`` lists what its length allows, and ``fits`` tests a guess: the entry of any slot has a
hash that belongs to that slot.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from rocketwire.errors import DecodeError
from rocketwire.policy.java_strings import string_hash
from rocketwire.store import layouts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Read: TypeAlias = "Callable[[int, int], bytes | memoryview]"
"""Returns bytes of a file: position, size; fewer at the end of the file."""

HEADER_SIZE: Final = 40
SLOT_SIZE: Final = 4
ENTRY_SIZE: Final = 20

DEFAULT_SLOTS: Final = 5_000_000
"""Java: ``MessageStoreConfig.maxHashSlotNum``."""
DEFAULT_ENTRIES: Final = 20_000_000
"""Java: ``MessageStoreConfig.maxIndexNum``."""

_HEADER: Final = Struct(layouts.format_of(layouts.INDEX_HEADER))
_ENTRY: Final = Struct(layouts.format_of(layouts.INDEX_ENTRY))
_SMALLEST_INT32: Final = -(1 << 31)


class IndexHeader(NamedTuple):
    begin_timestamp: int  #: store timestamp of the first entry's message, milliseconds since 1970
    end_timestamp: int  #: of the last entry's message
    begin_physical_offset: int  #: of the first entry's message
    end_physical_offset: int  #: of the last entry's message
    slot_count: int  #: slots in use
    entry_count: int  #: entries plus one; 0 in a file that was just created


class IndexEntry(NamedTuple):
    key_hash: int  #: hash of ``topic#key``, not negative
    physical_offset: int  #: of the message in the commit log
    seconds: int  #: from the head's first timestamp to the message's
    previous: int  #: number of the entry before it in the same slot; 0 for none


class Geometry(NamedTuple):
    slots: int
    entries: int

    @property
    def file_size(self) -> int:
        return HEADER_SIZE + SLOT_SIZE * self.slots + ENTRY_SIZE * self.entries


DEFAULT_GEOMETRY: Final = Geometry(DEFAULT_SLOTS, DEFAULT_ENTRIES)


def key_hash(topic: str, key: str) -> int:
    """The hash of a key of a topic (Java: ``IndexFile.indexKeyHashMethod``)."""
    number = string_hash(f"{topic}#{key}")
    return 0 if number == _SMALLEST_INT32 else abs(number)


def decode_index_header(data: bytes | memoryview) -> IndexHeader:
    """The head of an index file.

    Raises:
        DecodeError: the file is shorter than a head.
    """
    if len(data) < HEADER_SIZE:
        raise DecodeError(f"an index file has {HEADER_SIZE} bytes at least, this one {len(data)}")
    return IndexHeader._make(_HEADER.unpack_from(data))


def encode_index_header(header: IndexHeader) -> bytes:
    """A head as ``IndexHeader.updateByteBuffer`` writes it."""
    return _HEADER.pack(*header)


def encode_index_entry(entry: IndexEntry) -> bytes:
    """An entry as ``IndexFile.putKey`` writes it."""
    return _ENTRY.pack(*entry)


def geometries(file_size: int) -> Iterator[Geometry]:
    """What a file of this length may have room for, most likely first.

    The defaults come first, then four entries for each slot, which is the ratio of the defaults,
    then each round number of slots.
    """
    rest = file_size - HEADER_SIZE
    if rest < SLOT_SIZE + ENTRY_SIZE or rest % SLOT_SIZE:
        return
    if file_size == DEFAULT_GEOMETRY.file_size:
        yield DEFAULT_GEOMETRY
    quarter, remainder = divmod(rest, SLOT_SIZE + 4 * ENTRY_SIZE)
    if not remainder:
        yield Geometry(quarter, 4 * quarter)
    words = rest // SLOT_SIZE  # slots + 5 x entries
    for slots in range(words % 5 or 5, words - 4, 5):
        yield Geometry(slots, (words - slots) // 5)


def decode_index_entry(data: bytes | memoryview) -> IndexEntry:
    """An entry of its own bytes.

    Raises:
        DecodeError: there are fewer bytes than an entry has.
    """
    if len(data) < ENTRY_SIZE:
        raise DecodeError(f"an entry of an index has {ENTRY_SIZE} bytes, {len(data)} are left")
    return IndexEntry._make(_ENTRY.unpack_from(data))


def reader_of(data: bytes | memoryview) -> Read:
    return lambda position, size: data[position : position + size]


def slot_entry(read: Read, slot: int) -> int:
    return int.from_bytes(read(HEADER_SIZE + SLOT_SIZE * slot, SLOT_SIZE), "big", signed=True)


def entry_at(read: Read, geometry: Geometry, entry_number: int) -> IndexEntry:
    position = HEADER_SIZE + SLOT_SIZE * geometry.slots + ENTRY_SIZE * entry_number
    return decode_index_entry(read(position, ENTRY_SIZE))


def fits(data: bytes | memoryview, geometry: Geometry, *, probes: int = 64) -> bool:
    """Whether the entries of the file agree with a guess of its geometry.

    Args:
        data: the file.
        geometry: the guess.
        probes: entries that are compared at most.
    """
    read = reader_of(data)
    header = decode_index_header(data)
    if header.entry_count > geometry.entries or geometry.file_size > len(data):
        return False
    for index in range(1, min(header.entry_count, probes + 1)):
        entry = entry_at(read, geometry, index)
        if entry.key_hash < 0 or not 0 <= entry.previous < index:
            return False
        newest = slot_entry(read, entry.key_hash % geometry.slots)
        if not index <= newest < header.entry_count:
            return False
        if entry_at(read, geometry, newest).key_hash % geometry.slots != (
            entry.key_hash % geometry.slots
        ):
            return False
    return True


def lookup(read: Read, geometry: Geometry, hash_value: int) -> Iterator[IndexEntry]:
    """Entries with the hash ``hash_value``, newest first; equal hashes do not prove equal keys.

    Args:
        read: returns bytes of the file: position, size.
        geometry: of the file.
        hash_value: from ``key_hash``.

    Raises:
        DecodeError: the file ends before an entry does.
    """
    header = decode_index_header(read(0, HEADER_SIZE))
    entry_number = slot_entry(read, hash_value % geometry.slots)
    while 0 < entry_number < min(header.entry_count, geometry.entries):
        entry = entry_at(read, geometry, entry_number)
        if entry.key_hash == hash_value:
            yield entry
        if entry.previous >= entry_number:  # a loop: damage
            return
        entry_number = entry.previous
