"""What became of a message that was sent (Java: ``SendResult``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rocketwire.policy.retry import SendStatus

if TYPE_CHECKING:
    from rocketwire.messages.message_queue import MessageQueue


class SendResult(NamedTuple):
    """A message, or a batch, that was stored.

    Attributes:
        status: how safely.
        msg_id: the unique key; of a batch those of all messages, separated by commas.
        offset_msg_id: the broker's id, of a batch likewise.
        message_queue: where.
        queue_offset: position in the queue, of a batch that of its first message.
        transaction_id: the broker's name for a transaction; the unique key.
        region: of the broker.
        trace_on: whether the broker wants sends to be traced.
        recall_handle: takes a delayed message back; see ``Producer.recall``.
    """

    status: SendStatus
    msg_id: str
    offset_msg_id: str
    message_queue: MessageQueue
    queue_offset: int
    transaction_id: str | None = None
    region: str | None = None
    trace_on: bool = True
    recall_handle: str | None = None

    @property
    def is_ok(self) -> bool:
        """Whether the message is as safe as was asked for."""
        return self.status is SendStatus.SEND_OK
