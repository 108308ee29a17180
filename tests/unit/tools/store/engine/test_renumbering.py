"""Messages of DLedger move together in a plain log, and nothing but their physical offset changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rocketwire.store import commit_log
from rocketwire.store.folder import StoreFile
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from rocketwire_tools.store.engine.columns import Messages
from rocketwire_tools.store.engine.renumbering import renumbered
from rocketwire_tools.store.engine.scan import Block, State

HEAD = b"\xab" * 48
CHECKSUM = "__CRC32#"


def block_of(messages: list[bytes]) -> Block:
    """Messages with the head of an entry before each."""
    data = bytearray()
    positions: list[int] = []
    for message in messages:
        data += HEAD
        positions.append(len(data))
        data += message
    view = memoryview(data)
    columns = Messages(np.frombuffer(view, np.uint8), np.array(positions, np.int64))
    file = StoreFile(root=Path(), offset=0, size=len(data), name="data")
    return Block(file, 0, columns, view, State.LIVE)


def moved(messages: list[bytes], offset: int, file_size: int) -> dict[int, bytes]:
    """Offset in the new log → bytes."""
    block = block_of(messages)
    return {
        part.base + position: bytes(part.view[position : position + size])
        for part, _ in renumbered(block, block.messages, offset, file_size)
        for position, size in zip(
            part.messages.positions.tolist(), part.messages.sizes.tolist(), strict=True
        )
    }


def message(number: int, offset: int, properties: dict[str, str] | None = None) -> bytes:
    stored = StoredMessage(
        topic="orders",
        body=b"%d" % number,
        queue_offset=number,
        commit_log_offset=offset,
        properties=properties,
    )
    return encode_stored_message(stored)


def test_each_message_names_its_new_place() -> None:
    old = [message(number, 48 + number * 200) for number in range(3)]
    size = len(old[0])

    assert moved(old, 1000, 1 << 20) == {
        1000 + number * size: message(number, 1000 + number * size) for number in range(3)
    }


def test_a_message_that_does_not_fit_begins_the_next_file_as_in_java() -> None:
    old = [message(number, 0) for number in range(5)]
    size = len(old[0])
    file_size = 2 * size + commit_log.BLANK_SIZE

    block = block_of(old)
    parts = list(renumbered(block, block.messages, 0, file_size))

    assert [(part.base, end, len(part.messages)) for part, end in parts] == [
        (0, 0, 2),
        (file_size, 2 * size, 2),
        (2 * file_size, file_size + 2 * size, 1),
    ]
    for part, _ in parts:
        assert part.messages.are_sound(part.base).all()


def test_a_message_that_is_larger_than_a_file_is_an_error() -> None:
    old = [message(1, 0)]

    with pytest.raises(ValueError, match="too many for a file"):
        moved(old, 0, len(old[0]))


def test_the_checksum_over_the_whole_message_is_renewed() -> None:
    plain = message(7, 0, properties={"KEYS": "k"})
    room = commit_log.CRC_PROPERTY_SIZE
    size = len(plain) + room
    head = size.to_bytes(4, "big") + plain[4:]
    at = len(plain) - len("KEYS\x01k\x02") - 2
    length = int.from_bytes(plain[at : at + 2], "big") + room
    head = head[:at] + length.to_bytes(2, "big") + head[at + 2 :]
    checked = head + f"{CHECKSUM}\x01{0:010}\x02".encode()
    _, checksum = commit_log.message_crc(checked, 0, size) or (0, 0)
    checked = head + f"{CHECKSUM}\x01{f'{checksum:010}'[::-1]}\x02".encode()

    (new,) = moved([checked], 5000, 1 << 20).values()

    assert new != checked
    stored, calculated = commit_log.message_crc(new, 0, size) or (0, 1)
    assert stored == calculated
