"""A part knows how much a task reads."""

from __future__ import annotations

from dataclasses import replace

from rocketwire_tools.store.queued.parts import LogPart, UnitRange


def test_a_part_of_units_counts_their_bytes_alone() -> None:
    part = LogPart(store="s", files=(), start=1000, stop=5000)
    units = UnitRange(topic="t", queue_id=0, files=(), start=3, stop=10)

    assert part.whole_size == 4000
    assert replace(part, units=(units, units)).whole_size == 280
