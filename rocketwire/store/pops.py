"""Records of pops in the revive log: which messages a consumer took, and which it acknowledged.

A broker writes them as messages of the topic ``rmq_sys_REVIVE_LOG_CLUSTER``, most of them as timed
messages at first.  Their bodies are JSON.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, cast

from rocketwire.errors import DecodeError
from rocketwire.store.config_files import decode_config

REVIVE_LOG: Final = "rmq_sys_REVIVE_LOG_"
"""Start of the topic's name (Java: ``PopAckConstants.REVIVE_TOPIC``)."""

REVIVE_GROUP: Final = "CID_RMQ_SYS_REVIVE_GROUP"
"""The group of a broker that reads the revive log (Java: ``PopAckConstants.REVIVE_GROUP``)."""

CHECK_POINT_TAG: Final = "ck"
ACK_TAGS: Final = ("ack", "bAck")
MAX_MESSAGES: Final = 10_000
"""Messages of one record that are read; a pop takes 32 at most."""


class Pop(NamedTuple):
    topic: str  #: of the messages
    group: str  #: that popped them
    queue_id: int  #: of the topic
    pop_time: int  #: milliseconds since 1970
    start_offset: int  #: first queue offset of the pop


class CheckPoint(NamedTuple):
    """Messages that were popped (Java: ``PopCheckPoint``)."""

    pop: Pop  #: of which they are
    invisible_time: int  #: milliseconds for which no other consumer gets them
    #: their queue offsets, without those that were acknowledged in the broker's memory
    offsets: list[int]


class Acks(NamedTuple):
    """Messages that were acknowledged (Java: ``AckMsg``, ``BatchAckMsg``)."""

    pop: Pop  #: of which they are
    offsets: list[int]  #: their queue offsets


def decode_check_point(body: bytes) -> CheckPoint | None:
    values = _values(body)
    pop = None if values is None else _pop(values)
    if values is None or pop is None:
        return None
    count, bits, invisible_time = (_number(values, name) for name in ("n", "bm", "it"))
    steps = _numbers(values.get("d")) or list(range(min(max(count, 0), MAX_MESSAGES)))
    offsets = [pop.start_offset + step for i, step in enumerate(steps) if not bits >> i & 1]
    return CheckPoint(pop, invisible_time, [offset for offset in offsets if _is_long(offset)])


def decode_acks(body: bytes) -> Acks | None:
    values = _values(body)
    pop = None if values is None else _pop(values)
    if values is None or pop is None:
        return None
    return Acks(pop, _numbers(values.get("aol")) or [_number(values, "ao")])


def _values(body: bytes) -> dict[str, Any] | None:
    try:
        return decode_config(body)
    except DecodeError:
        return None


def _pop(values: dict[str, Any]) -> Pop | None:
    topic, group = values.get("t"), values.get("c")
    if not isinstance(topic, str) or not isinstance(group, str):
        return None
    return Pop(topic, group, *(_number(values, name) for name in ("q", "pt", "so")))


def _number(values: dict[str, Any], name: str) -> int:
    value = values.get(name)
    return value if isinstance(value, int) and _is_long(value) else 0


def _is_long(number: int) -> bool:
    return -(1 << 63) <= number < 1 << 63


def _numbers(value: object) -> list[int]:
    values = cast("list[object]", value) if isinstance(value, list) else []
    return [
        number for number in values[:MAX_MESSAGES] if isinstance(number, int) and _is_long(number)
    ]
