"""Reads ranges in a worker: pulls go on in trio's thread while this one decodes."""

from __future__ import annotations

import gc
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire.policy.routing import MOCK_BROKER_PREFIX
from rocketwire.portal.portal import Resource
from rocketwire_tools.spark.topics import loss
from rocketwire_tools.spark.topics.connection import session_of
from rocketwire_tools.spark.topics.offsets import routing_topic
from rocketwire_tools.spark.topics.pulling import open_pull
from rocketwire_tools.spark.topics.rows import batch_of, read_chunk, with_tags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire.client import ClientInstance
    from rocketwire.messages.route import TopicRouteData
    from rocketwire_tools.spark.topics.connection import Connection
    from rocketwire_tools.spark.topics.offsets import QueueRange
    from rocketwire_tools.spark.topics.options import PullSettings
    from rocketwire_tools.spark.topics.pulling import RangePull
    from rocketwire_tools.spark.topics.ranges import Chunk
    from rocketwire_tools.store.engine.columns import Int64s

_SPARED_COLLECTIONS: Final = 200_000
_CLOSING: Final = 5.0


def read_range(
    connection: Connection,  # how to reach the cluster
    queue_range: QueueRange,  # the range
    settings: PullSettings,  # how it is pulled
    schema: Any,  # names and types of the columns
    # that of the driver, for a worker that has none while no name server answers
    route: TopicRouteData | None = None,
) -> Iterator[Any]:
    gc.set_threshold(_SPARED_COLLECTIONS, 50, 1000)
    session = session_of(connection)
    if route is not None:
        session.call(_learn_route, routing_topic(queue_range.topic, queue_range.broker), route)
    tags = frozenset(tag.strip() for tag in settings.tags.split("||") if tag.strip())
    has_tags = bool(tags) and tags != frozenset("*")
    has_bodies = not {"body", "value"}.isdisjoint(schema.names)
    shown = replace(queue_range, topic=connection.strip_namespace(queue_range.topic))
    pulls: Resource[RangePull] = Resource(lambda: open_pull(session.client, queue_range, settings))
    portal = pulls.begin()
    try:
        pull = portal.call(pulls.open)
        while (chunk := portal.call(pull.next_chunk)) is not None:
            offsets: list[Int64s] = []
            for selected in read_chunk(
                chunk, queue_range, has_bodies=has_bodies, fails=settings.fails_on_loss
            ):
                offsets.append(selected.offsets)
                if has_tags:
                    selected = with_tags(selected, tags)
                if len(selected.rows):
                    batch = batch_of(replace(selected, queue_range=shown), schema)
                    del selected  # with its bodies, before others are decompressed
                    yield batch
                    del batch
            if not settings.is_filtered and not queue_range.broker.startswith(MOCK_BROKER_PREFIX):
                _check_count(session.client, portal, chunk, queue_range, offsets, settings)
    finally:
        pulls.close_soon()
        pulls.wait_closed(_CLOSING)


async def _learn_route(client: ClientInstance, topic: str, route: TopicRouteData) -> None:
    if client.routes.get(topic) is None:
        client.set_route(topic, route)


def _check_count(
    client: ClientInstance,
    portal: Any,
    chunk: Chunk,
    queue_range: QueueRange,
    offsets: list[Int64s],
    settings: PullSettings,
) -> None:
    """Report offsets without a message, unless the topic keeps the last message of a key only."""
    missing = chunk.end - chunk.begin - chunk.lost - sum(map(len, offsets))
    if missing <= 0:
        return
    from rocketwire_tools.spark.topics.cluster import is_compacted

    if portal.call(is_compacted, client, queue_range.topic, queue_range.broker):
        return
    begin, end = chunk.begin, chunk.end
    present = np.concatenate([*offsets, np.empty(0, np.int64)])
    if not chunk.lost and len(present):
        steps = present[1:] - present[:-1]
        if present[0] > begin:
            end = int(present[0])
        elif (steps > 1).any():
            first = int((steps > 1).argmax())
            begin, end = int(present[first]) + 1, int(present[first + 1])
        else:
            begin = int(present[-1]) + 1
    lost = loss.Loss(*queue_range.queue, begin, end, loss.REMOVED)
    loss.report_loss(lost, fails=settings.fails_on_loss)
