"""Java's decisions after a failed send: whether to retry, and whether to avoid the broker.

Java: ``DefaultMQProducer.retryResponseCodes``, ``DefaultMQProducerImpl.sendDefaultImpl``,
``MQClientAPIImpl.onExceptionImpl``.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum, auto
from typing import Final, NamedTuple

from rocketwire.codes import ResponseCode

RETRY_TIMES: Final = 2  # retries after the first attempt (``retryTimesWhenSend[Async]Failed``)

# Error codes after which a synchronous send is retried at another broker
RETRY_RESPONSE_CODES: Final = frozenset(
    {
        ResponseCode.TOPIC_NOT_EXIST,
        ResponseCode.SERVICE_NOT_AVAILABLE,
        ResponseCode.SYSTEM_ERROR,
        ResponseCode.SYSTEM_BUSY,
        ResponseCode.NO_PERMISSION,
        ResponseCode.NO_BUYER_ID,
        ResponseCode.NOT_IN_CURRENT_UNIT,
        ResponseCode.GO_AWAY,
    }
)


class SendStatus(Enum):
    """Status of a stored message (Java: ``SendStatus``)."""

    SEND_OK = "SEND_OK"
    FLUSH_DISK_TIMEOUT = "FLUSH_DISK_TIMEOUT"
    FLUSH_SLAVE_TIMEOUT = "FLUSH_SLAVE_TIMEOUT"
    SLAVE_NOT_AVAILABLE = "SLAVE_NOT_AVAILABLE"


# Response codes of stored messages; every other code is an error
SEND_STATUSES: Final = {
    int(ResponseCode.SUCCESS): SendStatus.SEND_OK,
    int(ResponseCode.FLUSH_DISK_TIMEOUT): SendStatus.FLUSH_DISK_TIMEOUT,
    int(ResponseCode.FLUSH_SLAVE_TIMEOUT): SendStatus.FLUSH_SLAVE_TIMEOUT,
    int(ResponseCode.SLAVE_NOT_AVAILABLE): SendStatus.SLAVE_NOT_AVAILABLE,
}


class CommunicationMode(Enum):
    """Mode of a send (Java: ``CommunicationMode``)."""

    SYNC = auto()
    ASYNC = auto()
    ONEWAY = auto()


class Failure(Enum):
    CLIENT = auto()
    """No request was sent: no address, or an invalid message."""
    TRANSPORT = auto()
    """No connection, a broken connection, or a timeout."""
    BROKER = auto()
    """The broker answered with an error."""


class Verdict(NamedTuple):
    retry: bool  #: whether to retry, if attempts and time remain
    isolate: bool  #: whether the broker is avoided as after a very slow send
    reachable: bool  #: whether the broker counts as reachable


def count_attempts(mode: CommunicationMode, retry_times: int = RETRY_TIMES) -> int:
    """Return the most attempts of a send; a one-way send has one."""
    return 1 if mode is CommunicationMode.ONEWAY else 1 + max(0, retry_times)


def judge(
    mode: CommunicationMode,
    failure: Failure,
    code: int | None = None,
    *,
    detecting: bool = False,
    retry_codes: Collection[int] = RETRY_RESPONSE_CODES,
) -> Verdict:
    """Decide on the consequences of a failed attempt.

    Args:
        mode: mode of the send.
        failure: place of the failure.
        code: the broker's error code, or None.
        detecting: whether unreachable brokers are probed; otherwise the broker stays reachable.
        retry_codes: error codes after which synchronous sends are retried.
    """
    if failure is Failure.CLIENT:
        return Verdict(retry=mode is CommunicationMode.SYNC, isolate=False, reachable=True)
    if failure is Failure.TRANSPORT:
        retry = mode is not CommunicationMode.ONEWAY
        return Verdict(retry=retry, isolate=True, reachable=not detecting)
    retry = mode is CommunicationMode.SYNC and code in retry_codes
    return Verdict(retry=retry, isolate=True, reachable=False)


def tries_again_when_stored(status: SendStatus, *, retry_another_broker: bool) -> bool:
    """Return whether a message that was stored less safely than configured is sent again.

    Args:
        status: the status.
        retry_another_broker: ``retryAnotherBrokerWhenNotStoreOK``.
    """
    return retry_another_broker and status is not SendStatus.SEND_OK
