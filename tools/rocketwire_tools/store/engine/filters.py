"""Which messages a reader asks for: numbers first, properties only of what is left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rocketwire.errors import DecodeError
from rocketwire.flags import MessageSysFlag
from rocketwire.messages import message_const
from rocketwire.wire.message.ids import decode_offset_message_id
from rocketwire_tools.store.engine.scan import State
from rocketwire_tools.store.engine.topic_kinds import USERS_KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rocketwire_tools.store.engine.columns import Bools
    from rocketwire_tools.store.engine.rows import Rows

_COMPRESSED_BATCH = int(
    MessageSysFlag.INNER_BATCH | MessageSysFlag.NEED_UNWRAP | MessageSysFlag.COMPRESSED
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Conditions that all hold for a message.

    Attributes:
        topics: names of topics; empty for all.
        with_system: whether topics of brokers count, if ``topics`` is empty.
        queue_id: of the topic.
        min_queue_offset, max_queue_offset: first and last queue offset.
        min_physical_offset, max_physical_offset: first and last offset in the commit log.
        begin, end: first and last store timestamp, milliseconds since 1970.
        tags: one of these; empty for all.
        key: one of the keys.
        message_id: unique key, or offset message id.
        matches: whether properties pass an SQL92 expression.
        with_ghosts: whether old bytes after the end of the log count.
    """

    topics: frozenset[str] = frozenset()
    with_system: bool = False
    queue_id: int | None = None
    min_queue_offset: int | None = None
    max_queue_offset: int | None = None
    min_physical_offset: int | None = None
    max_physical_offset: int | None = None
    begin: int | None = None
    end: int | None = None
    tags: frozenset[str] = frozenset()
    key: str | None = None
    message_id: str | None = None
    matches: Callable[[Mapping[str, str]], bool] | None = None
    with_ghosts: bool = False

    def apply(self, rows: Rows) -> Rows:
        """The rows that may pass; ``messages_pass`` tests the rest when batches are unfolded."""
        if rows.block.state is State.GHOST and not self.with_ghosts:
            return rows.chosen(np.zeros(len(rows), np.bool_))
        rows = _kept(rows, self._numbers_pass(rows))
        if len(rows) and (self.key or self.message_id):
            rows = _kept(rows, self._bytes_pass(rows))
        if len(rows):
            rows = _kept(rows, self._topics_pass(rows))
        return rows

    def _bytes_pass(self, rows: Rows) -> Bools:
        """Whether the bytes of each message may hold the key or the id.

        Compressed inner batches may always; an offset message id names the message's place.
        """
        messages = rows.messages
        flags = messages.numbers("sys_flag")
        passes: Bools = (flags & _COMPRESSED_BATCH) == _COMPRESSED_BATCH
        for text in (self.key, self.message_id):
            if not text:
                continue
            needle = text.encode("utf-8", "surrogateescape")
            view = rows.block.view
            data = view.obj if isinstance(view.obj, bytearray) else bytes(view)
            place = data.find(needle, 0, len(view))
            while place >= 0:
                row = int(np.searchsorted(messages.positions, place, "right")) - 1
                if row >= 0:
                    end = int(messages.positions[row] + messages.sizes[row])
                    passes[row] |= place < end  # it may stand behind the last message
                    place = max(place, end - 1)
                place = data.find(needle, place + 1, len(view))
        if self.message_id:
            try:
                offset = decode_offset_message_id(self.message_id).commit_log_offset
            except DecodeError:
                return passes
            passes |= messages.numbers("physical_offset") == offset
        return passes

    def _numbers_pass(self, rows: Rows) -> Bools:
        passes = np.ones(len(rows), np.bool_)
        for name, least, most in (
            ("queue_id", self.queue_id, self.queue_id),
            ("physical_offset", self.min_physical_offset, self.max_physical_offset),
            ("store_timestamp", self.begin, self.end),
        ):
            if least is not None:
                passes &= rows.messages.numbers(name) >= least
            if most is not None:
                passes &= rows.messages.numbers(name) <= most
        return passes

    def _topics_pass(self, rows: Rows) -> Bools:
        numbers = rows.topic_numbers
        names, kinds = rows.topics.names, rows.topics.kinds
        wanted = np.array(
            [
                name in self.topics if self.topics else self.with_system or kind in USERS_KINDS
                for name, kind in zip(names, kinds, strict=True)
            ],
            np.bool_,
        )
        return wanted[numbers]

    @property
    def asks_for_properties(self) -> bool:
        """Whether a condition concerns properties."""
        return bool(self.tags or self.key or self.message_id or self.matches)

    def messages_pass(self, rows: Rows) -> Bools:
        """Whether each row passes the conditions of a single message, inner ones included."""
        passes = np.ones(len(rows), np.bool_)
        offsets = rows.column("queue_offset")
        if self.min_queue_offset is not None:
            passes &= offsets >= self.min_queue_offset
        if self.max_queue_offset is not None:
            passes &= offsets <= self.max_queue_offset
        if not self.asks_for_properties:
            return passes
        results: list[bool] = passes.tolist()
        offset_ids: list[str] | None = None
        if self.message_id is not None:
            offset_ids = rows.column("offset_msg_id")
        for row, properties in enumerate(rows.properties):
            results[row] = (
                results[row]
                and (not self.tags or properties.get(message_const.TAGS) in self.tags)
                and (self.key is None or self.key in rows.keys[row])
                and (
                    offset_ids is None
                    or self.message_id == offset_ids[row]
                    or self.message_id in rows.keys[row]
                )
                and (self.matches is None or self.matches(properties))
            )
        return np.array(results, np.bool_)


def _kept(rows: Rows, passes: Bools) -> Rows:
    return rows if passes.all() else rows.chosen(passes)
