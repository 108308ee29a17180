"""Files below ``config``: JSON as fastjson writes it, with a copy ``.bak`` beside each.

Java writes integer keys without quotation marks (``{0:4}``); ``rocketwire.wire.json`` reads that.
"""

from __future__ import annotations

import re
from typing import Any, Final, cast

from rocketwire.errors import DecodeError
from rocketwire.wire.json.fastjson import loads
from rocketwire.wire.json.limits import JsonLimits

MAX_SIZE: Final = 256 << 20
"""Default limit of one file."""

LIMITS: Final = JsonLimits(max_size=MAX_SIZE, max_count=16_000_000)
"""Some 5,000,000 offsets of groups fit."""

_QUEUE_ID: Final = re.compile(r"-?[0-9]{1,10}")
"""A key of Java's type int."""


def decode_config(text: bytes, *, limits: JsonLimits = LIMITS) -> dict[str, Any]:
    """A configuration file of a broker.

    Raises:
        DecodeError: the text is no JSON object; brokers then read ``.bak`` in its place.
        LimitExceededError: it is larger than ``limits`` allow.
    """
    value = loads(text, limits=limits)
    if not isinstance(value, dict):
        raise DecodeError("not the JSON object of a configuration file")
    return value


def split_topic_and_group(key: str) -> tuple[str, str] | None:
    """``topic@group`` in its parts; None for anything else.

    Neither names of topics nor of groups hold an ``@`` (Java: ``TopicValidator``).
    """
    topic, separator, group = key.partition("@")
    return (topic, group) if separator and topic and group and "@" not in group else None


def consumer_offsets(
    config: dict[str, Any], table: str = "offsetTable"
) -> dict[tuple[str, str], dict[int, int]]:
    """Topic and group → queue → next offset to consume.

    Args:
        config: of ``consumerOffset.json``.
        table: ``offsetTable`` or ``pullOffsetTable``.

    Returns:
        Entries that are no such numbers are left out.
    """
    offsets: dict[tuple[str, str], dict[int, int]] = {}
    for key, queues in _table(config, table).items():
        names = split_topic_and_group(key)
        if names is None or not isinstance(queues, dict):
            continue
        numbers = cast("dict[str, Any]", queues)
        offsets[names] = {
            int(queue): offset
            for queue, offset in numbers.items()
            if _QUEUE_ID.fullmatch(queue) and _is_offset(offset)
        }
    return offsets


def delay_offsets(config: dict[str, Any]) -> dict[int, int]:
    return {
        int(level): offset
        for level, offset in _table(config, "offsetTable").items()
        if _QUEUE_ID.fullmatch(level) and _is_offset(offset)
    }


def _is_offset(value: object) -> bool:
    return type(value) is int and -(1 << 63) <= value < 1 << 63


def _table(config: dict[str, Any], name: str) -> dict[str, Any]:
    table = config.get(name)
    return cast("dict[str, Any]", table) if isinstance(table, dict) else {}
