"""What ``diff`` does not compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire_tools.store.comparing.uncompared import uncompared_parts
from rocketwire_tools.store.opened import OpenedStore
from tests.support.java.peers import CURRENT
from tests.support.stores.fixtures import unpack

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.stores import BrokerStore


def test_all_parts_of_a_store_in_files_are_compared(plain: BrokerStore) -> None:
    store = OpenedStore([plain.root])

    assert list(uncompared_parts(store, store)) == []


def test_popped_messages_in_rocksdb_are_named_with_the_store_that_has_them(
    packed_store: Callable[[str, str], BrokerStore],
) -> None:
    pytest.importorskip("rocksdict")
    pops, plain = (OpenedStore([packed_store(CURRENT, kind).root]) for kind in ("popkv", "plain"))

    assert list(uncompared_parts(pops, plain)) == ["popped messages in RocksDB: A has some"]
    assert list(uncompared_parts(pops, pops)) == ["popped messages in RocksDB: A and B have some"]


def test_a_rocksdb_that_cannot_be_opened_is_named_with_the_reason(tmp_path: Path) -> None:
    pytest.importorskip("rocksdict")
    root = unpack(CURRENT, "rocksdb", tmp_path).root
    (root / "consumequeue" / "CURRENT").write_bytes(b"")
    store, other = OpenedStore([root]), OpenedStore([root])
    assert store.rocks_queues is None

    assert list(uncompared_parts(store, other)) == ["consumequeue of A: CURRENT names no manifest"]
