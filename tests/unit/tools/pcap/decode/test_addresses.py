"""Numbers of addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rocketwire_tools.pcap.decode.decoder import Decoder, Options
from rocketwire_tools.pcap.packets import packets
from rocketwire_tools.pcap.packets.packets import Addresses
from tests.support.captures.decoded_rows import expected, frames, rows

if TYPE_CHECKING:
    import pytest

    from tests.support.captures.fixtures import Made


def many(*numbers: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    text = b"".join(number.to_bytes(16, "big") for number in numbers)
    return np.frombuffer(text, np.uint8).reshape(-1, 16)


def test_an_ipv6_address_keeps_its_number_while_it_is_kept() -> None:
    addresses = Addresses()
    one, two, again = addresses.numbers(many(1, 2, 1)).tolist()
    assert one == again != two
    addresses.keep({two})
    assert addresses.numbers(many(2)).tolist() == [two]
    assert addresses.packed(two) == bytes(15) + b"\x02"
    assert addresses.numbers(many(1)).tolist()[0] not in (one, two)


def test_forgetting_addresses_changes_no_row(usual: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packets, "MOST_ADDRESSES", 1)
    small = Options(chunk_size=1)
    assert expected(usual.truth) == frames(rows(usual.path, small))
    decoder = Decoder(str(usual.path), small)
    numbers = {number for batch in decoder.rows() for number in (batch.source >> 16).tolist()}
    assert len({number for number in numbers if number >> 32}) > 1
