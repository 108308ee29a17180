"""``SendResult``: the result of a send (Java: ``SendResult``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rocketwire.policy.retry import SendStatus

if TYPE_CHECKING:
    from rocketwire.messages.message_queue import MessageQueue


class SendResult(NamedTuple):
    """The result of a stored message or batch."""

    status: SendStatus  #: whether the message is on disk and on a slave, as far as requested
    msg_id: str  #: the unique key; for a batch, the keys of all messages, separated by commas
    #: the broker's id; for a batch, the ids of all messages, separated by commas
    offset_msg_id: str
    message_queue: MessageQueue  #: queue of the message
    queue_offset: int  #: offset in the queue; for a batch, of its first message
    transaction_id: str | None = None  #: the broker's id of a transaction; the unique key
    region: str | None = None  #: region of the broker
    trace_on: bool = True  #: whether the broker wants sends to be traced
    recall_handle: str | None = None  #: handle for ``Producer.recall`` of a delayed message

    @property
    def is_ok(self) -> bool:
        """Whether the message is as safe as requested."""
        return self.status is SendStatus.SEND_OK
