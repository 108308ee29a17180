"""Streams without an object have all their rows."""

from pathlib import Path

import pytest

from rocketwire_tools.pcap.decode.decoder import Decoder, Options
from rocketwire_tools.pcap.streams.stream_table import StreamTable
from tests.peers.foreign.files import save
from tests.peers.foreign.rows import NONE, differences
from tests.peers.foreign.tcp import ACK, FIN, SYN
from tests.support.captures.decoded_rows import rows
from tests.support.captures.fixtures import Made

FEW_RECORDS = 500


@pytest.fixture
def asleep(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let streams do without an object if possible; the number of these after each chunk."""
    counts: list[int] = []

    class CountingTable(StreamTable):
        def drop_objects(self) -> None:
            self._enough = 0
            super().drop_objects()
            counts.append(len(self) - len(list(self.objects)))

    monkeypatch.setattr("rocketwire_tools.pcap.streams.flows.StreamTable", CountingTable)
    monkeypatch.setattr("rocketwire_tools.pcap.files.reader.MAX_RECORDS", FEW_RECORDS)
    return counts


@pytest.mark.parametrize("careful", [False, True])
def test_streams_without_objects_lose_no_row(
    lossy: Made, asleep: list[int], *, careful: bool
) -> None:
    decoded = rows(lossy.path, Options(careful=careful))
    assert NONE == differences(lossy.truth, decoded)
    assert max(asleep) > 0


def test_streams_that_had_ended_are_not_missed(sample: Made, tmp_path: Path) -> None:
    firsts = {packet.source: packet._replace(data=b"", flags=SYN) for packet in sample.packets}
    ended = [
        value._replace(flags=flags, sequence=number)
        for number, flags in enumerate([SYN, FIN | ACK])
        for value in firsts.values()
    ]
    decoder = Decoder(str(save(tmp_path / "ended.pcap", ended)), Options(max_streams=4))
    assert not list(decoder)
    assert decoder.totals.forgotten == 0
