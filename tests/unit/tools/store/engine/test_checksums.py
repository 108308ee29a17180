"""Checksums of a broker's messages."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from rocketwire.store.commit_log import CRC_MASK
from rocketwire.store.folder import read_folder
from rocketwire_tools.store.engine.checksums import body_crcs
from rocketwire_tools.store.engine.columns import Messages
from rocketwire_tools.store.engine.scan import LogScan

if TYPE_CHECKING:
    from tests.support.stores import BrokerStore


def test_bodies_of_a_broker_have_the_checksums_that_their_messages_name(plain: BrokerStore) -> None:
    count = 0
    for block in LogScan(files=read_folder([plain.root]).commit_log):
        crcs = body_crcs(block.messages) & CRC_MASK
        count += int((crcs == block.messages.numbers("body_crc") & CRC_MASK).sum())

    assert count == len(plain.truth.pulled)


def test_one_byte_of_a_body_changes_its_checksum_and_no_other(plain: BrokerStore) -> None:
    block = next(iter(LogScan(files=read_folder([plain.root]).commit_log)))
    messages = block.messages
    row = int(np.argmax(messages.body_sizes))
    data = messages.data.copy()
    data[messages.bodies[row] + messages.body_sizes[row] - 1] ^= 1

    before, after = body_crcs(messages), body_crcs(Messages(data, messages.positions))

    assert np.flatnonzero(before != after).tolist() == [row]


def test_short_and_long_bodies_of_equal_and_unequal_sizes_have_their_own_checksums() -> None:
    sizes = [*[0] * 90, *[100] * 90, *range(90, 110), *[512] * 90, *[513] * 90, 2000, 70_000]
    bodies = [bytes([number % 256]) * size for number, size in enumerate(sizes * 2)]
    data, positions = b"", list[int]()
    for body in bodies:
        positions.append(len(data))
        data += bytes(84) + len(body).to_bytes(4, "big") + body + bytes(3)
    messages = Messages(np.frombuffer(data, np.uint8), np.array(positions, np.int64))

    assert body_crcs(messages).tolist() == [crc32(body) for body in bodies]
    assert not len(body_crcs(messages.chosen(np.zeros(len(bodies), np.bool_))))
