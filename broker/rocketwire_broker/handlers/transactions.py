"""Decisions on transactions: 37; and 323, which lets a half message be checked again.

Java: ``EndTransactionProcessor``, ``AdminBrokerProcessor.resumeCheckHalfMessage``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import DecodeError
from rocketwire.flags import MessageSysFlag
from rocketwire.messages import decode_header
from rocketwire.messages import message_const as const
from rocketwire.messages.transactions import (
    EndTransactionRequestHeader,
    ResumeCheckHalfMessageRequestHeader,
)
from rocketwire.wire.message.ids import decode_offset_message_id
from rocketwire_broker.access.accounts import Permission
from rocketwire_broker.access.needs import sends_to
from rocketwire_broker.delayed.delays import restore_message
from rocketwire_broker.delayed.put_hooks import store_message
from rocketwire_broker.delayed.transactions import (
    GIVEN_UP_TOPIC,
    HALF_TOPIC,
    end,
    immunity_ms,
    put_half,
)
from rocketwire_broker.handlers.requests import check_permission, handles
from rocketwire_broker.state.response import LATER, SUCCESS, RefusedError, Response
from rocketwire_broker.storage.message import Message, read_stored

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.members import Peer
    from rocketwire_broker.tables.waiting import Transaction

COMMIT: Final = int(MessageSysFlag.TRANSACTION_COMMIT)
ROLLBACK: Final = int(MessageSysFlag.TRANSACTION_ROLLBACK)

_PROBLEM: Final = "Exception was thrown when putting message back to RMQ_SYS_TRANS_HALF_TOPIC."


@handles(RequestCode.END_TRANSACTION, needs=sends_to("topic"))
def end_transaction(
    broker: Broker, request: RemotingCommand, peer: Peer, now: int
) -> Response | None:
    """37: commit or roll back; a producer that does not know yet gets no answer."""
    header = decode_header(EndTransactionRequestHeader, request.ext_fields)
    decision = header.commit_or_rollback
    if decision not in {COMMIT, ROLLBACK}:
        return LATER
    transaction, record = _find(broker, header, now)
    message = restore_message(record)
    check_permission(broker, request, peer, message.topic, Permission.PUB)
    if transaction.ended and not transaction.given_up:  # Java delivers once more
        return SUCCESS
    if decision == COMMIT:
        del message.properties[const.REAL_TOPIC], message.properties[const.REAL_QUEUE_ID]
        message.sys_flag |= COMMIT
        message.prepared_transaction_offset = header.commit_log_offset or 0
        store_message(broker, message, now)
    if transaction.given_up:
        transaction.given_up = False
    else:
        end(broker, transaction, now)
    return SUCCESS


def _find(
    broker: Broker, header: EndTransactionRequestHeader, now: int
) -> tuple[Transaction, bytes]:
    record = broker.store.record_at(header.commit_log_offset or 0)
    stored = None if record is None else read_stored(record)
    if record is None or stored is None or stored.topic != HALF_TOPIC:
        raise RefusedError(ResponseCode.SYSTEM_ERROR, "Find prepared transaction message failed")
    message = Message.of(stored)
    if (
        not header.from_transaction_check
        and message.properties.get(const.CHECK_IMMUNITY_TIME_IN_SECONDS)
        and now - message.born_timestamp
        > max(immunity_ms(broker, message), broker.config.transaction_timeout_ms)
    ):
        raise RefusedError(ResponseCode.ILLEGAL_OPERATION)
    if message.properties.get(const.PRODUCER_GROUP) != header.producer_group:
        raise RefusedError(ResponseCode.SYSTEM_ERROR, "The producer group wrong")
    transaction = broker.half_messages.get(stored.queue_offset)
    if transaction is None or stored.queue_offset != header.tran_state_table_offset:
        raise RefusedError(ResponseCode.SYSTEM_ERROR, "The transaction state table offset wrong")
    return transaction, record


@handles(RequestCode.RESUME_CHECK_HALF_MESSAGE)
def resume_check(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    """323: begin to count the checks of a half message anew, also after it was given up."""
    header = decode_header(ResumeCheckHalfMessageRequestHeader, request.ext_fields)
    try:
        offset = decode_offset_message_id(header.msg_id or "").commit_log_offset
    except DecodeError:
        return Response(ResponseCode.SYSTEM_ERROR, _PROBLEM)
    record = broker.store.record_at(offset)
    stored = None if record is None else read_stored(record)
    if stored is None or stored.topic not in {HALF_TOPIC, GIVEN_UP_TOPIC}:
        return Response(ResponseCode.SYSTEM_ERROR, _PROBLEM)
    transaction = None
    if stored.topic == HALF_TOPIC:
        transaction = broker.half_messages.get(stored.queue_offset)
    message = Message.of(stored)
    message.properties[const.TRANSACTION_CHECK_TIMES] = "0"
    is_open = transaction is not None and not transaction.ended
    put_half(broker, message, now, transaction if is_open else None)
    return SUCCESS
