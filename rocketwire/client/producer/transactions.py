"""Messages that are delivered only if a local transaction ended well, and the broker's question what became of it.

Java: ``DefaultMQProducerImpl`` (``sendMessageInTransaction``, ``endTransaction``, ``checkTransactionState``).
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from enum import Enum
from inspect import isawaitable
from typing import TYPE_CHECKING, Final, TypeAlias

from rocketwire.client.arguments import shown
from rocketwire.client.message import Message
from rocketwire.client.net.rpc import make_request
from rocketwire.client.producer.send_result import SendResult
from rocketwire.codes import RequestCode
from rocketwire.errors import IllegalHandlerError
from rocketwire.messages import message_const as const
from rocketwire.messages.transactions import EndTransactionRequestHeader
from rocketwire.wire.message.ids import decode_offset_message_id
from rocketwire.wire.message.stored import StoredMessage
from rocketwire.wire.values.named import NamedTuple

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.transactions import CheckTransactionStateRequestHeader

_LOG: Final = logging.getLogger("rocketwire.client")

END_TRANSACTION_TIMEOUT: Final = 3.0
"""Seconds to tell a broker how a transaction ended; it asks again if that fails."""


class LocalTransactionState(Enum):
    """How a transaction ended, as far as is known; the value is what code 37 carries."""

    COMMIT_MESSAGE = 8
    ROLLBACK_MESSAGE = 12
    UNKNOW = 0


class TransactionSendResult(NamedTuple):
    """A half message, and what was done with it.

    Attributes:
        send_result: of the half message; its queue is that of the real topic.
        state: what the local transaction said; ``ROLLBACK_MESSAGE`` without asking when the half
            message was not stored safely.
    """

    send_result: SendResult
    state: LocalTransactionState


Outcome: TypeAlias = "LocalTransactionState | Awaitable[LocalTransactionState | None] | None"

LocalTransaction: TypeAlias = Callable[[Message, SendResult], Outcome]
"""Does what the message tells of: (message, its half's result) -> how it ended.

None counts as unknown.  May be a coroutine.
"""

TransactionCheck: TypeAlias = Callable[[StoredMessage], Outcome]
"""Looks up how it ended: (half message) -> how; None counts as unknown.  May be a coroutine."""


def half_message(message: Message, group: str) -> Message:
    """The message as it is stored until the transaction has ended.

    A delay level does not go with it.
    """
    system = {**message.system, const.TRANSACTION_PREPARED: "true", const.PRODUCER_GROUP: group}
    return replace(message, delay_level=0, system=system)


async def state_from(outcome: Outcome) -> LocalTransactionState:
    """What an application's function said, once it has.

    Raises:
        IllegalHandlerError: it is not a ``LocalTransactionState``.
    """
    said = await outcome if isawaitable(outcome) else outcome
    if said is None:
        return LocalTransactionState.UNKNOW
    if not isinstance(said, LocalTransactionState):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise IllegalHandlerError(
            f"expected a LocalTransactionState or None, and the function returned {shown(said)}"
        )
    return said


async def end_transaction(
    instance: ClientInstance,
    group: str,
    wire_topic: str,
    result: SendResult,
    broker_name: str,
    state: LocalTransactionState,
    remark: str | None = None,
) -> None:
    """Tell the broker of a half message how its transaction ended (code 37, one-way).

    Args:
        instance: carries it.
        group: with its namespace.
        wire_topic: with its namespace.
        result: of the half message.
        broker_name: that stored it.
        state: how it ended.
        remark: what went wrong, for operators.

    Raises:
        DecodeError: the broker's id of the message is none.
        BrokerNotFoundError, ChannelError: it could not be told; it will ask.
    """
    header = EndTransactionRequestHeader(
        topic=wire_topic,
        producer_group=group,
        tran_state_table_offset=result.queue_offset,
        commit_log_offset=decode_offset_message_id(result.offset_msg_id).commit_log_offset,
        commit_or_rollback=state.value,
        from_transaction_check=False,
        msg_id=result.msg_id,
        transaction_id=result.transaction_id,
        bname=broker_name,
    )
    address = await instance.master(broker_name, wire_topic)
    await _tell(instance, address, header, remark)


async def answer_check(
    instance: ClientInstance,
    group: str,
    address: str,
    asked: CheckTransactionStateRequestHeader,
    message: StoredMessage,
    state: LocalTransactionState,
    remark: str | None = None,
) -> None:
    """Answer a broker's question; to the address that asked.

    Raises:
        ChannelError: it could not be told; it will ask again.
    """
    header = EndTransactionRequestHeader(
        topic=asked.topic,
        producer_group=group,
        tran_state_table_offset=asked.tran_state_table_offset,
        commit_log_offset=asked.commit_log_offset,
        commit_or_rollback=state.value,
        from_transaction_check=True,
        msg_id=(message.properties or {}).get(const.UNIQ_KEY) or message.msg_id,
        transaction_id=asked.transaction_id,
        bname=asked.bname,
    )
    await _tell(instance, address, header, remark)


async def _tell(
    instance: ClientInstance,
    address: str,
    header: EndTransactionRequestHeader,
    remark: str | None,
) -> None:
    command = make_request(instance.config, RequestCode.END_TRANSACTION, header)
    if remark is not None:
        command = replace(command, remark=remark)
    await instance.pool.send_oneway(address, command, within=END_TRANSACTION_TIMEOUT)
