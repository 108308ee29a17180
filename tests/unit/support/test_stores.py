"""The stores among the fixtures are whole: their bytes are those of the truth beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.stores import checks, fixtures

if TYPE_CHECKING:
    from pathlib import Path


LIKE_PLAIN = {"plain", "killed", "crc", "ext", "ipv6", "rocksdb"}
"""Kinds whose messages are all pulled as they were sent."""


@pytest.mark.parametrize(("release", "kind"), fixtures.PACKED)
def test_a_packed_store_holds_every_message_that_its_truth_names(
    release: str, kind: str, tmp_path: Path
) -> None:
    store = fixtures.unpack(release, kind, tmp_path)

    assert (store.truth.release, store.truth.kind) == (release, kind)
    assert store.truth.sent
    assert store.truth.pulled
    assert list(checks.wrong_bytes(store)) == []
    if kind in LIKE_PLAIN:
        assert len(store.truth.sent) > 200
        assert list(checks.wrong_sends(store.truth)) == []
        assert list(checks.wrong_lookups(store.truth)) == []
    assert fixtures.packed(release, kind).stat().st_size <= fixtures.MOST_BYTES
