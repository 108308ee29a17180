"""What Java does at its start on a damaged store is what was predicted: Java is started on a copy and asked."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from rocketwire.store.java_records import Release
from tests.support.java.peers import CURRENT, OLD, RELEASES
from tests.support.stores import copy_store
from tests.support.stores.damage import DAMAGE
from tests.support.stores.fixtures import PACKED, unpack
from tests.support.stores.restarts import check_start, prediction_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.java.peers import JavaNameServer
    from tests.support.stores import BrokerStore

REFUSES_5 = frozenset(
    {"add_strange_file", "folder_for_index_file", "shorten_last_file", "shorten_queue_file"}
)
"""Damage with which 5.x does not start; the prediction has to say so too."""

REFUSES: dict[str, frozenset[str]] = {
    OLD: frozenset(
        {
            "add_empty_last_file",
            "add_folder",
            "add_strange_file",
            "folder_for_first_file",
            "folder_for_index_file",
            "shorten_last_file",
            "shorten_queue_file",
        }
    ),
}
"""The same for releases that differ from 5.x."""

HANGS: dict[str, frozenset[str]] = {
    OLD: frozenset({"remove_middle_file_and_queues"}),
}
"""Damage with which the start of a release never ends."""


def cases() -> list[tuple[str, str]]:
    """Release and damage: each damage once, because each starts a broker; all if asked for."""
    if os.environ.get("ROCKETWIRE_STORES") == "all":
        return [(release, damage) for damage in DAMAGE for release in RELEASES]
    return [((CURRENT, OLD)[number % 2], damage) for number, damage in enumerate(DAMAGE)]


@pytest.mark.parametrize(("release", "damage"), cases())
def test_java_serves_of_a_damaged_store_what_was_predicted(
    release: str,
    damage: str,
    tmp_path: Path,
    name_server: JavaNameServer,
    store_of: Callable[[str, str], BrokerStore],
) -> None:
    root = tmp_path / "store"
    if (release, "plain") in PACKED:
        root = unpack(release, "plain", root).root
    else:
        root = copy_store(store_of(release, "plain").root, root)
    DAMAGE[damage](root)

    recovery = check_start(root, release, tmp_path / "broker", name_server)

    assert bool(recovery.refusal) is (damage in REFUSES.get(release, REFUSES_5))
    assert bool(recovery.hang) is (damage in HANGS.get(release, ()))


@pytest.mark.parametrize("release", list(Release))
def test_the_restart_of_a_killed_broker_is_predicted(
    release: Release, store_of: Callable[[str, str], BrokerStore]
) -> None:
    store = store_of(release, "killed")
    recovery, _ = prediction_of(store.root, release)

    for queue in store.truth.queues:
        name = (queue.topic, queue.queue_id)
        if queue.max_offset:
            predicted = recovery.queues[name]
            assert (predicted.min_offset, predicted.max_offset) == (
                queue.min_offset,
                queue.max_offset,
            )
        places = [(one.queue_offset, one.physical_offset) for one in queue.messages]
        assert [unit[:2] for unit in recovery.served(name)] == places
