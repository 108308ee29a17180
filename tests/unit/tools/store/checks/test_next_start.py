"""The place where a broker would cut the log; tests/java/store compares it with a broker's."""

from pathlib import Path

import pytest

from tests.peers.peers import CURRENT, OLD
from tests.support.stores import BrokerStore, damage
from tests.support.stores.checked import checked
from tests.support.stores.fixtures import unpack


@pytest.mark.parametrize("name", ["flip_body", "flip_size", "zero_page", "kill_and_zero_page"])
def test_messages_after_damage_are_given_up(name: str, store: BrokerStore) -> None:
    damage.DAMAGE[name](store.root)

    check = checked(store.root)

    places = [finding.physical_offset for finding in check.findings.kept if finding.is_damage]
    start = check.start
    assert start is not None
    assert start.cut == min(place for place in places if place is not None)
    first_place = check.findings.kept[0].physical_offset or 0
    offsets = [message.physical_offset for message in store.truth.pulled]
    assert 0 < start.messages <= sum(offset >= first_place for offset in offsets)
    assert start.is_clean is not name.startswith("kill")


def test_broker_that_ended_in_order_does_not_read_older_files(store: BrokerStore) -> None:
    damage.flip_early_body(store.root)

    clean = checked(store.root).start
    damage.kill_and_zero_checkpoint(store.root)
    killed = checked(store.root).start

    assert clean is not None
    assert killed is not None
    assert clean.messages == 0
    assert killed.messages > 39


@pytest.mark.parametrize("release", [CURRENT, OLD])
def test_killed_broker_reads_from_the_file_of_its_checkpoint(release: str, tmp_path: Path) -> None:
    root = unpack(release, "killed", tmp_path).root
    damage.flip_early_body(root)

    start = checked(root).start

    assert start is not None
    assert not start.is_clean
    assert "left the file abort" in start.lines()[0]


def test_end_of_a_torn_log_gives_up_nothing(store: BrokerStore) -> None:
    damage.tear_last_message(store.root)

    start = checked(store.root).start

    assert start is not None
    assert start.messages == 0
