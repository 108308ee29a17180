"""Stores with damage at random places: each verb lists exactly the undamaged messages, and ends."""

import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rocketwire.messages import message_const
from rocketwire.policy.resource_names import HALF_TOPICS, OP_TOPICS, SCHEDULE_TOPIC
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from tests.support.file_programs import call_store
from tests.support.stores.fixtures import PACKED, unpack
from tests.support.stores.hostile import HostileStore


@pytest.mark.parametrize(("release", "kind"), PACKED)
def test_damage_invents_and_hides_no_message(release: str, kind: str, tmp_path: Path) -> None:
    """One case of each store; ``python -m tests.fuzz.damaged_stores`` runs hundreds."""
    store = unpack(release, kind, tmp_path / "store")
    hostile = HostileStore(store.root)
    assert {message.physical_offset for message in store.truth.pulled} <= hostile.lines.keys()

    damage, faults = hostile.damage(f"{release} {kind}")

    assert not faults, damage


DIGITS = "9" * 5000
"""More than Python converts."""


def hostile_messages(text: str) -> Iterator[StoredMessage]:
    """Whole messages with a text where brokers and clients put numbers."""
    properties = {
        message_const.INNER_MULTI_DISPATCH: "%LMQ%a,%LMQ%b",
        message_const.INNER_MULTI_QUEUE_OFFSET: f"{text},{text}",
        message_const.INNER_NUM: text,
        message_const.INNER_BASE: text,
        message_const.REAL_QUEUE_ID: text,
        message_const.TRANSACTION_CHECK_TIMES: text,
        message_const.TIMER_OUT_MS: text,
        message_const.DELAY: text,
    }
    for topic in ("T", SCHEDULE_TOPIC, *HALF_TOPICS, *OP_TOPICS, "rmq_sys_wheel_timer"):
        for sys_flag in (0, 0xC0):
            for part in (0, 4):  # all of them are more than a message can have
                yield StoredMessage(
                    topic=topic,
                    body=text.encode(),
                    properties=dict([*properties.items()][part : part + 4]),
                    sys_flag=sys_flag,
                )


@pytest.mark.parametrize("text", [DIGITS, "-1", "abc", "\u00b2", "\u0663", "1" * 18])
def test_texts_where_numbers_belong_end_no_verb(text: str, tmp_path: Path) -> None:
    log = tmp_path / "store" / "commitlog"
    log.mkdir(parents=True)
    data, crc = b"", zlib.crc32(text.encode()) & 0x7FFFFFFF
    for message in hostile_messages(text):
        stored = replace(message, commit_log_offset=len(data), body_crc=crc)
        data += encode_stored_message(stored)
    (log / f"{0:020}").write_bytes(data.ljust(1 << 20, b"\0"))
    queue = tmp_path / "store" / "consumequeue" / "T" / DIGITS[:100]
    queue.mkdir(parents=True)
    (queue / f"{0:020}").write_bytes(bytes(20))

    for arguments in (
        ("info",),
        ("stat", "--by", "queue", "--system"),
        ("messages", "--system", "--json"),
        ("check", "--json"),
        ("pending", "--json"),
        ("export", "--system", "--format", "jsonl"),
        ("get", "--at", "%LMQ%a:0:7"),
        ("rebuild", tmp_path / "new"),
    ):
        status, _, errors = call_store(*arguments, tmp_path / "store")
        assert status in (0, 1), (arguments, errors)
