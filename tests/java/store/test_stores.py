"""Stores of real brokers agree with what producers were told and what live brokers answered."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import TypeAlias

import pytest

from tests.support.java.peers import OLD, RELEASES
from tests.support.stores import BrokerStore, checks
from tests.support.stores.store import KINDS, SINCE_5

StoreOf: TypeAlias = Callable[[str, str], BrokerStore]

MAGIC_V2 = 0xDAA320AB
ALL = [(release, kind) for kind, releases in KINDS.items() for release in releases]
LIKE_PLAIN = ("plain", "killed", "crc", "ext", "rocksdb", "ipv6", "slave")
"""Kinds whose messages are all in the queues that they were sent to."""

every_release = pytest.mark.parametrize("release", RELEASES)
since_5 = pytest.mark.parametrize("release", SINCE_5)


@pytest.mark.parametrize(("release", "kind"), ALL)
def test_every_id_that_a_producer_was_told_finds_a_message_with_its_bytes(
    release: str, kind: str, store_of: StoreOf
) -> None:
    store = store_of(release, kind)
    log = {one.physical_offset: one.digest for one in store.truth.pulled}
    places = {one.offset_msg_id: int(one.offset_msg_id[-16:], 16) for one in store.truth.sent}
    other = [
        name
        for name, digest in store.truth.by_id.items()
        if not digest or log.get(places[name], digest) != digest
    ]

    assert other == []
    assert len(store.truth.by_id) == len(set(places.values()))


@pytest.mark.parametrize(("release", "kind"), ALL)
def test_the_commit_log_holds_the_bytes_of_every_pulled_message(
    release: str, kind: str, store_of: StoreOf
) -> None:
    assert list(checks.wrong_bytes(store_of(release, kind))) == []


@pytest.mark.parametrize(("release", "kind"), [one for one in ALL if one[1] in LIKE_PLAIN])
def test_every_message_is_pulled_as_it_was_sent_and_found_by_its_keys(
    release: str, kind: str, store_of: StoreOf
) -> None:
    truth = store_of(release, kind).truth

    assert len(truth.sent) == len(truth.pulled)
    assert list(checks.wrong_sends(truth)) == []
    assert list(checks.wrong_queues(truth)) == []
    assert list(checks.wrong_lookups(truth)) == []


@every_release
def test_the_files_of_a_plain_store_have_rolled(release: str, store_of: StoreOf) -> None:
    root = store_of(release, "plain").root

    for folder in ("commitlog", "consumequeue/ledger/0", "index"):
        assert len(list((root / folder).iterdir())) > 1, folder
    assert not (root / "abort").exists()


@every_release
def test_the_last_messages_of_a_killed_store_are_in_no_queue(
    release: str, store_of: StoreOf
) -> None:
    store = store_of(release, "killed")
    entries = sum(checks.queue_entries(store.root))

    assert (store.root / "abort").exists()
    assert store.truth.notes["not_queued"] == 101
    assert entries == len(store.truth.sent) - 101


@every_release
def test_delayed_and_half_messages_are_first_in_topics_of_the_broker(
    release: str, store_of: StoreOf
) -> None:
    truth = store_of(release, "features").truth

    assert list(checks.wrong_sends(truth)) == []
    assert list(checks.wrong_queues(truth)) == []
    assert list(checks.wrong_lookups(truth)) == []


@every_release
def test_only_delivered_and_committed_messages_are_also_in_their_own_topic(
    release: str, store_of: StoreOf
) -> None:
    truth = store_of(release, "features").truth
    ends = ("delivered", "commit")
    wanted = sorted(one.unique_key for one in truth.sent if one.outcome in ends)
    delivered = sorted(
        message.properties["UNIQ_KEY"]
        for message in truth.pulled
        if message.topic in {"later", "transfers"}
    )

    assert len(wanted) == 5 + 5
    assert delivered == wanted


@every_release
def test_groups_have_retries_and_dead_letters_and_lag(release: str, store_of: StoreOf) -> None:
    truth = store_of(release, "features").truth
    pending = truth.queue("SCHEDULE_TOPIC_XXXX", 15).messages  # also two messages of ``later``

    assert len(truth.queue("%DLQ%workers", 0).messages) == 2
    assert len(truth.queue("%RETRY%workers", 0).messages) == 2
    assert sum(one.properties["REAL_TOPIC"] == "%RETRY%workers" for one in pending) == 2
    assert truth.consumer_offsets["work@workers"] == {0: 5, 1: 5}
    assert [truth.queue("work", queue_id).max_offset for queue_id in (0, 1)] == [9, 8]


@every_release
def test_messages_of_a_deleted_topic_stay_in_the_log_and_4_9_keeps_their_queue_too(
    release: str, store_of: StoreOf
) -> None:
    store = store_of(release, "features")
    gone = [one for one in store.truth.sent if one.topic in store.truth.deleted_topics]
    has_queue = (store.root / "consumequeue" / "gone").exists()

    assert [store.truth.by_id[one.offset_msg_id] for one in gone].count("") == 0
    assert has_queue is (release == OLD)
    assert len(gone) == 5


@since_5
def test_timers_are_first_in_the_wheel_topic_and_the_due_ones_in_their_own(
    release: str, store_of: StoreOf
) -> None:
    store = store_of(release, "timers")
    truth = store.truth
    delivered = {one.unique_key for one in truth.sent if one.outcome == "delivered"}
    alarms = [one for one in truth.pulled if one.topic == "alarms"]

    assert list(checks.wrong_sends(truth)) == []
    assert list(checks.wrong_queues(truth)) == []
    assert {one.properties["UNIQ_KEY"] for one in alarms} == delivered
    assert len(alarms) == len(delivered) == 9
    assert sum(truth.notes["timing_count"].values()) == 45  # neither delivered nor recalled
    assert len(list((store.root / "timerlog").iterdir())) > 1


@since_5
def test_popped_messages_come_back_in_retry_topics_one_of_them_in_the_second_layout(
    release: str, store_of: StoreOf
) -> None:
    truth = store_of(release, "pop").truth
    revived = [one for one in truth.pulled if one.topic.startswith("%RETRY%")]
    layouts = {one.magic == MAGIC_V2 for one in revived if len(one.topic) > 127}

    assert list(checks.wrong_sends(truth)) == []
    assert list(checks.wrong_queues(truth)) == []
    assert len(revived) == 3 + 4
    assert layouts == {True}
    assert len(truth.notes["hidden"]) == 5


@since_5
def test_pops_in_rocksdb_leave_the_revive_log_empty(release: str, store_of: StoreOf) -> None:
    store = store_of(release, "popkv")
    topics = {one.topic for one in store.truth.pulled}

    assert list(checks.wrong_sends(store.truth)) == []
    assert (store.root / "kvStore" / "CURRENT").exists()
    assert "rmq_sys_REVIVE_LOG_DefaultCluster" not in topics


@since_5
def test_a_batch_stays_one_message_with_an_entry_in_a_queue_of_batches(
    release: str, store_of: StoreOf
) -> None:
    truth = store_of(release, "inner").truth
    outer = [one for one in truth.pulled if one.sys_flag & 0xC0 == 0xC0]
    inside = sum(int(one.properties["INNER_NUM"]) for one in outer)

    assert inside == sum(one.how == "inner" for one in truth.sent)
    assert inside + len(truth.pulled) - len(outer) == len(truth.sent)
    for queue in truth.queues:
        places = [one.physical_offset for one in queue.messages]
        assert [one.physical_offset for one in queue.units] == places


@since_5
def test_lmqs_hold_the_messages_that_name_them_in_order(release: str, store_of: StoreOf) -> None:
    truth = store_of(release, "lmq").truth
    parents = {(one.topic, one.queue_id) for one in truth.pulled}

    assert parents == {("parent", 0), ("parent", 1)}
    for name, wanted in truth.notes["lmq"].items():
        messages = truth.queue(name, 0).messages
        assert [one.properties["UNIQ_KEY"] for one in messages] == wanted
    assert set(truth.notes["lmq_offsets"].values()) == {4}


@since_5
def test_a_crc_property_covers_all_bytes_before_it(release: str, store_of: StoreOf) -> None:
    store = store_of(release, "crc")
    for message in store.truth.pulled:
        data = checks.commit_log_bytes(store.root, message.physical_offset, message.size)
        digits = f"{zlib.crc32(data[:-20]) & 0x7FFFFFFF:010}"[::-1]
        assert message.properties["__CRC32#"] == digits


@every_release
def test_hosts_of_ipv6_are_in_every_message_and_some_are_born_over_ipv4(
    release: str, store_of: StoreOf
) -> None:
    truth = store_of(release, "ipv6").truth
    born = [one.sys_flag & 0x10 for one in truth.pulled]

    assert all(one.sys_flag & 0x20 for one in truth.pulled)
    assert born.count(0) == truth.notes["over_ipv4"]
    assert {len(one.offset_msg_id) for one in truth.sent} == {56}


@every_release
def test_a_slave_has_its_master_s_bytes_from_the_file_on_in_which_it_began(
    release: str, store_of: StoreOf
) -> None:
    store = store_of(release, "slave")
    slave = store.slave
    assert slave is not None
    on_both = [one for one in store.truth.sent if one in slave.truth.sent]

    assert list(checks.wrong_bytes(slave)) == []
    assert list(checks.wrong_sends(slave.truth)) == []
    assert list(checks.wrong_queues(slave.truth)) == []
    assert on_both == list(slave.truth.sent)
    assert 0 < len(on_both) < len(store.truth.sent) - 11
    assert {one.digest for one in slave.truth.pulled} < {one.digest for one in store.truth.pulled}
