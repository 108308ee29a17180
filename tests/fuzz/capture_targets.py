"""Fuzz targets of captures: any bytes give rows or a ``CaptureError``."""

import io
from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np

from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.files.inputs import RawSource
from rocketwire_tools.pcap.files.reader import CaptureReader
from rocketwire_tools.pcap.packets.packets import Addresses, segments
from rocketwire_tools.pcap.rows.batches import BatchBuilder, FileNames
from rocketwire_tools.pcap.rows.pairing import Pairing
from rocketwire_tools.pcap.rows.rows import COLUMNS, frames_to_rows
from rocketwire_tools.pcap.streams.flows import ChunkFrames, Flows
from tests.peers.foreign.captures import capture
from tests.peers.foreign.files import ETHERNET, NULL, RAW, SLL2, Writer
from tests.peers.foreign.tcp import Packet
from tests.support.captures.fixtures import LOSSY


class _Memory(io.RawIOBase):
    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]  # two buffers of many
        return self._data.readinto(buffer)


def read_capture(data: bytes) -> None:
    addresses, skipped, flows = Addresses(), Counter[str](), Flows(bodies=True, max_streams=100)
    builder = BatchBuilder(FileNames("fuzz"), (*COLUMNS, "ext_fields"), addresses, Pairing())
    reader = CaptureReader("fuzz", RawSource(_Memory(data)))
    try:
        for records in reader:
            assert len(np.unique(records.file_offset)) == len(records.file_offset)
            for rows in frames_to_rows(flows.feed(records, segments(records, addresses, skipped))):
                assert len(rows) == sum(
                    batch.num_rows for batch in (*builder.add(rows), *builder.rest())
                )
    except CaptureError:
        return
    for rows in frames_to_rows(ChunkFrames(frames=flows.finish())):
        assert len(rows) == sum(batch.num_rows for batch in (*builder.add(rows), *builder.rest()))


@cache
def _packets() -> list[Packet]:
    profile = replace(LOSSY, connections=3, frames=30, body_log=3.5, batch=1)
    return capture(profile, 4).packets[:40]


def seed_capture(*, pcapng: bool) -> list[bytes]:
    seeds: list[bytes] = []
    for order in "<>":
        for link in (ETHERNET, NULL, RAW, SLL2):
            file = io.BytesIO()
            Writer(file, nanoseconds=True, order=order, link=link, pcapng=pcapng).write(_packets())
            seeds.append(file.getvalue())
    return seeds
