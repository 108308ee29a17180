"""Settings of two stores."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from rocketwire_tools.store.comparing.settings import config_differences
from rocketwire_tools.store.opened import OpenedStore
from tests.support.java.peers import CURRENT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.stores import BrokerStore


def test_offsets_of_groups_topics_and_settings_are_compared_without_versions(
    copy: BrokerStore, tmp_path: Path
) -> None:
    original = tmp_path / "original"
    shutil.copytree(copy.root, original)
    config = copy.root / "config"
    offsets = (config / "consumerOffset.json").read_text()
    (config / "consumerOffset.json").write_text(
        offsets.replace('"counter":', '"counter":9').replace("0:1,", "0:8,", 1)
    )
    (config / "topics.json").unlink()
    (config / "topics.json.bak").unlink(missing_ok=True)

    differences = list(config_differences(OpenedStore([original]), OpenedStore([copy.root])))

    offset, topics = differences
    assert offset.name.startswith("consumerOffset.json: offsetTable.")
    assert (offset.a, offset.b, offset.rule) == (1, 8, "the settings differ")
    assert topics.rule == "only A has this file"
    assert topics.name == "topics.json"


def test_settings_in_rocksdb_are_compared(
    packed_store: Callable[[str, str], BrokerStore],
) -> None:
    """Those of another broker are in files."""
    pytest.importorskip("rocksdict")
    a, b = (OpenedStore([packed_store(CURRENT, kind).root]) for kind in ("rocksdb", "plain"))

    assert list(config_differences(a, a)) == []
    rules = {
        difference.rule
        for difference in config_differences(a, b)
        if difference.name.startswith(("topics.json", "consumerOffset.json"))
    }
    assert "only B has this file" not in rules
