"""Response codes that end a poll without messages, and why Java sends them.

Consumers poll brokers for messages. If there are none, the broker answers with such a code, and the
consumer polls again. That is normal, so reports count these responses apart from errors, and leave
them out of latencies: the broker waited on purpose.
"""

from __future__ import annotations

from typing import Final

from rocketwire.codes import ResponseCode

POLL_ENDS: Final[dict[int, str]] = {
    ResponseCode.PULL_NOT_FOUND: "no new message came while the broker held the pull",
    ResponseCode.PULL_RETRY_IMMEDIATELY: (
        "no message before the next offset matches the filter; the client pulls from there"
    ),
    ResponseCode.POLLING_FULL: "the broker holds as many pops as it may (popPollingSize)",
    ResponseCode.POLLING_TIMEOUT: "no new message came while the broker held the pop",
}
"""Reasons by code (Java: ``PullMessageProcessor``, ``PopMessageProcessor``; clients return them as
a status and raise nothing).

``PULL_OFFSET_MOVED`` is missing here: the consumer asked for an offset that does not exist, because
the messages were deleted or its offset is wrong, and continues elsewhere.
"""


def is_poll_end(frame_kind: str | None, code: int | None) -> bool:
    """Whether a frame is a response that ends a poll without messages."""
    return frame_kind == "response" and code in POLL_ENDS


def is_error(frame_kind: str | None, code: int | None) -> bool:
    """Whether a frame is a response that reports an error."""
    return frame_kind == "response" and code != 0 and code not in POLL_ENDS
