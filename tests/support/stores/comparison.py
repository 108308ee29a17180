"""Rows of the store reader, compared with responses of a live broker."""

from collections.abc import Iterable, Iterator
from typing import Any

from rocketwire_tools.store.engine.filters import Selection
from rocketwire_tools.store.engine.rows import COLUMNS, TopicNames
from rocketwire_tools.store.engine.scan import State
from rocketwire_tools.store.opened import OpenedStore
from rocketwire_tools.store.selecting import select_rows
from tests.support.stores.store import BrokerStore
from tests.support.stores.truth import Pulled, digest

SAME_NAMES = (
    "queue_offset",
    "physical_offset",
    "size",
    "topic",
    "queue_id",
    "flag",
    "sys_flag",
    "born_timestamp",
    "born_host",
    "store_timestamp",
    "store_host",
    "reconsume_times",
    "prepared_transaction_offset",
    "properties",
)
COLUMN_NAMES = {"physical_offset": "commit_log_offset", "size": "store_size"}


def rows_of(store: OpenedStore) -> Iterator[dict[str, Any]]:
    topics = TopicNames()
    for scan in store.scans():
        selection = Selection(with_system=True)
        for rows in select_rows(scan, selection, topics, is_folded=True):
            columns = {name: list(rows.column(name)) for name in COLUMNS}
            columns["stored_body"] = list(rows.stored_bodies)
            columns["data"] = [
                bytes(rows.block.view[position : position + size])
                for position, size in zip(
                    rows.messages.positions.tolist(), rows.messages.sizes.tolist(), strict=True
                )
            ]
            for row in range(len(rows)):
                yield {name: values[row] for name, values in columns.items()}


def wrong_messages(store: BrokerStore) -> Iterator[str]:
    rows: dict[int, dict[str, Any]] = {}
    for row in rows_of(OpenedStore([store.root])):
        if row["state"] != State.LIVE or not row["crc_ok"]:
            yield f"{row['commit_log_offset']}: state {row['state']}, checksum {row['crc_ok']}"
        rows[int(row["commit_log_offset"])] = row
    yield from _wrong_pulls(store.truth.pulled, rows)
    yield from _wrong_sends(store, rows)


def _wrong_pulls(messages: Iterable[Pulled], rows: dict[int, dict[str, Any]]) -> Iterator[str]:
    for message in messages:
        row = rows.get(message.physical_offset)
        if row is None:
            yield f"{message.physical_offset}: not read"
            continue
        for name in SAME_NAMES:
            value = row[COLUMN_NAMES.get(name, name)]
            if value != getattr(message, name):
                yield f"{message.physical_offset}: {name} {value!r}"
        if digest(row["data"]) != message.digest:
            yield f"{message.physical_offset}: other bytes"
        if digest(row["stored_body"]) != message.body_digest:
            yield f"{message.physical_offset}: another body"


def _wrong_sends(store: BrokerStore, rows: dict[int, dict[str, Any]]) -> Iterator[str]:
    for sent in store.truth.sent:
        if sent.how in ("half", "delayed", "timer", "inner"):
            continue
        row = rows.get(int(sent.offset_msg_id[-16:], 16))
        if row is None:
            yield f"{sent.offset_msg_id}: not read"
        elif digest(row["body"] or b"") != sent.body_digest:
            yield f"{sent.offset_msg_id}: another body after decompression"
        elif row["offset_msg_id"] != sent.offset_msg_id:
            yield f"{sent.offset_msg_id}: has the id {row['offset_msg_id']}"
