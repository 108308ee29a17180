"""Locks of orderly consumers: 41 and 42.

Java: ``AdminBrokerProcessor.lockBatchMQ``, ``RebalanceLockManager``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.codes import RequestCode
from rocketwire.messages import decode_body, encode_body
from rocketwire.messages.allocation import (
    LockBatchRequestBody,
    LockBatchResponseBody,
    UnlockBatchRequestBody,
)
from rocketwire.policy.resource_names import RETRY_PREFIX
from rocketwire_broker.access.needs import needs_of_names
from rocketwire_broker.handlers.fields import body_of
from rocketwire_broker.handlers.registry import handles
from rocketwire_broker.state.response import SUCCESS, Response

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.access.needs import Need
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.peer import Peer


def _needs_of_lock(request: RemotingCommand) -> Iterator[Need]:
    return _needs(decode_body(LockBatchRequestBody, request.body))


def _needs_of_unlock(request: RemotingCommand) -> Iterator[Need]:
    return _needs(decode_body(UnlockBatchRequestBody, request.body))


def _needs(body: LockBatchRequestBody | UnlockBatchRequestBody | None) -> Iterator[Need]:
    if body is not None:
        topics = {queue.topic or "" for queue in body.mq_set or ()}
        others = [topic for topic in topics if not topic.startswith(RETRY_PREFIX)]
        yield from needs_of_names(body.consumer_group, others)


@handles(RequestCode.LOCK_BATCH_MQ, needs=_needs_of_lock)
def lock_queues(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    """41: lock or renew queues; the answer has those that the client has now."""
    body = body_of(request, LockBatchRequestBody)
    granted = broker.locks.lock(
        body.consumer_group or "", body.client_id or "", body.mq_set or (), now
    )
    return Response(body=(encode_body(LockBatchResponseBody(lock_ok_mq_set=granted)) or b"",))


@handles(RequestCode.UNLOCK_BATCH_MQ, needs=_needs_of_unlock)
def unlock_queues(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    body = body_of(request, UnlockBatchRequestBody)
    broker.locks.unlock(body.consumer_group or "", body.client_id or "", body.mq_set or ())
    return SUCCESS
