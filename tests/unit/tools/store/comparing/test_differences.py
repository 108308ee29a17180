"""Places that a comparison names."""

from __future__ import annotations

from rocketwire_tools.store.comparing.differences import Place


def test_a_place_is_a_file_and_a_byte_in_it() -> None:
    assert str(Place("index/20260131080000000", 540)) == "index/20260131080000000:540"
    assert str(Place("config/topics.json")) == "config/topics.json"
