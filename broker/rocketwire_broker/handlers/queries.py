"""Single messages: 12 by key, 33 by position, 321 the entries of a queue.

Java: ``QueryMessageProcessor``, ``AdminBrokerProcessor.queryConsumeQueue``.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Final

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.messages import decode_header, encode_body
from rocketwire.messages.message_const import REAL_TOPIC
from rocketwire.messages.queries import (
    ConsumeQueueData,
    QueryConsumeQueueRequestHeader,
    QueryConsumeQueueResponseBody,
)
from rocketwire_broker.access.accounts import Permission
from rocketwire_broker.access.needs import PUB_OR_SUB, reads
from rocketwire_broker.handlers.requests import check_permission, handles, integer, require, text
from rocketwire_broker.state.response import NOT_SET, Response
from rocketwire_broker.storage.filters import filter_of
from rocketwire_broker.storage.key_search import KeySearch
from rocketwire_broker.storage.message import read_stored

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.members import Peer

MAX_FOUND: Final = 64  # maximum messages of a query (Java: ``maxMsgsNumBatch``)
TAG_INDEX: Final = "T"


@handles(RequestCode.QUERY_MESSAGE, needs=reads("topic", None))
def query_message(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    """12: the newest messages with a key, in the order in which they were stored."""
    fields = request.ext_fields or {}
    topic, key = text(fields, "topic"), text(fields, "key")
    max_count = integer(fields, "maxNum")
    if fields.get("_UNIQUE_KEY_QUERY") == "true":
        max_count = broker.config.unique_key_hits
    begin, end = integer(fields, "beginTimestamp"), integer(fields, "endTimestamp")
    by_tag = fields.get("indexType") == TAG_INDEX
    broker.work += 1
    search = KeySearch(broker.store.queues(topic), key, begin, end, by_tag=by_tag)
    found = sorted(heapq.nlargest(max(0, min(max_count, MAX_FOUND)), search.hits))
    remark = "" if search.is_complete else "not all messages were searched"
    last = broker.store.last_stored if found else 0
    ext_fields = {
        "indexLastUpdateTimestamp": str(last),
        "indexLastUpdatePhyoffset": str(broker.store.next_physical if found else 0),
    }
    if not found:
        reason = remark or "maybe time range not correct"
        remark = f"can not find message, {reason}"
        return Response(ResponseCode.QUERY_NOT_FOUND, remark, ext_fields)
    return Response(
        remark=remark or None, ext_fields=ext_fields, body=[hit.record for hit in found]
    )


@handles(RequestCode.VIEW_MESSAGE_BY_ID, needs=reads("topic", None))
def view_message(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    offset = integer(request.ext_fields or {}, "offset")
    record = broker.store.record_at(offset)
    if record is None:
        remark = f"can not find message by the offset, {offset}"
        return Response(ResponseCode.SYSTEM_ERROR, remark)
    stored = read_stored(record)
    for topic in {stored.topic, (stored.properties or {}).get(REAL_TOPIC) or stored.topic}:
        check_permission(broker, request, peer, topic, Permission.SUB)
    return Response(body=(record,))


@handles(RequestCode.QUERY_CONSUME_QUEUE, needs=reads("topic", "consumerGroup", PUB_OR_SUB))
def query_consume_queue(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    header = decode_header(QueryConsumeQueueRequestHeader, request.ext_fields)
    name = require(header.topic, "topic")
    queue_text = f"{header.queue_id}@{name} is not exist!"
    queue = broker.store.queue(name, header.queue_id)
    if queue is None:
        return Response(ResponseCode.SYSTEM_ERROR, queue_text)
    if queue.record(header.index) is None:
        return Response(remark=f"Index {header.index} of {queue_text}")
    group = broker.members.online(header.consumer_group or "")
    subscription = None if group is None else group.subscriptions.get(name)
    message_filter = None if subscription is None else filter_of(subscription)
    data: list[ConsumeQueueData] = []
    limit = broker.config.max_filtered
    if message_filter is not None:
        limit = min(limit, message_filter.max_messages)
    records = queue.records(header.index, max(0, min(header.count, limit)))
    for offset, record in enumerate(records, header.index):
        code = queue.tag_code(offset)
        data.append(
            ConsumeQueueData(
                physic_offset=queue.physical(offset),
                physic_size=len(record),
                tags_code=code,
                eval=message_filter is not None and message_filter.passes(code, record),
            )
        )
    is_unknown = header.consumer_group is not None and subscription is None
    body = QueryConsumeQueueResponseBody(
        filter_data=f"{header.consumer_group}@{name} is not online!" if is_unknown else None,
        max_queue_index=queue.max_offset,
        min_queue_index=queue.min_offset,
        queue_data=tuple(data),
        subscription_data=subscription,
    )
    return Response(remark=NOT_SET, body=(require(encode_body(body), "body"),))
