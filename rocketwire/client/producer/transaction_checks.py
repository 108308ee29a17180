"""The two moments in which an application says how a transaction ended: after the half message, and when a broker asks."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from rocketwire.client.log_text import log_text
from rocketwire.client.outages import Outages
from rocketwire.client.producer.transactions import (
    LocalTransactionState,
    answer_check,
    end_transaction,
    state_from,
)
from rocketwire.errors import RocketWireError

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.client.message import Message
    from rocketwire.client.producer.send_result import SendResult
    from rocketwire.client.producer.transactions import LocalTransaction, TransactionCheck
    from rocketwire.messages.transactions import CheckTransactionStateRequestHeader
    from rocketwire.wire.message.stored import StoredMessage

_LOG: Final = logging.getLogger("rocketwire.client")


class Transactions:
    """The transactions of one producer."""

    def __init__(
        self, instance: ClientInstance, group: str, check: TransactionCheck | None
    ) -> None:
        """Args: instance: carries the requests; group: with its namespace.

        Check: the application's answer to brokers.
        """
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
        """Execute a local transaction and tell the broker how it ended.

        A half message that was not stored safely is rolled back without executing anything.  When
        the broker cannot be told, that is logged: it will ask.

        Raises:
            Exception: whatever ``local_transaction`` raises, after the broker was told.
        """
        state, failure = LocalTransactionState.ROLLBACK_MESSAGE, None
        if result.is_ok:
            try:
                state = await state_from(local_transaction(half, result))
            except Exception as error:  # noqa: BLE001 - the application's; raised below
                state, failure = LocalTransactionState.UNKNOW, error
        remark = None if failure is None else f"the local transaction failed: {failure!r}"
        try:
            await end_transaction(
                self._instance, self._group, wire_topic, result, broker_name, state, remark
            )
        except RocketWireError as error:
            _LOG.warning("%s was not told how %s ended: %s", broker_name, result.msg_id, error)
        if failure is not None:
            raise failure
        return state

    async def answer(
        self, address: str, asked: CheckTransactionStateRequestHeader, message: StoredMessage
    ) -> None:
        """A broker asks; a check that fails counts as unknown, and the broker will ask again.

        While the application is still being asked about a transaction, further questions of the
        broker about it are ignored: it asks at each interval, however long that takes.
        """
        if self._check is None:
            self._outages.report(
                "transactions",
                f"broker {address} asks how one ended, and there is no check of transactions",
                "open the producer with check=...",
            )
            return
        transaction = (address, asked.transaction_id or message.msg_id)
        if transaction in self._being_checked:
            return
        remark = None
        self._being_checked.add(transaction)
        try:
            state = await state_from(self._check(message))
        except Exception as error:  # noqa: BLE001 - the application's; the broker and the log are told
            _LOG.exception("check of transaction %s failed", log_text(message.msg_id))
            state, remark = LocalTransactionState.UNKNOW, f"the check failed: {error!r}"
        finally:
            self._being_checked.remove(transaction)
        try:
            await answer_check(self._instance, self._group, address, asked, message, state, remark)
        except RocketWireError as error:
            _LOG.warning(
                "%s was not told how %s ended: %s", address, log_text(message.msg_id), error
            )
