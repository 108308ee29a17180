"""Java's start on stores with random damage is what was predicted: ``make mutations`` does thousands.

``ROCKETWIRE_MUTATIONS`` is the number of damaged stores of each release, ``ROCKETWIRE_SEED`` a text
that makes other ones.
"""

from __future__ import annotations

import os
import shutil
from random import Random
from typing import TYPE_CHECKING, Final

import pytest

from tests.support.java.peers import CURRENT, RELEASES
from tests.support.stores import copy_store, damage
from tests.support.stores.fixtures import PACKED, unpack
from tests.support.stores.mutations import Original, mutate_often
from tests.support.stores.starts import JavaStarts, differences
from tests.support.stores.store import KINDS, folder_of, open_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.support.stores import BrokerStore

MUTATIONS: Final = int(os.environ.get("ROCKETWIRE_MUTATIONS", "8"))
SEED: Final = os.environ.get("ROCKETWIRE_SEED", "starts")
MOST: Final = 3
"""Damages of a store."""

STORED: Final = ("plain", "killed", "inner", "lmq", "crc", "ipv6", "slave")
"""Kinds of stores in which nothing is due after a start."""

IN_ROCKSDB: Final = ("rocksdb", "rockskilled")

FOLDERS: Final = ("commitlog", "consumequeue", "batchconsumequeue", "checkpoint", "index", "abort")
LOG_FOLDERS: Final = ("commitlog", "checkpoint", "abort")


def stores(
    release: str, folder: Path, store_of: Callable[[str, str], BrokerStore]
) -> Iterator[tuple[str, BrokerStore]]:
    """Kind and store of a release: those that are packed, and those that were made."""
    for kind in (*STORED, *IN_ROCKSDB):
        if (release, kind) in PACKED:
            yield kind, unpack(release, kind, folder / kind)
        elif kind == STORED[0] or (release in KINDS[kind] and folder_of(release, kind).exists()):
            copy_store(store_of(release, kind).root.parent, folder / kind)
            yield kind, open_folder(folder / kind)


@pytest.mark.parametrize("release", RELEASES)
def test_java_keeps_of_a_store_with_random_damage_what_was_predicted(
    release: str, tmp_path: Path, store_of: Callable[[str, str], BrokerStore]
) -> None:
    pytest.importorskip("rocksdict")
    present = list(stores(release, tmp_path / "stores", store_of))
    originals = [Original(store.root) for _, store in present]
    faults: list[str] = []

    with JavaStarts(tmp_path, release) as java:
        for number in range(MUTATIONS):
            seed = f"{SEED} {release} {number}"
            chance = Random(seed)
            (kind, store), original = (
                present[number % len(present)],
                originals[number % len(present)],
            )
            original.foreign = originals[(number + 1) % len(present)]
            folders = LOG_FOLDERS if kind in IN_ROCKSDB else FOLDERS
            damage = mutate_often(original, chance, chance.randint(1, MOST), folders)
            if chance.random() < 0.2:
                (store.root / "abort").touch()
            copy = tmp_path / f"copy-{number}"
            _, found = differences(java, store.root, release, copy, dict(store.truth.settings))
            faults += [f"{seed}, {kind}, {damage.name} {damage.files}: {fault}" for fault in found]
            original.restore([*damage.files, "abort"])
            shutil.rmtree(copy)

    assert not faults, "\n".join(faults)


def test_damage_makes_characters_of_topics_that_separate_names_elsewhere(tmp_path: Path) -> None:
    store = unpack(CURRENT, "plain", tmp_path / "store")
    shutil.rmtree(store.root / "consumequeue")
    (store.root / "abort").touch()
    messages = damage.places(damage.log_files(store.root)[-1])
    for place, character in zip(messages, b"/\t\n ;%+", strict=False):
        damage.put(place.file, place.body + place.body_size + 1, bytes([character]))

    with JavaStarts(tmp_path, CURRENT) as java:
        recovery, found = differences(
            java, store.root, CURRENT, tmp_path / "copy", dict(store.truth.settings)
        )

    assert not found
    assert {topic[0] for topic, _ in recovery.queues} >= set("/\t\n ;%+")
