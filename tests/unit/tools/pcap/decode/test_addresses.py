"""Numbers of addresses."""

import pytest

from rocketwire_tools.pcap.decode.decoder import Decoder, Options
from rocketwire_tools.pcap.packets import packets
from tests.peers.foreign.rows import NONE, differences
from tests.support.captures.decoded_rows import rows
from tests.support.captures.fixtures import Made


def test_forgetting_addresses_changes_no_row(sample: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packets, "MAX_ADDRESSES", 1)
    small = Options(chunk_size=1)
    assert NONE == differences(sample.truth, rows(sample.path, small))
    decoder = Decoder(str(sample.path), small)
    numbers = {number for batch in decoder.rows() for number in (batch.source >> 16).tolist()}
    assert len({number for number in numbers if number >> 32}) > 1
