"""Any bytes are JSON in one of Java's dialects or a ``DecodeError``, also as a body of a class."""

from __future__ import annotations

from rocketwire.messages import decode_body, encode_body
from rocketwire.messages.operations.registry import CLASSES
from rocketwire.wire.json.fastjson import Dialect, loads
from tests.fuzz import seeds

NAMES = (
    "TopicRouteData",
    "ConsumerRunningInfo",
    "RegisterBrokerBody",
    "BatchAckMessageRequestBody",
    "TopicStatsTable",
    "AclInfo",
)


def read(data: bytes) -> None:
    """The first byte chooses a class, or none and a dialect; a body that was read can be written."""
    way = data[0] if data else 0
    text = data[1:]
    if way < len(NAMES):
        body = decode_body(CLASSES[NAMES[way]], text)
        if body is not None:
            encode_body(body)
    else:
        loads(text, dialect=(None, Dialect.FASTJSON1, Dialect.FASTJSON2)[way % 3])


def start() -> list[bytes]:
    """Recorded bodies, for every class."""
    return [bytes((way,)) + body for body in seeds.json_bodies() for way in range(len(NAMES) + 3)]
