"""Files below ``config``: JSON as fastjson writes it, with a copy ``.bak`` beside each.

Java writes integer keys without quotation marks, so ``bare_keys_quoted`` puts these in before
orjson reads a text.
"""

from __future__ import annotations

import re
from typing import Any, Final

import orjson

from rocketwire.errors import DecodeError

MAX_SIZE: Final = 256 << 20
"""Default limit of one file."""

_STRING_OR_KEY: Final = re.compile(
    rb'"(?:[^"\\]|\\.)*+"|(?<=[{,\s])(-?[0-9]++)(?=\s*+:)', re.DOTALL
)


def bare_keys_quoted(text: bytes) -> bytes:
    """The same text with quotation marks around integer keys (``{0:4}`` becomes ``{"0":4}``)."""
    return _STRING_OR_KEY.sub(
        lambda match: match.group() if match.group(1) is None else b'"' + match.group(1) + b'"',
        text,
    )


def decode_config(text: bytes) -> dict[str, Any]:
    """A configuration file of a broker.

    Raises:
        DecodeError: the text is no JSON object; brokers then read ``.bak`` in its place.
    """
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        try:
            value = orjson.loads(bare_keys_quoted(text))
        except orjson.JSONDecodeError as error:
            raise DecodeError(f"not the JSON of a configuration file: {error}") from None
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
    entries = config.get(table)
    if not isinstance(entries, dict):
        return offsets
    for key, queues in entries.items():
        names = split_topic_and_group(key)
        if names is None or not isinstance(queues, dict):
            continue
        offsets[names] = {
            int(queue): offset
            for queue, offset in queues.items()
            if queue.lstrip("-").isdecimal() and isinstance(offset, int)
        }
    return offsets


def delay_offsets(config: dict[str, Any]) -> dict[int, int]:
    """Delay level → next queue offset to deliver, of ``delayOffset.json``."""
    entries = config.get("offsetTable")
    if not isinstance(entries, dict):
        return {}
    return {
        int(level): offset
        for level, offset in entries.items()
        if level.isdecimal() and isinstance(offset, int)
    }
