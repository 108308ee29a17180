"""``checkpoint``, as real brokers wrote it."""

import pytest

from rocketwire.errors import DecodeError
from rocketwire.store.checkpoint import FILE_SIZE, Checkpoint, decode_checkpoint, encode_checkpoint
from tests.peers.peers import CURRENT
from tests.support.stores import BrokerStore


def test_the_newest_message_is_in_the_checkpoint_of_an_orderly_stop(store: BrokerStore) -> None:
    data = (store.root / "checkpoint").read_bytes()

    checkpoint = decode_checkpoint(data)

    newest = max(message.store_timestamp for message in store.truth.pulled)
    assert max(checkpoint.physical_timestamp, checkpoint.queue_timestamp) == newest
    assert (checkpoint.queue_physical_offset > 0) == (store.truth.release == CURRENT)
    assert encode_checkpoint(checkpoint) == data
    assert len(data) == FILE_SIZE


def test_recovery_begins_three_seconds_before_the_older_time() -> None:
    assert Checkpoint(10_000, 9_000, 0, 0, 0, 0).min_timestamp == 6_000
    assert Checkpoint(10_000, 0, 0, 0, 0, 0).min_timestamp == 0


def test_a_short_file_is_refused() -> None:
    with pytest.raises(DecodeError, match="47 bytes"):
        decode_checkpoint(bytes(47))
