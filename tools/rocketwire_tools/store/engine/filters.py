"""Choice of messages: numbers first, then properties of the messages that remain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from rocketwire.errors import DecodeError
from rocketwire.messages import message_const
from rocketwire.wire.message.ids import decode_offset_message_id
from rocketwire_tools.store.engine.rows import COMPRESSED, INNER_BATCH
from rocketwire_tools.store.engine.scan import State
from rocketwire_tools.store.engine.topic_kinds import USERS_KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rocketwire_tools.store.engine.columns import Bools, Int64s
    from rocketwire_tools.store.engine.rows import Rows

Range: TypeAlias = tuple[int | None, int | None]
"""The least and the largest number; None for no bound."""

_ALL: Final[Range] = (None, None)
_COMPRESSED_BATCH: Final = INNER_BATCH | COMPRESSED


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    topics: frozenset[str] = frozenset()  # names of topics; empty for all
    with_system: bool = False  # whether topics of brokers count, if ``topics`` is empty
    queue_id: int | None = None  # of the topic
    offsets: Range = _ALL  # first and last queue offset
    physical: Range = _ALL  # first and last offset in the commit log
    times: Range = _ALL  # first and last store timestamp, milliseconds since 1970
    tags: frozenset[str] = frozenset()  # one of these; empty for all
    key: str | None = None  # one of the keys
    message_id: str | None = None  # unique key, or offset message id
    # whether properties pass an SQL92 expression
    matches: Callable[[Mapping[str, str]], bool] | None = None
    with_ghosts: bool = False  # whether old bytes after the end of the log count

    def apply(self, rows: Rows) -> Rows:
        if rows.block.state is State.GHOST and not self.with_ghosts:
            return rows.choose(np.zeros(len(rows), np.bool_))
        rows = _keep(rows, self._numbers_pass(rows))
        if len(rows) and (self.key or self.message_id):
            rows = _keep(rows, self._bytes_pass(rows))
        if len(rows):
            rows = _keep(rows, self._topics_pass(rows))
        return rows

    def _bytes_pass(self, rows: Rows) -> Bools:
        """Whether the bytes of each message may hold the key or the id.

        A compressed inner batch always may; an offset message id names the physical offset.
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
            position = data.find(needle, 0, len(view))
            while position >= 0:
                row = int(np.searchsorted(messages.positions, position, "right")) - 1
                if row >= 0:
                    end = int(messages.positions[row] + messages.sizes[row])
                    passes[row] |= position < end  # it may follow the last message
                    position = max(position, end - 1)
                position = data.find(needle, position + 1, len(view))
        if self.message_id:
            try:
                offset = decode_offset_message_id(self.message_id).commit_log_offset
            except DecodeError:
                return passes
            passes |= messages.numbers("physical_offset") == offset
        return passes

    def _numbers_pass(self, rows: Rows) -> Bools:
        numbers = rows.messages.numbers
        passes = np.ones(len(rows), np.bool_)
        _narrow(passes, numbers("queue_id"), (self.queue_id, self.queue_id))
        _narrow(passes, numbers("physical_offset"), self.physical)
        _narrow(passes, numbers("store_timestamp"), self.times)
        return passes

    def _topics_pass(self, rows: Rows) -> Bools:
        numbers = rows.topic_numbers
        names, kinds = rows.topics.names, rows.topics.kinds
        is_selected = np.array(
            [
                name in self.topics if self.topics else self.with_system or kind in USERS_KINDS
                for name, kind in zip(names, kinds, strict=True)
            ],
            np.bool_,
        )
        return is_selected[numbers]

    def messages_pass(self, rows: Rows) -> Bools:
        passes = np.ones(len(rows), np.bool_)
        _narrow(passes, rows.queue_offsets, self.offsets)
        if not (self.tags or self.key or self.message_id or self.matches):
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


def _narrow(passes: Bools, numbers: Int64s, bounds: Range) -> None:
    lower, upper = bounds
    if lower is not None:
        passes &= numbers >= lower
    if upper is not None:
        passes &= numbers <= upper


def _keep(rows: Rows, passes: Bools) -> Rows:
    return rows if passes.all() else rows.choose(passes)
