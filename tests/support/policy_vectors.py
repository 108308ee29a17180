"""The vectors of Java's decisions, and the values that they are written with."""

from collections.abc import Callable, Iterable
from typing import Any

from rocketwire.messages.message_queue import MessageQueue
from tests.support.vectors import JavaVector, vectors


def decisions(sheet: str, *operations: str) -> list[JavaVector]:
    return [vector for vector in vectors(f"policy/{sheet}") if vector["op"] in operations]


def unlike(answer: Callable[[JavaVector], object], vectors: Iterable[JavaVector]) -> list[str]:
    """Every vector that has another answer here; one test for many that are alike."""
    return [
        f"{vector}: Java {vector['value']!r}, ours {ours!r}"
        for vector in vectors
        if (ours := answer(vector)) != vector["value"]
    ]


def queues(rows: Iterable[list[Any]]) -> list[MessageQueue]:
    return [MessageQueue(topic=row[0], broker_name=row[1], queue_id=row[2]) for row in rows]


def rows(queues: Iterable[MessageQueue]) -> list[list[Any]]:
    return [[queue.topic, queue.broker_name, queue.queue_id] for queue in queues]
