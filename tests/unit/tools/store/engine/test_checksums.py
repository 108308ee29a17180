"""Checksums of a broker's messages."""

from zlib import crc32

import numpy as np

from rocketwire_tools.store.engine.checksums import body_crcs
from rocketwire_tools.store.engine.columns import Messages


def test_short_and_long_bodies_of_equal_and_unequal_sizes_have_their_own_checksums() -> None:
    sizes = [*[0] * 90, *[100] * 90, *range(90, 110), *[512] * 90, *[513] * 90, 2000, 70_000]
    bodies = [bytes([number % 256]) * size for number, size in enumerate(sizes * 2)]
    data, positions = b"", list[int]()
    for body in bodies:
        positions.append(len(data))
        data += bytes(84) + len(body).to_bytes(4, "big") + body + bytes(3)
    messages = Messages(np.frombuffer(data, np.uint8), np.array(positions, np.int64))

    assert body_crcs(messages).tolist() == [crc32(body) for body in bodies]
    assert not len(body_crcs(messages.choose(np.zeros(len(bodies), np.bool_))))
