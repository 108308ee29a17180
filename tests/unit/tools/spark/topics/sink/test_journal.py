"""Decisions of a streaming query, in its checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire_tools.spark.option_values import OptionError
from rocketwire_tools.spark.topics.sink.journal import FOLDER, Journal

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("pyarrow", reason="pyarrow is not installed")


def test_a_decision_is_there_for_the_next_driver(tmp_path: Path) -> None:
    Journal(str(tmp_path)).decide(3, [b"a", b"b"])
    later = Journal(str(tmp_path))

    assert later.decision(3) == [b"a", b"b"]
    assert not later.is_done(3)
    assert later.decision(4) is None


def test_a_decision_that_is_carried_out_replaces_earlier_ones(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path))
    for batch in (3, 4):
        journal.decide(batch, [])
        journal.finish(batch)

    assert journal.is_done(4)
    assert journal.decision(3) is None
    assert sorted(path.name for path in (tmp_path / FOLDER).iterdir()) == ["4.decided", "4.done"]


@pytest.mark.parametrize("prefix", ["file:", "file://"])
def test_a_checkpoint_may_be_a_uri(tmp_path: Path, prefix: str) -> None:
    Journal(f"{prefix}{tmp_path}").decide(1, [b"x"])

    assert Journal(str(tmp_path)).decision(1) == [b"x"]


def test_a_part_of_a_file_is_no_decision(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path))
    (tmp_path / FOLDER / "1.decided.part").write_bytes(b"\x93")

    assert journal.decision(1) is None


def test_a_location_that_cannot_be_opened_is_refused() -> None:
    with pytest.raises(OptionError, match=r"'checkpointLocation': dbfs:/x: .* pyarrow\.fs opens"):
        Journal("dbfs:/x")
