"""The pending work of a broker is read from its store alone."""

import contextlib
import shutil
from collections import Counter
from typing import Any

import pytest
import rocksdict

from tests.peers.peers import CURRENT, OLD
from tests.support.file_programs import run_store
from tests.support.stores import BrokerStore
from tests.support.stores.fixtures import OpenStore


def list_pending(store: BrokerStore, what: str) -> list[dict[str, Any]]:
    """The pending work of one kind."""
    lines = run_store("pending", "--json", store.root).lines
    return [line for line in lines if line["what"] == what]


@pytest.mark.parametrize("release", [CURRENT, OLD])
def test_lag_delays_and_transactions_equal_the_broker(release: str, open_store: OpenStore) -> None:
    store = open_store(release, "features")
    truth = store.truth

    expected = [sent for sent in truth.sent if sent.outcome == "pending"]
    delayed = [line for line in list_pending(store, "delayed") if line["topic"] == "later"]
    assert {line["msg_id"] for line in delayed} == {sent.unique_key for sent in expected}
    assert {line["commit_log_offset"] for line in delayed} == {
        int(sent.offset_msg_id[-16:], 16) for sent in expected
    }

    open_ids = {line["msg_id"] for line in list_pending(store, "transaction")}
    assert open_ids == {sent.unique_key for sent in truth.sent if sent.outcome == "open"}

    ends = {(queue.topic, queue.queue_id): queue.max_offset for queue in truth.queues}
    lags = list_pending(store, "lag")
    for line in lags:
        offset = truth.consumer_offsets[f"{line['topic']}@{line['group']}"][line["queue_id"]]
        end = ends[line["topic"], line["queue_id"]]
        assert (line["offset"], line["max_offset"], line["lag"]) == (offset, end, end - offset)
    assert {line["group"] for line in lags} == {"workers"}


def test_timed_messages_are_those_that_the_broker_counts(open_store: OpenStore) -> None:
    truth = open_store(CURRENT, "timers").truth

    timed = list_pending(open_store(CURRENT, "timers"), "timer")

    assert Counter(line["topic"] for line in timed) == truth.notes["timing_count"]
    assert {line["msg_id"] for line in timed} == {
        sent.unique_key for sent in truth.sent if sent.outcome == "pending"
    }


@pytest.mark.parametrize("kind", ["pop", "popkv"])
def test_unacknowledged_pops_are_hidden_by_the_broker(kind: str, open_store: OpenStore) -> None:
    truth = open_store(CURRENT, kind).truth

    popped = list_pending(open_store(CURRENT, kind), "pop")

    places = [f"{line['topic']}/{line['queue_id']}/{line['offset']}" for line in popped]
    hidden = truth.notes["hidden"] + truth.notes["hidden_longer"]
    revive = "rmq_sys_REVIVE_LOG_DefaultCluster@CID_RMQ_SYS_REVIVE_GROUP"
    revived = [] if kind == "popkv" else [f"tasks/0/{offset}" for offset in range(10, 14)]
    if kind == "pop":  # the broker had not yet stored its progress after reviving
        assert truth.consumer_offsets[revive] == {0: 0, 1: 0}
        revived += [f"{'t' * 100}/0/{offset}" for offset in range(3)]
    assert sorted(places) == sorted(hidden + revived)
    times = {line["due"] - line["popped"] for line in popped if line["offset"] in range(5, 7)}
    assert times == {290_000, 291_000}


@pytest.mark.parametrize(
    ("family", "what"), [("timer", "timed messages"), ("trans", "transactions")]
)
def test_unread_work_in_a_rocksdb_is_named(family: str, what: str, store: BrokerStore) -> None:
    """Brokers with ``timerRocksDBEnable`` or ``transRocksDBEnable`` keep them there."""
    path = store.root / "rocksdbstore"
    shutil.rmtree(path, ignore_errors=True)
    options = rocksdict.Options(raw_mode=True)
    with contextlib.closing(rocksdict.Rdict(str(path), options)) as database:
        column_family = database.create_column_family(family, rocksdict.Options(raw_mode=True))
        column_family[bytes(8) + b"UNIQ"] = bytes(12)
        column_family.close()

    error = run_store("pending", store.root).err

    assert f"rocksdbstore has {what} in RocksDB, which are not read here\n" in error
