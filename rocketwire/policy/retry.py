"""What is tried again, and what a failure says about the broker: exactly Java's choice.

Java: ``DefaultMQProducer.retryResponseCodes``, ``DefaultMQProducerImpl.sendDefaultImpl``, ``MQClientAPIImpl.onExceptionImpl``.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.codes import ResponseCode

if TYPE_CHECKING:
    from collections.abc import Collection

RETRY_TIMES: Final = 2
"""Tries after the first (``retryTimesWhenSendFailed``, ``retryTimesWhenSendAsyncFailed``)."""

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
"""Refusals after which a synchronous send goes to another broker; all others are final."""


class SendStatus(Enum):
    """What became of a message that was stored (Java: ``SendStatus``)."""

    SEND_OK = "SEND_OK"
    FLUSH_DISK_TIMEOUT = "FLUSH_DISK_TIMEOUT"
    FLUSH_SLAVE_TIMEOUT = "FLUSH_SLAVE_TIMEOUT"
    SLAVE_NOT_AVAILABLE = "SLAVE_NOT_AVAILABLE"


SEND_STATUSES: Final = {
    int(ResponseCode.SUCCESS): SendStatus.SEND_OK,
    int(ResponseCode.FLUSH_DISK_TIMEOUT): SendStatus.FLUSH_DISK_TIMEOUT,
    int(ResponseCode.FLUSH_SLAVE_TIMEOUT): SendStatus.FLUSH_SLAVE_TIMEOUT,
    int(ResponseCode.SLAVE_NOT_AVAILABLE): SendStatus.SLAVE_NOT_AVAILABLE,
}
"""Response codes that are results; every other is a refusal."""


class CommunicationMode(Enum):
    """How a send is made (Java: ``CommunicationMode``)."""

    SYNC = auto()
    ASYNC = auto()
    ONEWAY = auto()


class Failure(Enum):
    """On which side a try failed."""

    CLIENT = auto()
    """No broker was asked: no address, nothing to send."""
    TRANSPORT = auto()
    """No connection, none any more, or no answer in time."""
    BROKER = auto()
    """The broker refused."""


class Verdict(NamedTuple):
    """What follows from a failed try.

    Attributes:
        again: whether to try again, if tries and time are left.
        isolate: whether the broker is avoided as if it had been very slow.
        reachable: whether the broker counts as reachable.
    """

    again: bool
    isolate: bool
    reachable: bool


def tries(mode: CommunicationMode, retry_times: int = RETRY_TIMES) -> int:
    """How often a send is tried at most; never again where nobody waits for the outcome."""
    return 1 if mode is CommunicationMode.ONEWAY else 1 + max(0, retry_times)


def judge(
    mode: CommunicationMode,
    failure: Failure,
    code: int | None = None,
    *,
    detecting: bool = False,
    retry_codes: Collection[int] = RETRY_RESPONSE_CODES,
) -> Verdict:
    """What follows from a failed try.

    Args:
        mode: how it was made.
        failure: on which side it failed.
        code: the broker's response code, where it refused.
        detecting: whether unreachable brokers are looked after; else nothing but a success would bring them back.
        retry_codes: refusals to try again after, of synchronous sends.
    """
    if failure is Failure.CLIENT:
        return Verdict(again=mode is CommunicationMode.SYNC, isolate=False, reachable=True)
    if failure is Failure.TRANSPORT:
        again = mode is not CommunicationMode.ONEWAY
        return Verdict(again=again, isolate=True, reachable=not detecting)
    again = mode is CommunicationMode.SYNC and code in retry_codes
    return Verdict(again=again, isolate=True, reachable=False)


def tries_again_when_stored(status: SendStatus, *, retry_another_broker: bool) -> bool:
    """Whether a message that was stored, but not as safely as asked, is sent once more, to be there twice.

    Args:
        status: the result.
        retry_another_broker: ``retryAnotherBrokerWhenNotStoreOK``.
    """
    return retry_another_broker and status is not SendStatus.SEND_OK
