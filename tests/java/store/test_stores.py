"""Stores of real brokers agree with what producers were told and what live brokers answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.java.peers import OLD, RELEASES
from tests.support.stores import checks

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.stores import BrokerStore


@pytest.fixture(params=RELEASES)
def plain(
    request: pytest.FixtureRequest, store_of: Callable[[str, str], BrokerStore]
) -> BrokerStore:
    return store_of(request.param, "plain")


def test_every_message_of_a_plain_store_is_pulled_as_it_was_sent(plain: BrokerStore) -> None:
    truth = plain.truth

    assert len(truth.sent) == len(truth.pulled)
    assert list(checks.wrong_sends(truth)) == []
    assert list(checks.wrong_queues(truth)) == []


def test_every_key_and_id_of_a_plain_store_is_answered(plain: BrokerStore) -> None:
    assert list(checks.wrong_lookups(plain.truth)) == []


def test_the_files_of_a_plain_store_hold_what_was_pulled_and_have_rolled(
    plain: BrokerStore,
) -> None:
    assert list(checks.wrong_bytes(plain)) == []
    for folder in ("commitlog", "consumequeue/ledger/0", "index"):
        assert len(list((plain.root / folder).iterdir())) > 1, folder
    assert not (plain.root / "abort").exists()


@pytest.fixture(params=RELEASES)
def killed(
    request: pytest.FixtureRequest, store_of: Callable[[str, str], BrokerStore]
) -> BrokerStore:
    return store_of(request.param, "killed")


def test_a_restarted_broker_serves_every_message_that_the_killed_one_acknowledged(
    killed: BrokerStore,
) -> None:
    truth = killed.truth

    assert len(truth.sent) == len(truth.pulled)
    assert list(checks.wrong_sends(truth)) == []
    assert list(checks.wrong_queues(truth)) == []
    assert list(checks.wrong_lookups(truth)) == []


def test_a_killed_store_has_all_messages_in_its_log_and_the_last_ones_in_no_queue(
    killed: BrokerStore,
) -> None:
    entries = sum(checks.queue_entries(killed.root))

    assert list(checks.wrong_bytes(killed)) == []
    assert (killed.root / "abort").exists()
    assert killed.truth.notes["not_queued"] == 101
    assert entries == len(killed.truth.sent) - 101


@pytest.fixture(params=RELEASES)
def features(
    request: pytest.FixtureRequest, store_of: Callable[[str, str], BrokerStore]
) -> BrokerStore:
    return store_of(request.param, "features")


def test_delayed_and_half_messages_are_first_in_topics_of_the_broker(
    features: BrokerStore,
) -> None:
    assert list(checks.wrong_bytes(features)) == []
    assert list(checks.wrong_sends(features.truth)) == []
    assert list(checks.wrong_queues(features.truth)) == []
    assert list(checks.wrong_lookups(features.truth)) == []


def test_delivered_and_committed_messages_are_also_in_their_own_topic_and_no_others(
    features: BrokerStore,
) -> None:
    truth = features.truth
    ends = ("delivered", "commit")
    wanted = sorted(one.unique_key for one in truth.sent if one.outcome in ends)
    delivered = sorted(
        message.properties["UNIQ_KEY"]
        for message in truth.pulled
        if message.topic in {"later", "transfers"}
    )

    assert len(wanted) == 5 + 5
    assert delivered == wanted


def test_groups_have_retries_and_dead_letters_and_lag(features: BrokerStore) -> None:
    truth = features.truth
    pending = truth.queue("SCHEDULE_TOPIC_XXXX", 15).messages  # also two messages of ``later``

    assert len(truth.queue("%DLQ%workers", 0).messages) == 2
    assert len(truth.queue("%RETRY%workers", 0).messages) == 2
    assert sum(one.properties["REAL_TOPIC"] == "%RETRY%workers" for one in pending) == 2
    assert truth.consumer_offsets["work@workers"] == {0: 5, 1: 5}
    assert [truth.queue("work", queue_id).max_offset for queue_id in (0, 1)] == [9, 8]


def test_messages_of_a_deleted_topic_stay_in_the_log_and_4_9_keeps_their_queue_too(
    features: BrokerStore,
) -> None:
    gone = [one for one in features.truth.sent if one.topic in features.truth.deleted_topics]
    has_queue = (features.root / "consumequeue" / "gone").exists()

    assert [features.truth.by_id[one.offset_msg_id] for one in gone].count("") == 0
    assert has_queue is (features.truth.release == OLD)
    assert len(gone) == 5
