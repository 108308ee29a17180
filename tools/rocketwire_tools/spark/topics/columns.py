"""Columns of messages: those of RocketMQ, and those of spark-sql-kafka for jobs that move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

ROCKETMQ: Final[Mapping[str, str]] = {
    "topic": "string",
    "brokerName": "string",
    "queueId": "int",
    "queueOffset": "bigint",
    "body": "binary",
    "tags": "string",
    "keys": "array<string>",
    "properties": "map<string,string>",
    "bornTimestamp": "timestamp",
    "storeTimestamp": "timestamp",
    "msgId": "string",
    "reconsumeTimes": "int",
    "bornHost": "string",
}
"""Name of a column → its SQL type."""

KAFKA: Final[Mapping[str, str]] = {
    "key": "binary",
    "value": "binary",
    "topic": "string",
    "partition": "int",
    "offset": "bigint",
    "timestamp": "timestamp",
    "timestampType": "int",
    "headers": "array<struct<key:string,value:binary>>",
}
"""The same with ``columns=kafka``."""

FORMS: Final[Mapping[str, Mapping[str, str]]] = {"rocketmq": ROCKETMQ, "kafka": KAFKA}
"""Value of option ``columns`` → its columns; any other value is a list of RocketMQ's."""


def columns_of(chosen: str) -> dict[str, str]:
    """Names and SQL types of the columns of option ``columns``.

    Args:
        chosen: ``rocketmq``, ``kafka``, or names of RocketMQ's columns with commas between them.
    """
    if chosen in FORMS:
        return dict(FORMS[chosen])
    names = [name.strip() for name in chosen.split(",") if name.strip()]
    unknown = [name for name in names if name not in ROCKETMQ]
    if unknown or not names or len(set(names)) < len(names):
        wrong = f"no column {unknown[0]!r}" if unknown else f"{chosen!r} is not a list of columns"
        raise ValueError(f"{wrong}; use rocketmq, kafka, or some of {', '.join(ROCKETMQ)}")
    return {name: ROCKETMQ[name] for name in names}
