"""Pulls that wait for messages.

Java looks every 5 s whether a queue has any new message for a pull that waits, whatever its filter
(``PullRequestHoldService.checkHoldRequest``): cases that a message with another tag would fail then
have several attempts.
"""

from __future__ import annotations

from typing import Any, Final

from rocketwire_tools.conformance.broker_cases.common import (
    ask,
    bodies,
    case,
    comes,
    fill,
    finds,
    nothing,
    offset,
    pull,
    pull_fields,
    put,
    refuses,
    silence,
    stores,
    topic,
    visible,
)
from rocketwire_tools.conformance.model.outcomes import ANY, Has, Messages, Number, Response
from rocketwire_tools.conformance.model.steps import Close, Expect, Request, Send

HOLD: Final = "PullRequestHoldService.suspendPullRequest, notifyMessageArriving @ 5.5.0"
TIMEOUT: Final = "PullRequestHoldService.checkHoldRequest @ 5.5.0"
HELD: Final = 60_000
"""Milliseconds for which a pull may wait that a message wakes: much longer than ``SOON``."""
SOON: Final = 8.0
"""Seconds until a message must have woken a pull or a pop."""
LIMIT: Final = 25.0
"""Seconds for a pull that waits for a few seconds in vain: Java looks every 5 s."""


def waiting(place: int = 0, *, on: str = "reader", hold: int = HELD, **settings: Any) -> Send:
    """Send a pull that waits for messages."""
    return Send((Request(code=11, ext=pull_fields(place, hold=hold, **settings)),), on)


def woken(*texts: str | int, on: str = "reader", within: float = SOON) -> Expect:
    """The pull finds these messages."""
    return Expect((finds(*bodies(*texts)),), on, within)


CASES = (
    case("hold/1", HOLD, "A pull at the end that may wait MUST be answered when a message arrives.",
        topic(), waiting(), silence(on="reader"), put("a"), woken("a"),
    ),
    case("hold/2", HOLD, "A pull that waits behind messages MUST be answered with the next one.",
        topic(), *fill(2), visible(2), waiting(2), silence(on="reader"), put("a"), woken("a"),
    ),
    case("hold/3", HOLD, "A pull beyond the end MUST NOT wait.",
        topic(), *fill(2), visible(2), pull(5, nothing(21, "OFFSET_OVERFLOW_BADLY", 2), hold=HELD),
    ),
    case("hold/4", HOLD, "A pull without the flag for waiting MUST NOT wait.",
        topic(), pull(0, nothing(19, ANY, 0), sysFlag="4", suspendTimeoutMillis=str(HELD)),
    ),
    case("hold/5", HOLD, "A message with another tag MUST NOT wake a pull.",
        topic(), waiting(tags="T1"), silence(on="reader"), put("no", properties={"TAGS": "T0"}),
        silence(on="reader"),
        put("yes", properties={"TAGS": "T1"}), woken("yes"),
        attempts=3,
    ),
    case("hold/6", HOLD, "All pulls that wait for a queue MUST be woken by one message.",
        topic(), waiting(on="a"), waiting(on="b", consumerGroup="{groupB}"), silence(on="a"),
        put("x"), woken("x", on="a"), woken("x", on="b"),
    ),
    case("hold/7", HOLD, "A message of another queue MUST NOT wake a pull.",
        topic(), waiting(), put("x", queue=1), silence(on="reader"), put("y"), woken("y"),
    ),
    case("hold/8", HOLD, "A pull that waits MUST NOT hold up later requests of its connection.",
        topic(), waiting(), put("x", stores(1, 0), queue=1, on="reader"), put("y", on="reader"),
        woken("y"),
    ),
    case("hold/9", HOLD, "Many pulls of one connection MUST be able to wait at once.",
        topic(queues=16), *(waiting(queue=queue) for queue in range(16)),
        put("x", stores(7, 0), queue=7, on="reader"), woken("x"),
    ),
    case("hold/10", TIMEOUT, "A pull that waited in vain MUST be answered with 19.",
        topic(), waiting(hold=1000), Expect((nothing(19, ANY, 0),), "reader", LIMIT),
    ),
    case("hold/11", TIMEOUT,
        "A pull that waited behind messages in vain MUST be answered with 19 and its offset.",
        topic(), *fill(2), visible(2), waiting(2, hold=1000),
        Expect((nothing(19, "OFFSET_OVERFLOW_ONE", 2),), "reader", LIMIT),
    ),
    case("hold/12", TIMEOUT, "A pull for a tag that got only messages with others MUST be answered "
        "with 20 and the offset behind them.",
        topic(), waiting(hold=2000, tags="T1"), silence(on="reader"),
        put("no", properties={"TAGS": "T0"}),
        Expect((nothing(20, "NO_MATCHED_MESSAGE", 1),), "reader", LIMIT),
    ),
    case("hold/13", HOLD, "The commit of a pull that waits MUST take effect on arrival.",
        topic(), *fill(2), visible(2),
        Send((Request(code=11, ext=pull_fields(2, hold=HELD) | {"sysFlag": "7",
            "commitOffset": "2"}),), "reader"),
        silence(on="reader"), ask(14, {"consumerGroup": "{group}", "topic": "{topic}",
            "queueId": "0"}, offset(2)),
    ),
    case("hold/14", HOLD, "A batch MUST wake a pull.",
        topic(), waiting(), silence(on="reader"), put("x", queue=0),
        Expect((Response(remark="FOUND", ext=Has({"nextBeginOffset": Number(least=1)}),
            body=Messages(bodies("x"))),), "reader", SOON),
    ),
    case("hold/15", HOLD, "A pull whose connection was closed MUST NOT disturb others.",
        topic(), waiting(on="gone"), silence(on="gone"), Close("gone"), waiting(),
        silence(on="reader"), put("x"), woken("x"), comes(*bodies("x")),
    ),
    case("hold/16", HOLD, "A pull that waits MAY be answered only once.",
        topic(), waiting(), silence(on="reader"), put("x"), woken("x"), put("y"),
        silence(on="reader"),
    ),
    case("hold/17", "PullMessageProcessor.processRequest @ 5.5.0",
        "A pull that may wait MUST be refused at once if its topic is unknown.",
        pull(0, refuses(17), hold=HELD),
    ),
    case("hold/18", "DelayLevel, ScheduleMessageService @ 5.5.0",
        "A message whose delay is over MUST wake a pull.",
        topic(), waiting(), put("late", properties={"DELAY": "1"}), silence(on="reader"),
        woken("late"),
    ),
    case("hold/19", HOLD, "A pull MUST be woken although another connection sends the message.",
        topic(), waiting(), silence(on="reader"), put("x", on="producer"), woken("x"),
    ),
    case("hold/20", TIMEOUT,
        "The time for which a pull waits MUST NOT be shorter than it asks for.",
        topic(), waiting(hold=1500), silence(1.2, on="reader"), Expect((nothing(19, ANY, 0),),
            "reader", LIMIT),
    ),
)  # fmt: skip
