"""Packets as text: what is written is read back, and a reader of the diff can tell the fields."""

from __future__ import annotations

import pytest

from tests.support import golden
from tests.support.hex_text import frame_text, parse
from tests.support.raw_call import frame


@pytest.mark.parametrize("vector", golden.vectors()[::10], ids=lambda vector: vector.id)
def test_a_packet_is_read_back_from_its_text(vector: golden.Vector) -> None:
    assert parse(frame_text(vector.data, "a title")) == vector.data


def test_the_text_names_the_parts_of_a_frame() -> None:
    lines = frame_text(frame(106, body=b"the body"), "a title").splitlines()

    assert lines[0] == "# a title"
    assert lines[2] == "00  # header type: JSON"
    assert lines[-2:] == ["# body, 8 bytes", f"{b'the body'.hex()}  # the body"]
