"""The ends of transactions: the driver commits or rolls back the half messages of its tasks; trio.

Brokers keep no state of an ended transaction: a second commit delivers the message again. So before
a commit that may have been executed is repeated, the message is searched by its unique key.

Java: ``EndTransactionProcessor``.
"""

from __future__ import annotations

import logging
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client import open_producer
from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import ChannelError, RocketWireError
from rocketwire.messages import encode_header
from rocketwire.messages.queries import QueryMessageRequestHeader
from rocketwire.messages.transactions import EndTransactionRequestHeader
from rocketwire.wire.message.lazy_reader import decode_stored_messages
from rocketwire_tools.spark.topics.connection import open_connection
from rocketwire_tools.spark.topics.sink.attempts import producer_config, with_retries
from rocketwire_tools.spark.topics.sink.failures import SinkError, first_error

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocketwire.client import ClientInstance
    from rocketwire.wire.message.stored import StoredMessage
    from rocketwire_tools.spark.topics.sink.halves import Half
    from rocketwire_tools.spark.topics.sink.options import SinkSettings

_LOG: Final = logging.getLogger("rocketwire.spark")

COMMIT: Final = 8
ROLLBACK: Final = 12
IN_FLIGHT: Final = 64
"""Requests of the driver under way."""

ROLLBACK_SECONDS: Final = 5.0
"""Seconds of retries of a rollback: half messages that nobody ends stay invisible."""

UNIQUE_KEY_QUERY: Final = "_UNIQUE_KEY_QUERY"
MAX_MESSAGES: Final = 32
FOREVER: Final = (1 << 63) - 1


def unknown_state(_: StoredMessage) -> None:
    """Answer a broker's check: only the driver knows, and it sends the state by itself."""


async def end_all(
    client: ClientInstance,
    group: str,
    halves: Iterable[Half],
    state: int,
    *,
    seconds: float,
    may_be_ended: bool = False,
) -> int:
    """End the transactions of half messages; returns their number.

    Args:
        client: an open client.
        group: producer group of the half messages, with namespace.
        halves: half messages.
        state: ``COMMIT`` or ``ROLLBACK``.
        seconds: time for retries of each.
        may_be_ended: whether an earlier driver may have committed some of them.

    Raises:
        SinkError: a transaction could not be ended.
    """
    rest = iter(halves)
    count = 0

    async def end_some() -> None:
        nonlocal count
        for half in rest:
            await _end(client, group, half, state, seconds, may_be_ended=may_be_ended)
            count += 1

    async with trio.open_nursery() as nursery:
        for _ in range(IN_FLIGHT):
            nursery.start_soon(end_some)
    return count


async def _end(
    client: ClientInstance,
    group: str,
    half: Half,
    state: int,
    seconds: float,
    *,
    may_be_ended: bool,
) -> None:
    header = EndTransactionRequestHeader(
        topic=half.topic,
        producer_group=group,
        tran_state_table_offset=half.queue_offset,
        commit_log_offset=half.log_offset,
        commit_or_rollback=state,
        from_transaction_check=False,
        msg_id=half.key,
        transaction_id=half.key,
        bname=half.broker,
    )
    in_doubt = may_be_ended and state == COMMIT

    async def attempt() -> None:
        nonlocal in_doubt
        address = await client.master(half.broker, half.topic)
        if in_doubt and await is_visible(client, address, half):
            return
        try:
            await client.brokers.call(address, RequestCode.END_TRANSACTION, header)
        except ChannelError:
            in_doubt = state == COMMIT
            raise

    await with_retries(attempt, half.topic, seconds)


async def is_visible(client: ClientInstance, address: str, half: Half) -> bool:
    """Return whether the message of a half message is in its topic, by the broker's index.

    Raises:
        BrokerError, ChannelError: the broker did not answer.
    """
    header = QueryMessageRequestHeader(
        topic=half.topic,
        key=half.key,
        max_num=MAX_MESSAGES,
        begin_timestamp=0,
        end_timestamp=FOREVER,
    )
    response = await client.brokers.call(
        address,
        RequestCode.QUERY_MESSAGE,
        {**encode_header(header), UNIQUE_KEY_QUERY: "true"},
        accepted=(ResponseCode.SUCCESS, ResponseCode.QUERY_NOT_FOUND),
    )
    messages = decode_stored_messages(response.command.body or b"")
    return any(
        message.prepared_transaction_offset == half.log_offset and message.topic == half.topic
        for message in messages
    )


async def end_transactions(
    settings: SinkSettings,
    commits: Iterable[Half],
    rollbacks: Iterable[Half],
    *,
    may_be_ended: bool = False,
) -> int:
    """Commit half messages, and roll others back; returns the number of commits.

    Args:
        settings: options.
        commits: half messages to commit.
        rollbacks: half messages to roll back; those whose broker cannot be reached stay invisible.
        may_be_ended: see ``end_all``.

    Raises:
        SinkError: a message could not be committed.
    """
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(open_connection(settings.connection))
        producer = await stack.enter_async_context(
            open_producer(client, settings.group, producer_config(settings), check=unknown_state)
        )
        count = await end_all(
            client,
            producer.group,
            commits,
            COMMIT,
            seconds=settings.retry_timeout,
            may_be_ended=may_be_ended,
        )
        await roll_back(client, producer.group, rollbacks)
        return count


async def roll_back(client: ClientInstance, group: str, halves: Iterable[Half]) -> None:
    """Roll back half messages; errors are logged, because what nobody ends stays invisible."""
    try:
        await end_all(client, group, halves, ROLLBACK, seconds=ROLLBACK_SECONDS)
    except* (SinkError, RocketWireError) as errors:
        _LOG.warning("half messages stay until brokers give them up: %s", first_error(errors))
