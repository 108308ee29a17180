"""What a broker still had to do is read from its store alone."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire_tools.store.__main__ import main
from tests.support.java.peers import CURRENT, OLD

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.stores import BrokerStore


def pending(store: BrokerStore, capsysbinary: pytest.CaptureFixture[bytes]) -> list[dict[str, Any]]:
    assert main(["pending", "--json", str(store.root)]) == 0
    return [json.loads(line) for line in capsysbinary.readouterr().out.splitlines()]


@pytest.mark.parametrize("release", [CURRENT, OLD])
def test_lag_delays_and_open_transactions_are_those_of_the_broker(
    release: str,
    packed_store: Callable[[str, str], BrokerStore],
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    truth = packed_store(release, "features").truth
    lines = pending(packed_store(release, "features"), capsysbinary)

    expected = [sent for sent in truth.sent if sent.outcome == "pending"]
    delayed = [line for line in lines if line["what"] == "delayed" and line["topic"] == "later"]
    assert {line["unique_key"] for line in delayed} == {sent.unique_key for sent in expected}
    assert {line["physical_offset"] for line in delayed} == {
        int(sent.offset_msg_id[-16:], 16) for sent in expected
    }

    still_open = {line["unique_key"] for line in lines if line["what"] == "transaction"}
    assert still_open == {sent.unique_key for sent in truth.sent if sent.outcome == "open"}

    ends = {(queue.topic, queue.queue_id): queue.max_offset for queue in truth.queues}
    lags = [line for line in lines if line["what"] == "lag"]
    for line in lags:
        offset = truth.consumer_offsets[f"{line['topic']}@{line['group']}"][line["queue_id"]]
        end = ends[line["topic"], line["queue_id"]]
        assert (line["offset"], line["max_offset"], line["lag"]) == (offset, end, end - offset)
    assert {line["group"] for line in lags} == {"workers"}


@pytest.mark.parametrize("release", [CURRENT])
def test_timed_messages_are_those_that_the_broker_counts(
    release: str,
    packed_store: Callable[[str, str], BrokerStore],
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    truth = packed_store(release, "timers").truth
    lines = pending(packed_store(release, "timers"), capsysbinary)

    timed = [line for line in lines if line["what"] == "timer"]

    assert Counter(line["topic"] for line in timed) == truth.notes["timing_count"]
    assert {line["unique_key"] for line in timed} == {
        sent.unique_key for sent in truth.sent if sent.outcome == "pending"
    }
