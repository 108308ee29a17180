"""Pictures of counted bytes."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from rocketwire_tools.store import plotting


def test_the_largest_groups_are_bars_and_the_others_one_bar() -> None:
    sizes = [(f"topic-{number:02d}", 100 - number) for number in range(33)]

    bars = plotting.bars_of("topic", sizes)

    assert bars[0] == ("topic-00", 100)
    assert len(bars) == 31
    assert bars[-1] == ("3 others", 70 + 69 + 68)


def test_sizes_and_hours_keep_their_order() -> None:
    assert plotting.bars_of("size", [("16", 1), ("2", 5)]) == [("2", 5), ("16", 1)]
    assert plotting.bars_of("hour", [("b", 1), ("a", 0)]) == [("a", 0), ("b", 1)]


def test_a_long_name_is_cut_and_a_dollar_is_no_formula() -> None:
    ((name, _), (other, _)) = plotting.bars_of("topic", [("x" * 60, 2), ("$a$", 1)])

    assert (len(name), other) == (40, r"\$a\$")


def no_module(_name: str) -> None:
    return None


@pytest.mark.slow
@pytest.mark.parametrize("by", ["topic", "size"])
@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_a_picture_is_drawn(by: str, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"picture{suffix}"

    plotting.require(path)
    plotting.draw(path, by, [("1", 20), ("2", 10)])
    plotting.draw(path, by, [])

    assert path.stat().st_size > 500


def test_a_picture_that_cannot_be_drawn_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"must end in \.png or \.svg"):
        plotting.require(Path("picture.pdf"))
    monkeypatch.setattr(importlib.util, "find_spec", no_module)
    with pytest.raises(ValueError, match="needs matplotlib"):
        plotting.require(Path("picture.png"))


def test_only_the_last_hours_are_drawn() -> None:
    hours = [(f"{number:05d}", 1) for number in range(1_500)]

    bars = plotting.bars_of("hour", reversed(hours))

    assert bars == hours[500:]
