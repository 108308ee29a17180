"""Locks of queues for orderly consumers: codes 41 and 42."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.broker_cases.common import (
    ask,
    case,
    comes,
    json_body,
    put,
    since_5_3,
    stores,
    with_body,
)
from rocketwire_tools.conformance.model.outcomes import ANY, Has, Response
from rocketwire_tools.conformance.model.steps import Close, Request, Step, Until

LOCK: Final = "AdminBrokerProcessor.lockBatchMQ, RebalanceLockManager.tryLockBatch @ 5.5.0"
UNLOCK: Final = "AdminBrokerProcessor.unlockBatchMQ, RebalanceLockManager.unlockBatch @ 5.5.0"


def _body(client: str, queues: tuple[int, ...], group: str) -> dict[str, object]:
    names = [{"topic": "{topic}", "brokerName": "{=broker}", "queueId": queue} for queue in queues]
    return {"clientId": client, "consumerGroup": group, "mqSet": names, "onlyThisBroker": False}


def locks(
    *queues: int,
    client: str = "{client}",
    gets: tuple[int, ...] | None = None,
    group: str = "{group}",
    on: str = "main",
) -> Step:
    """A client locks queues and gets these; all of them by default (41)."""
    held = [
        Has({"queueId": queue, "topic": "{topic}"}) for queue in (queues if gets is None else gets)
    ]
    return ask(41, {}, json_body({"lockOKMQSet": held}), body=_body(client, queues, group), on=on)


def unlocks(*queues: int, client: str = "{client}", group: str = "{group}") -> Step:
    """A client gives queues back (42)."""
    return ask(42, {}, Response(remark=ANY), body=_body(client, queues, group))


CASES = (
    case("41/1", LOCK, "A client MUST get the locks of free queues.", locks(0, 1)),
    case("41/2", LOCK, "A second client MUST NOT get a queue that is locked.", locks(0),
        locks(0, client="{clientB}", gets=())),
    case("41/3", LOCK, "A client MUST get its own locks again.", locks(0), locks(0)),
    case("41/4", LOCK, "A client MUST get the free ones of the queues that it asks for.", locks(0),
        locks(0, 1, 2, client="{clientB}", gets=(1, 2))),
    case("41/5", LOCK, "Groups MUST NOT share locks.", locks(0),
        locks(0, client="{clientB}", group="{groupB}")),
    case("41/6", LOCK, "A lock of a queue of an unknown topic MUST be given.", locks(9)),
    case("41/7", "RebalanceLockManager.tryLockBatch @ 5.5.0",
        "A lock MUST stay if the connection of its client closes.",
        locks(0, on="a"), Close("a"), locks(0, client="{clientB}", gets=()),
    ),
    case("41/8", "RebalanceLockManager.LockEntry.isExpired @ 5.5.0",
        "A lock that is not renewed MUST be free after 60 s, and not before 50 s.",
        locks(0),
        Until(Request(code=41, ext={}, body=_body("{clientB}", (0,), "{group}")),
            json_body({"lockOKMQSet": [Has({"queueId": 0})]}), within=75.0, not_before=50.0),
        tags=frozenset({"slow", "minute"}),
    ),
    case("41/9", LOCK, "A request without a body MUST be answered with 1.",
        ask(41, {}, Response(code=1, remark=ANY))),
    case("42/1", UNLOCK, "A queue that was given back MUST be free.", locks(0), unlocks(0),
        locks(0, client="{clientB}")),
    case("42/2", UNLOCK, "A client MUST NOT be able to give back the queue of another.", locks(0),
        unlocks(0, client="{clientB}"), locks(0, client="{clientB}", gets=())),
    case("42/3", UNLOCK, "A queue that was given back MUST NOT free others.", locks(0, 1),
        unlocks(0), locks(0, 1, client="{clientB}", gets=(0,))),
    case("42/4", UNLOCK, "A queue that is not locked MAY be given back.", unlocks(0)),
    since_5_3("41/10", "AbstractSendMessageProcessor.handleRetryAndDLQ, "
        "RebalanceLockManager.isLockAllExpired @ 5.5.0",
        "A message to the retry topic of a group with a locked queue MUST go to the dead letters.",
        locks(0), put("a", stores(0, 0), to="%RETRY%{group}"),
        comes(with_body("a"), of="%DLQ%{group}"),
    ),
    case("41/11", "AbstractSendMessageProcessor.handleRetryAndDLQ @ 5.5.0",
        "A message to the retry topic of a group whose queues were given back MUST go to the retry "
        "topic.",
        locks(0), unlocks(0), put("a", stores(0, 0), to="%RETRY%{group}"),
        comes(with_body("a"), of="%RETRY%{group}"),
    ),
)  # fmt: skip
