"""When a difference of stored messages is explained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.errors import DecodeError
from rocketwire.wire.message.lazy_reader import decode_stored_messages
from tests.fuzz.predicates.difference import only_java, only_ours
from tests.fuzz.trials import Broken, Difference, Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fuzz.trials import Trial


def size_lies(data: bytes) -> bool:
    """Whether a batch, read as Java reads it without looking at the sizes, has one that is wrong."""
    at = 0
    while at + 22 <= len(data):
        body = int.from_bytes(data[at + 16 : at + 20], "big")
        start = at + 20 + body
        properties = int.from_bytes(data[start : start + 2], "big", signed=True)
        end = start + 2 + max(properties, 0)
        if end - at != int.from_bytes(data[at : at + 4], "big", signed=True):
            return True
        at = end
    return at != len(data)


def find_ends(data: bytes) -> Iterator[tuple[int, int]]:
    """Of each stored message, read as Java reads it without looking at the sizes, the size it declares and the one it has."""
    at = 0
    while at + 40 <= len(data):
        flags = int.from_bytes(data[at + 36 : at + 40], "big")
        body = at + 84 + 12 * ((flags >> 4 & 1) + (flags >> 5 & 1))
        size = int.from_bytes(data[body : body + 4], "big", signed=True)
        topic = body + 4 + max(size, 0)
        width = 2 if data[at + 4 : at + 8] == b"\xda\xa3\x20\xab" else 1
        properties = topic + width + int.from_bytes(data[topic : topic + width], "big", signed=True)
        end = (
            properties
            + 2
            + max(int.from_bytes(data[properties : properties + 2], "big", signed=True), 0)
        )
        yield int.from_bytes(data[at : at + 4], "big", signed=True), end - at
        if end <= at:
            return
        at = end


def lying_message(trial: Trial, found: Difference) -> bool:
    lies = any(declared != real for declared, real in find_ends(trial.data))
    if trial.kind == "write" or not lies or isinstance(found.ours, Refusal):
        return False
    return isinstance(found.java, Refusal) or (not found.path and len(found.ours) < len(found.java))


def negative_length(trial: Trial, found: Difference) -> bool:
    if trial.kind == "write" or found.path or isinstance(found.ours, Refusal | Broken):
        return False
    try:
        decode_stored_messages(trial.data, decompress=False)
    except DecodeError as error:
        shorter = isinstance(found.java, Refusal) or len(found.ours) < len(found.java)
        return shorter and error.message.startswith("a length of -")
    return False


def lying_inner_batch(trial: Trial, found: Difference) -> bool:
    if not trial.kind.startswith("unwrap") or not only_java(found):
        return False
    bodies = (message.body for message in decode_stored_messages(trial.data, strict=False))
    return any(body is not None and size_lies(body) for body in bodies)


def second_layout(trial: Trial, found: Difference) -> bool:
    raised = only_ours(found, "BufferOverflow") or only_ours(found, "IllegalArgument")
    return trial.kind == "write" and raised and str(found.ours)[8:16] == "daa320ab"


def inner_id(trial: Trial, found: Difference) -> bool:
    return (
        trial.kind.startswith("unwrap")
        and found.java is None
        and found.path[1:] in (("msgId",), ("offsetMsgId",))
    )
