"""Transactional messages, which are delivered only if a local transaction commits.

Java: ``DefaultMQProducerImpl`` (``sendMessageInTransaction``, ``endTransaction``,
``checkTransactionState``).
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from enum import Enum
from inspect import isawaitable
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from rocketwire.client.arguments import shown
from rocketwire.client.message import Message
from rocketwire.client.net.rpc import make_request
from rocketwire.client.outages import Outages
from rocketwire.client.send_result import SendResult
from rocketwire.codes import RequestCode
from rocketwire.controls import log_text
from rocketwire.errors import IllegalHandlerError, RocketWireError
from rocketwire.messages import message_const as const
from rocketwire.messages.transactions import EndTransactionRequestHeader
from rocketwire.policy.resource_names import without_namespace
from rocketwire.wire.message.ids import decode_offset_message_id
from rocketwire.wire.message.stored import StoredMessage

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.transactions import CheckTransactionStateRequestHeader

_LOG: Final = logging.getLogger("rocketwire.client")

# Timeout for sending a transaction's state to the broker, which checks it later if that fails
END_TRANSACTION_TIMEOUT: Final = 3.0


class LocalTransactionState(Enum):
    """State of a local transaction; the value is ``commitOrRollback`` of code 37."""

    COMMIT_MESSAGE = 8
    ROLLBACK_MESSAGE = 12
    UNKNOW = 0


class TransactionSendResult(NamedTuple):
    """The result of a transactional send."""

    send_result: SendResult  #: result of the half message, with the queue of the real topic
    #: state of the local transaction; ``ROLLBACK_MESSAGE`` without executing it if the half message
    #: was not stored safely
    state: LocalTransactionState


Outcome: TypeAlias = "LocalTransactionState | Awaitable[LocalTransactionState | None] | None"

LocalTransaction: TypeAlias = Callable[[Message, SendResult], Outcome]
"""Runs the local transaction: (message, result of the half message) -> state.

None means unknown. May be a coroutine function.
"""

TransactionCheck: TypeAlias = Callable[[StoredMessage], Outcome]
"""Returns the state of a transaction: (half message) -> state.

None means unknown. May be a coroutine function.
"""


def build_half_message(message: Message, group: str) -> Message:
    system = {**message.system, const.TRANSACTION_PREPARED: "true", const.PRODUCER_GROUP: group}
    return replace(message, delay_level=0, system=system)


async def resolve_state(outcome: Outcome) -> LocalTransactionState:
    state = await outcome if isawaitable(outcome) else outcome
    if state is None:
        return LocalTransactionState.UNKNOW
    if not isinstance(state, LocalTransactionState):  # pyright: ignore[reportUnnecessaryIsInstance] - of callers without types
        raise IllegalHandlerError(
            f"expected a LocalTransactionState or None, but the function returned {shown(state)}"
        )
    return state


async def end_transaction(
    instance: ClientInstance,
    group: str,
    wire_topic: str,
    result: SendResult,
    broker_name: str,
    state: LocalTransactionState,
    remark: str | None = None,
) -> None:
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
    await _send_state(instance, address, header, remark)


async def respond_to_check(
    instance: ClientInstance,
    group: str,
    address: str,
    check: CheckTransactionStateRequestHeader,
    message: StoredMessage,
    state: LocalTransactionState,
    remark: str | None = None,
) -> None:
    header = EndTransactionRequestHeader(
        topic=check.topic,
        producer_group=group,
        tran_state_table_offset=check.tran_state_table_offset,
        commit_log_offset=check.commit_log_offset,
        commit_or_rollback=state.value,
        from_transaction_check=True,
        msg_id=(message.properties or {}).get(const.UNIQ_KEY) or message.msg_id,
        transaction_id=check.transaction_id,
        bname=check.bname,
    )
    await _send_state(instance, address, header, remark)


async def _send_state(
    instance: ClientInstance, address: str, header: EndTransactionRequestHeader, remark: str | None
) -> None:
    command = make_request(instance.config, RequestCode.END_TRANSACTION, header)
    if remark is not None:
        command = replace(command, remark=remark)
    await instance.pool.send_oneway(address, command, within=END_TRANSACTION_TIMEOUT)


class Transactions:
    def __init__(
        self, instance: ClientInstance, group: str, check: TransactionCheck | None
    ) -> None:
        self._instance = instance
        self._group = group
        self._check = check
        self._outages = Outages(f"group {group}")
        self._being_checked: set[tuple[str, str]] = set()

    async def run(
        self,
        half: Message,
        result: SendResult,
        broker_name: str,
        wire_topic: str,
        local_transaction: LocalTransaction,
    ) -> LocalTransactionState:
        # A half message that was not stored safely is rolled back without executing anything. If
        # the state cannot be sent, the broker will check it.
        state, failure = LocalTransactionState.ROLLBACK_MESSAGE, None
        if result.is_ok:
            try:
                state = await resolve_state(local_transaction(half, result))
            except Exception as error:  # noqa: BLE001 - of the application; raised below
                state, failure = LocalTransactionState.UNKNOW, error
        remark = None if failure is None else f"the local transaction failed: {failure!r}"
        try:
            await end_transaction(
                self._instance, self._group, wire_topic, result, broker_name, state, remark
            )
        except RocketWireError as error:
            _LOG.warning(
                "broker %s: the state of transaction %s was not sent: %s",
                broker_name,
                result.msg_id,
                error,
            )
        if failure is not None:
            raise failure
        return state

    async def check(
        self, address: str, header: CheckTransactionStateRequestHeader, message: StoredMessage
    ) -> LocalTransactionState | None:
        # Returns None without a check function, or if the check was ignored: while one runs, the
        # broker sends another in every interval.
        if self._check is None:
            self._outages.report(
                "transactions",
                f"broker {address} checks a transaction, but the producer has no check function",
                "open the producer with check=...",
            )
            return None
        transaction = (address, header.transaction_id or message.msg_id)
        if transaction in self._being_checked:
            return None
        remark = None
        self._being_checked.add(transaction)
        try:
            topic = without_namespace(message.topic, self._instance.config.namespace)
            state = await resolve_state(self._check(replace(message, topic=topic)))
        except Exception as error:  # noqa: BLE001 - of the application; logged and sent
            _LOG.exception("check of transaction %s failed", log_text(message.msg_id))
            state, remark = LocalTransactionState.UNKNOW, f"the check failed: {error!r}"
        finally:
            self._being_checked.remove(transaction)
        try:
            await respond_to_check(
                self._instance, self._group, address, header, message, state, remark
            )
        except RocketWireError as error:
            _LOG.warning(
                "broker %s: the state of transaction %s was not sent: %s",
                address,
                log_text(message.msg_id),
                error,
            )
        return state
