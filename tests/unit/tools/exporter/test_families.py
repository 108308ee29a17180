"""The families of metrics: their names and texts."""

from __future__ import annotations

import re
from pathlib import Path

from rocketwire_tools.exporter.families import FAMILIES

GUIDE = Path(__file__).parents[4] / "docs" / "guide" / "exporter.md"


def test_every_family_has_a_valid_name_and_a_sentence() -> None:
    for name, family in FAMILIES.items():
        assert re.fullmatch("rocketmq_[a-z0-9_]+", name)
        assert family.text.endswith("."), name


def test_the_guide_has_every_family() -> None:
    listed = set(re.findall("`(rocketmq_[a-z0-9_]+)`", GUIDE.read_text("utf-8")))

    assert set(FAMILIES) - listed == set()
