"""Explained differences of stored messages."""

from collections.abc import Iterator

from rocketwire.errors import DecodeError
from rocketwire.wire.message.lazy_reader import decode_stored_messages
from tests.fuzz.predicates.difference import only_java, only_ours
from tests.fuzz.trials import Broken, Difference, Refusal, Trial


def size_lies(data: bytes) -> bool:
    # Whether a batch, read as Java reads it without looking at the sizes, has one that is wrong.
    start = 0
    while start + 22 <= len(data):
        body = int.from_bytes(data[start + 16 : start + 20], "big")
        properties_start = start + 20 + body
        properties = int.from_bytes(
            data[properties_start : properties_start + 2], "big", signed=True
        )
        end = properties_start + 2 + max(properties, 0)
        if end - start != int.from_bytes(data[start : start + 4], "big", signed=True):
            return True
        start = end
    return start != len(data)


def find_ends(data: bytes) -> Iterator[tuple[int, int]]:
    # The declared and the real size of each stored message; Java reads messages without a look at their sizes.
    start = 0
    while start + 40 <= len(data):
        flags = int.from_bytes(data[start + 36 : start + 40], "big")
        body = start + 84 + 12 * ((flags >> 4 & 1) + (flags >> 5 & 1))
        size = int.from_bytes(data[body : body + 4], "big", signed=True)
        topic = body + 4 + max(size, 0)
        width = 2 if data[start + 4 : start + 8] == b"\xda\xa3\x20\xab" else 1
        properties = topic + width + int.from_bytes(data[topic : topic + width], "big", signed=True)
        end = (
            properties
            + 2
            + max(int.from_bytes(data[properties : properties + 2], "big", signed=True), 0)
        )
        yield int.from_bytes(data[start : start + 4], "big", signed=True), end - start
        if end <= start:
            return
        start = end


def lying_message(trial: Trial, difference: Difference) -> bool:
    lies = any(declared != real for declared, real in find_ends(trial.data))
    if trial.kind == "write" or not lies or isinstance(difference.ours, Refusal):
        return False
    return isinstance(difference.java, Refusal) or (
        not difference.path and len(difference.ours) < len(difference.java)
    )


def negative_length(trial: Trial, difference: Difference) -> bool:
    if trial.kind == "write" or difference.path or isinstance(difference.ours, Refusal | Broken):
        return False
    try:
        decode_stored_messages(trial.data, decompress=False)
    except DecodeError as error:
        shorter = isinstance(difference.java, Refusal) or len(difference.ours) < len(
            difference.java
        )
        return shorter and error.message.startswith("a length of -")
    return False


def lying_inner_batch(trial: Trial, difference: Difference) -> bool:
    if not trial.kind.startswith("unwrap") or not only_java(difference):
        return False
    bodies = (message.body for message in decode_stored_messages(trial.data, strict=False))
    return any(body is not None and size_lies(body) for body in bodies)


def second_layout(trial: Trial, difference: Difference) -> bool:
    raised = only_ours(difference, "BufferOverflow") or only_ours(difference, "IllegalArgument")
    return trial.kind == "write" and raised and str(difference.ours)[8:16] == "daa320ab"


def inner_id(trial: Trial, difference: Difference) -> bool:
    return (
        trial.kind.startswith("unwrap")
        and difference.java is None
        and difference.path[1:] in (("msgId",), ("offsetMsgId",))
    )
