"""Columns with a dictionary hold the texts of those without one."""

from pathlib import Path

import pytest

from rocketwire_tools.store.engine.arrow import pa
from rocketwire_tools.store.engine.rows import FEW_TEXTS, Rows, TopicNames
from rocketwire_tools.store.formats import arrow_rows
from rocketwire_tools.store.formats.arrow_rows import record_batch
from rocketwire_tools.store.opened import OpenedStore
from tests.peers.peers import CURRENT
from tests.support.stores.fixtures import unpack


@pytest.mark.parametrize("maximum", [0, 1, 64])
def test_texts_are_the_same_with_dictionaries_of_any_size(
    maximum: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_rows, "_MAX_ENCODED", maximum)
    (scan,) = OpenedStore([unpack(CURRENT, "features", tmp_path).root]).scans()
    scan.block_size = 1 << 20
    topics, names = TopicNames(), list(FEW_TEXTS)
    for block in scan:
        rows = Rows(block, topics)
        batch = record_batch(rows, names, has_dictionaries=True)

        assert all(pa.types.is_dictionary(field.type) for field in batch.schema)
        texts = record_batch(rows, names)
        assert batch.cast(texts.schema).equals(texts)
