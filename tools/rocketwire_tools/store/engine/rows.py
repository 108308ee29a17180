"""Messages of a block as rows, with the columns that a reader asks for.

A column is calculated only if it is asked for, and once.  Numbers come as numpy arrays, everything
else as lists.  Messages of an inner batch are rows of their own.
"""

from __future__ import annotations

import sys
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from rocketwire.errors import DecodeError
from rocketwire.flags import MessageSysFlag
from rocketwire.messages import message_const
from rocketwire.store.commit_log import CRC_MASK
from rocketwire.wire.java_utf8 import decode_utf8
from rocketwire.wire.layouts.declarations import MAGIC_V1
from rocketwire.wire.message.batch import decode_batch
from rocketwire.wire.message.body_compression import compression_type, decompress_body
from rocketwire.wire.message.host import Host
from rocketwire.wire.message.ids import create_offset_message_id
from rocketwire.wire.message.properties import decode_properties, split_keys
from rocketwire_tools.store.engine.columns import distinct, records
from rocketwire_tools.store.engine.topic_kinds import Kind, kind_of_topic
from rocketwire_tools.values import number_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from rocketwire_tools.store.engine.columns import Bools, Int64s, Messages
    from rocketwire_tools.store.engine.properties import PropertyItems
    from rocketwire_tools.store.engine.scan import Block

    FewTexts = tuple[Sequence[str | None], Int64s]

_HOST_V4: Final = np.dtype([("host", ">u8")])
_MAX_NEW_TOPICS: Final = 32  # topics of one block that are found by comparison of all rows
MAX_BODY: Final = 64 << 20  # limit of one inflated body
COMPRESSED: Final = int(MessageSysFlag.COMPRESSED)
INNER_BATCH: Final = int(MessageSysFlag.INNER_BATCH | MessageSysFlag.NEED_UNWRAP)
PREPARED: Final = int(MessageSysFlag.TRANSACTION_PREPARED)
COMMITTED: Final = int(MessageSysFlag.TRANSACTION_COMMIT)
ROLLED_BACK: Final = int(MessageSysFlag.TRANSACTION_ROLLBACK)
TRANSACTION: Final = ROLLED_BACK  # all bits of the state of a transaction
_STATES: Final = {PREPARED: "prepared", COMMITTED: "committed", ROLLED_BACK: "rolled_back"}
_KIND_NUMBERS: Final = {kind: number for number, kind in enumerate(Kind)}
_KIND_TEXTS: Final = [kind.value for kind in Kind]


class TopicNames:
    """Topics by number: each block of one pass uses the same numbers."""

    def __init__(self) -> None:
        self.names: list[str] = []  # name of each number
        self.kinds: list[Kind] = []  # kind of each number
        self._numbers: dict[bytes, int] = {}

    def numbers(self, messages: Messages) -> Int64s:
        result = np.full(len(messages), -1, np.int64)
        if not len(messages):
            return result
        topics, sizes = messages.topics, messages.topic_sizes
        of_size: dict[int, tuple[Int64s, npt.NDArray[Any]]] = {}
        for _ in range(_MAX_NEW_TOPICS):
            row = int(np.argmin(result))
            if result[row] >= 0:
                return result
            start, size = int(topics[row]), int(sizes[row])
            if size not in of_size:
                rows = np.flatnonzero(sizes == size)
                kind = np.dtype(f"S{max(size, 1)}")
                of_size[size] = rows, records(messages.data, topics[rows], kind)
            rows, texts = of_size[size]
            is_same = (texts == texts[int(np.searchsorted(rows, row))]) | (size == 0)
            number = self.number(messages.data[start : start + size].tobytes())
            result[rows[is_same]] = number
        remaining = np.flatnonzero(result < 0)
        starts, ends = topics[remaining], topics[remaining] + sizes[remaining]
        data = messages.data
        result[remaining] = [
            self.number(data[start:end].tobytes())
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        ]
        return result

    def number(self, name: bytes) -> int:
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = len(self.names)
            topic = sys.intern(text_of(name))  # the queues of the topic have the same text
            self.names.append(topic)
            self.kinds.append(kind_of_topic(topic))
        return number


def text_of(data: bytes) -> str:
    return decode_utf8(data)


class _InnerRow(NamedTuple):
    flag: int
    queue_offset: int
    properties: dict[str, str]
    body: bytes | None
    batch_index: int | None


class Rows:
    def __init__(self, block: Block, topics: TopicNames) -> None:
        self.block = block  # of which they are; valid until the next block is read
        self.topics = topics  # names of topics
        self.messages = block.messages
        self._bodies: list[bytes | None] | None = None
        self._inner: list[_InnerRow] | None = None  # of each row, when batches are unfolded

    def __len__(self) -> int:
        return len(self.messages)

    @property
    def data(self) -> bytes:
        return self.block.data

    def choose(self, rows: Bools | Int64s) -> Rows:
        part = Rows(self.block, self.topics)
        part.messages = self.messages.choose(rows)
        if self._bodies is not None or self._inner is not None:
            indexes = np.arange(len(self))[rows].tolist()
            part._bodies = None if self._bodies is None else [self._bodies[i] for i in indexes]
            part._inner = None if self._inner is None else [self._inner[i] for i in indexes]
        return part

    def with_bodies(self, rows: slice, bodies: list[bytes | None]) -> Rows:
        part = self.choose(np.arange(len(self))[rows])
        part._bodies = bodies
        return part

    def unfold(self) -> Rows:
        is_batch = (self.messages.numbers("sys_flag") & INNER_BATCH) == INNER_BATCH
        if not is_batch.any():
            return self
        sources: list[int] = []
        inner_rows: list[_InnerRow] = []
        flags, offsets = self.flags.tolist(), self.queue_offsets.tolist()
        properties, bodies = self.properties, self.bodies
        for number, batch in enumerate(is_batch.tolist()):
            offset, inner = (
                offsets[number],
                _inner_messages(bodies[number]) if batch else None,
            )
            if inner is None:
                row = _InnerRow(flags[number], offset, properties[number], bodies[number], None)
                inner_rows.append(row)
            for index, message in enumerate(inner or ()):
                values, body = dict(message.properties), message.body or None
                row = _InnerRow(message.flag, offset + index, values, body, index)
                inner_rows.append(row)
            sources += [number] * (1 if inner is None else len(inner))
        rows = self.choose(np.array(sources, np.int64))
        rows._inner, rows._bodies = inner_rows, [row.body for row in inner_rows]
        return rows

    def column(self, name: str) -> Any:
        return COLUMNS[name].read(self)

    # -------------------------------------------------------------- columns

    @property
    def queue_offsets(self) -> Int64s:
        if self._inner is None:
            return self.messages.numbers("queue_offset")
        return np.array([row.queue_offset for row in self._inner], np.int64)

    @property
    def flags(self) -> Int64s:
        if self._inner is None:
            return self.messages.numbers("flag")
        return np.array([row.flag for row in self._inner], np.int64)

    @property
    def body_lengths(self) -> Int64s:
        if self._bodies is None:
            return self.messages.body_sizes
        return np.array([len(body or b"") for body in self._bodies], np.int64)

    @property
    def batch_indexes(self) -> list[int | None]:
        return (
            [None] * len(self) if self._inner is None else [row.batch_index for row in self._inner]
        )

    @cached_property
    def topic_numbers(self) -> Int64s:
        return self.topics.numbers(self.messages)

    @cached_property
    def property_bytes(self) -> list[bytes]:
        starts = self.messages.properties
        ends = starts + self.messages.property_sizes
        data = self.data
        return [data[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]

    @cached_property
    def properties(self) -> list[dict[str, str]]:
        if self._inner is not None:
            return [row.properties for row in self._inner]
        return self.property_items.dicts()

    @property
    def are_bodies_stored(self) -> bool:
        if self._bodies is not None:
            return False
        return not (self.messages.numbers("sys_flag") & COMPRESSED).any()

    @property
    def are_unfolded(self) -> bool:
        return self._inner is not None

    @cached_property
    def property_items(self) -> PropertyItems:
        from rocketwire_tools.store.engine.properties import PropertyItems  # loads Arrow

        return PropertyItems.of_messages(self.messages)

    @cached_property
    def tags_codes(self) -> Int64s:
        from rocketwire_tools.store.engine.properties import string_hashes  # loads Arrow

        tags = self.property_items.array(message_const.TAGS)
        codes = np.zeros(len(self), np.int64)
        codes[np.asarray(tags.is_valid())] = string_hashes(tags.drop_null())
        return codes

    @cached_property
    def keys(self) -> list[frozenset[str]]:
        """Keys and unique key of each row; a row of an inner batch also has those of the batch."""
        keys = [_keys_of(properties) for properties in self.properties]
        if self._inner is None:
            return keys
        batches = [_keys_of(decode_properties(text_of(text))) for text in self.property_bytes]
        return [own | batch for own, batch in zip(keys, batches, strict=True)]

    @cached_property
    def stored_bodies(self) -> list[bytes]:
        starts = self.messages.bodies
        ends = starts + self.messages.body_sizes
        data = self.data
        return [data[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]

    @cached_property
    def bodies(self) -> list[bytes | None]:
        if self._bodies is not None:
            return self._bodies
        compressed = (self.messages.numbers("sys_flag") & COMPRESSED) != 0
        if not compressed.any():
            return [body or None for body in self.stored_bodies]
        flags = self.messages.numbers("sys_flag").tolist()
        return [
            _inflate(body, flag) if flag & COMPRESSED else body or None
            for body, flag in zip(self.stored_bodies, flags, strict=True)
        ]

    @cached_property
    def crc_holds(self) -> Bools:
        stored, sizes = self.messages.numbers("body_crc"), self.messages.body_sizes
        differs = (self.messages.body_crcs ^ stored) & CRC_MASK
        holds: Bools = (differs == 0) | (sizes == 0)
        return holds

    @cached_property
    def kind_numbers(self) -> Int64s:
        topic_numbers = self.topic_numbers  # looks the topics up
        of_topics = np.array([_KIND_NUMBERS[kind] for kind in self.topics.kinds], np.int64)
        numbers: Int64s = of_topics[topic_numbers]
        flags = self.messages.numbers("sys_flag")
        if not ((flags & (INNER_BATCH | COMMITTED)) != 0).any():
            return numbers
        is_plain = numbers == _KIND_NUMBERS[Kind.MESSAGE]
        is_inner = (flags & INNER_BATCH) == INNER_BATCH
        is_committed = (flags & TRANSACTION) == COMMITTED
        numbers[is_plain & is_committed] = _KIND_NUMBERS[Kind.COMMITTED]
        numbers[is_plain & is_inner] = _KIND_NUMBERS[Kind.INNER]
        return numbers

    def host_numbers(self, name: str) -> tuple[Int64s, list[bytes]]:
        born_v6 = (self.messages.layout_bits & MessageSysFlag.BORNHOST_V6) != 0
        store_v6 = (self.messages.layout_bits & MessageSysFlag.STOREHOSTADDRESS_V6) != 0
        if name == "born":
            starts, is_v6 = self.messages.positions + 48, born_v6
        else:
            starts, is_v6 = self.messages.positions + 64 + 12 * born_v6, store_v6
        if not is_v6.any():
            values, numbers = distinct(records(self.messages.data, starts, _HOST_V4)["host"])
            return numbers, [value.to_bytes(8, "big") for value in values.tolist()]
        ends = starts + np.where(is_v6, 20, 8)
        data = self.data
        raws = [data[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
        hosts = list(dict.fromkeys(raws))
        indexes = {raw: index for index, raw in enumerate(hosts)}
        return np.array([indexes[raw] for raw in raws], np.int64), hosts

    def property_values(self, name: str) -> list[str | None]:
        if self._inner is None and "properties" not in self.__dict__:
            texts: list[str | None] = self.property_items.array(name).to_pylist()
            return texts
        return [properties.get(name) for properties in self.properties]


def _keys_of(properties: Mapping[str, str]) -> frozenset[str]:
    keys = split_keys(properties.get(message_const.KEYS))
    unique_key = properties.get(message_const.UNIQ_KEY)
    return frozenset(keys if unique_key is None else [*keys, unique_key])


def _inner_messages(body: bytes | None) -> Sequence[Any] | None:
    try:
        return decode_batch(body or b"")
    except DecodeError:
        return None


def _inflate(body: bytes, sys_flag: int) -> bytes | None:
    try:
        return decompress_body(body, compression_type(sys_flag), max_size=MAX_BODY) or None
    except DecodeError:
        return None


class Column(NamedTuple):
    kind: str  # a type of Arrow, or ``texts``, ``map`` or ``time``
    read: Callable[[Rows], Any]  # its values


def _number(kind: str, name: str) -> Column:
    return Column(kind, lambda rows: rows.messages.numbers(name))


def _property(name: str) -> Column:
    return Column("string", lambda rows: rows.property_values(name))


def _keys(rows: Rows) -> list[list[str] | None]:
    values = rows.property_values(message_const.KEYS)
    return [None if value is None else split_keys(value) for value in values]


def _real_queue_ids(rows: Rows) -> list[int | None]:
    values = rows.property_values(message_const.REAL_QUEUE_ID)
    return [number_in(value) for value in values]


def _offset_message_ids(rows: Rows) -> list[str]:
    offsets = rows.messages.numbers("physical_offset").tolist()
    numbers, raws = rows.host_numbers("store")
    prefixes = [offset_id_prefix(raw) for raw in raws]
    return [
        f"{prefixes[number]}{offset:016X}"
        for number, offset in zip(numbers.tolist(), offsets, strict=True)
    ]


def offset_id_prefix(raw: bytes) -> str:
    return create_offset_message_id(_host(raw), 0)[:-16]


def _host(raw: bytes) -> Host:
    return Host.of(raw[:-4], int.from_bytes(raw[-4:], "big") & 0xFFFF)


# -------------------------------------------------------------- columns of few texts


def _only(text: str, rows: Rows) -> FewTexts:
    return [text], np.zeros(len(rows), np.int64)


def _hosts(rows: Rows, name: str) -> FewTexts:
    numbers, raws = rows.host_numbers(name)
    return [str(_host(raw)) for raw in raws], numbers


def _by_flags(rows: Rows, name: Callable[[int], str | None]) -> FewTexts:
    flags, numbers = distinct(rows.messages.numbers("sys_flag"))
    return [name(flag) for flag in flags.tolist()], numbers


def _compression(sys_flag: int) -> str | None:
    if not sys_flag & COMPRESSED:
        return None
    try:
        return compression_type(sys_flag).name.lower()
    except DecodeError:
        return "unknown"


FEW_TEXTS: Final[dict[str, Callable[[Rows], FewTexts]]] = {
    "file": lambda rows: _only(rows.block.file.name, rows),
    "state": lambda rows: _only(rows.block.state.value, rows),
    "topic": lambda rows: (rows.topics.names, rows.topic_numbers),
    "born_host": lambda rows: _hosts(rows, "born"),
    "store_host": lambda rows: _hosts(rows, "store"),
    "kind": lambda rows: (_KIND_TEXTS, rows.kind_numbers),
    "compression": lambda rows: _by_flags(rows, _compression),
    "transaction": lambda rows: _by_flags(rows, lambda flag: _STATES.get(flag & TRANSACTION)),
}
"""Name of a column → its few texts, and the number of each row's text."""


def _few_texts(name: str) -> Column:
    def read(rows: Rows) -> list[str | None]:
        texts, numbers = FEW_TEXTS[name](rows)
        return [texts[number] for number in numbers.tolist()]

    return Column("string", read)


COLUMNS: Final[dict[str, Column]] = {
    "file": _few_texts("file"),
    "commit_log_offset": _number("int64", "physical_offset"),
    "store_size": _number("int32", "size"),
    "topic": _few_texts("topic"),
    "queue_id": _number("int32", "queue_id"),
    "queue_offset": Column("int64", lambda rows: rows.queue_offsets),
    "tags": _property(message_const.TAGS),
    "keys": Column("texts", _keys),
    "msg_id": _property(message_const.UNIQ_KEY),
    "offset_msg_id": Column("string", _offset_message_ids),
    "born_timestamp": _number("time", "born_timestamp"),
    "store_timestamp": _number("time", "store_timestamp"),
    "born_host": _few_texts("born_host"),
    "store_host": _few_texts("store_host"),
    "flag": Column("int32", lambda rows: rows.flags),
    "sys_flag": _number("int32", "sys_flag"),
    "compression": _few_texts("compression"),
    "transaction": _few_texts("transaction"),
    "prepared_transaction_offset": _number("int64", "prepared_transaction_offset"),
    "reconsume_times": _number("int32", "reconsume_times"),
    "body_length": Column("int32", lambda rows: rows.body_lengths),
    "body": Column("binary", lambda rows: rows.bodies),
    "properties": Column("map", lambda rows: rows.properties),
    "kind": _few_texts("kind"),
    "real_topic": _property(message_const.REAL_TOPIC),
    "real_queue_id": Column("int32", _real_queue_ids),
    "batch_index": Column("int32", lambda rows: rows.batch_indexes),
    "version": Column(
        "int8", lambda rows: (rows.messages.heads["magic"] != MAGIC_V1).astype(np.int64) + 1
    ),
    "crc_ok": Column("bool", lambda rows: rows.crc_holds.tolist()),
    "state": _few_texts("state"),
}
"""Name of a column → its type and its values."""


def parse_columns(text: str | None, default: Sequence[str]) -> list[str]:
    names = [name.strip() for name in text.split(",")] if text else list(default)
    for name in names:
        if name not in COLUMNS:
            raise ValueError(f"no column {name!r}; there are {', '.join(COLUMNS)}")
    return names
