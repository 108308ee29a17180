"""Queries by key and by id: codes 12 and 33."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire_tools.conformance.broker_cases.common import POSITION as SAVED
from rocketwire_tools.conformance.broker_cases.common import (
    ask,
    case,
    comes,
    put,
    refuses,
    topic,
    until,
    with_body,
)
from rocketwire_tools.conformance.model.outcomes import ANY, Has, Messages, Response

if TYPE_CHECKING:
    from rocketwire_tools.conformance.model.steps import Step, Until

QUERY: Final = "QueryMessageProcessor.queryMessage, IndexService.queryOffset @ 5.5.0"
VIEW: Final = "QueryMessageProcessor.viewMessageById @ 5.5.0"
FIVE: Final[tuple[Step, ...]] = (
    topic(),
    *(
        put(str(number), properties={"KEYS": f"k{number} all", "UNIQ_KEY": f"{{client}}U{number}"})
        for number in range(5)
    ),
)


def fields(key: str, count: int = 32, **changes: str) -> dict[str, str]:
    """The ext fields of 12."""
    return {
        "topic": "{topic}",
        "key": key,
        "maxNum": str(count),
        "beginTimestamp": "0",
        "endTimestamp": str(2**62),
    } | changes


def finds(key: str, *texts: str, count: int = 32, **changes: str) -> Until:
    """The index has these messages, soon."""
    body = Messages(tuple(with_body(text) for text in texts))
    return until(12, fields(key, count, **changes), Response(remark=ANY, body=body), within=20.0)


CASES = (
    case("12/1", QUERY, "A query by a key MUST find the messages that have this word in KEYS.",
        *FIVE, finds("k2", "2")),
    case("12/2", QUERY, "A query by a key of many messages MUST find them in the order of storing.",
        *FIVE, finds("all", "0", "1", "2", "3", "4")),
    case("12/3", QUERY, "A query MUST find the newest messages if there are more than it asks for.",
        *FIVE, finds("all", "3", "4", count=2)),
    case("12/4", QUERY, "A query by a unique key MUST find the message.", *FIVE,
        finds("{client}U3", "3")),
    case("12/5", QUERY, "A query by a key that no message has MUST be answered with 22.",
        *FIVE, ask(12, fields("none"),
            refuses(22, "can not find message, maybe time range not correct", ANY)),
    ),
    case("12/6", QUERY, "A query in another topic MUST NOT find the messages.",
        *FIVE, topic("{topicB}"), finds("k1", "1"), ask(12, fields("k1", topic="{topicB}"),
            refuses(22, ANY, ANY)),
    ),
    case("12/7", QUERY, "A query for an earlier time MUST NOT find the messages.",
        *FIVE, finds("k1", "1"), ask(12, fields("k1", endTimestamp="1000"), refuses(22, ANY, ANY)),
    ),
    case("12/8", QUERY, "A query for a later time MUST NOT find the messages.",
        *FIVE, finds("k1", "1"), ask(12, fields("k1", beginTimestamp="{=now+3600000}"),
            refuses(22, ANY, ANY)),
    ),
    case("12/9", QUERY, "The response to a query MUST have the fields of the index's last update.",
        *FIVE, until(12, fields("k4"), Response(remark=ANY, body=Messages((with_body("4"),)),
            ext=Has({"indexLastUpdateTimestamp": ANY, "indexLastUpdatePhyoffset": ANY}))),
    ),
    case("12/10", "IndexService.buildIndex @ 5.5.0",
        "The items of KEYS MUST be separated by single blanks.",
        topic(), put("a", properties={"KEYS": "one two"}), finds("two", "a"),
        ask(12, fields("one two"), refuses(22, ANY, ANY)),
    ),
    case("12/11", QUERY, "A query without a time range MUST be answered with 1.",
        ask(12, {"topic": "{topic}", "key": "k"}, refuses(1)),
    ),
    case("12/12", "QueryMessageProcessor.queryMessage, _UNIQUE_KEY_QUERY @ 5.5.0",
        "A query marked as one by a unique key MUST find the message.",
        *FIVE, finds("{client}U1", "1", count=1, _UNIQUE_KEY_QUERY="true"),
    ),
    case("33/1", VIEW, "A message MUST be found by its position.",
        topic(), put("a", save=SAVED), until(33, {"offset": "{=position}"},
            Response(remark=ANY, ext=ANY,
            body=Messages((with_body("a", topic="{topic}", queueId=0),)))),
    ),
    case("33/2", VIEW, "A position at which no message begins MUST be answered with 1.",
        topic(), put("a" * 200, save=SAVED), until(33, {"offset": "{=position}"},
            Response(remark=ANY, ext=ANY, body=ANY)),
        ask(33, {"offset": "{=position+1}"}, refuses(1)),
    ),
    case("33/3", VIEW, "A position beyond the end MUST be answered with 1.",
        ask(33, {"offset": str(1 << 40)},
            refuses(1, f"can not find message by the offset, {1 << 40}")),
    ),
    case("33/4", VIEW, "A message MUST be found by its position as it is found in its queue.",
        topic(), put("a", properties={"own": "1"}, save=SAVED),
        comes(with_body("a"), save={"stored": "message.0.storeTimestamp"}),
        ask(33, {"offset": "{=position}"},
            Response(remark=ANY, ext=ANY,
            body=Messages((Has({"properties": Has({"own": "1"}), "queueOffset": 0}),)))),
    ),
    case("33/5", VIEW, "A view without a position MUST be answered with 1.",
        ask(33, {}, refuses(1))),
)  # fmt: skip
