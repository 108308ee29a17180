"""Where a message of a truth was stored at first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support.stores.truth import Sent


def first_place(sent: Sent) -> tuple[str, int]:
    """The queue that a message went to at first; its offset there is the one in the producer's response."""
    if sent.how == "delayed":
        return "SCHEDULE_TOPIC_XXXX", min(int(sent.properties["DELAY"]), 18) - 1
    if sent.how == "half":
        return "RMQ_SYS_TRANS_HALF_TOPIC", 0
    if sent.how == "timer":
        return "rmq_sys_wheel_timer", 0
    return sent.topic, sent.queue_id
