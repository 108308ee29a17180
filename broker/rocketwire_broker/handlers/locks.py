"""Locks of orderly consumers: 41 and 42.

Java: ``AdminBrokerProcessor.lockBatchMQ``, ``RebalanceLockManager``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from rocketwire.codes import RequestCode
from rocketwire.messages import encode_body
from rocketwire.messages.allocation import (
    LockBatchRequestBody,
    LockBatchResponseBody,
    UnlockBatchRequestBody,
)
from rocketwire_broker.handlers.fields import Handler, body_of
from rocketwire_broker.state.response import SUCCESS, Response

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.peer import Peer


def lock_queues(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    """41: lock or renew queues; the answer has those that the client has now."""
    body = body_of(request, LockBatchRequestBody)
    granted = broker.locks.lock(
        body.consumer_group or "", body.client_id or "", body.mq_set or (), now
    )
    return Response(body=(encode_body(LockBatchResponseBody(lock_ok_mq_set=granted)) or b"",))


def unlock_queues(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    """42: unlock queues of this client."""
    body = body_of(request, UnlockBatchRequestBody)
    broker.locks.unlock(body.consumer_group or "", body.client_id or "", body.mq_set or ())
    return SUCCESS


HANDLERS: Final[Mapping[int, Handler]] = {
    RequestCode.LOCK_BATCH_MQ: lock_queues,
    RequestCode.UNLOCK_BATCH_MQ: unlock_queues,
}
