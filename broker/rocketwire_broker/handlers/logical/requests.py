"""Requests about logical queues: they go on with a section's queue, here or at another broker.

A request of another broker has ``lo=false`` and is about a queue of this one.

Java: ``rewriteRequestForStaticTopic`` of several processors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import RocketWireError
from rocketwire_broker.handlers.fields import integer
from rocketwire_broker.handlers.logical.pulls import pull
from rocketwire_broker.handlers.logical.queues import (
    END,
    LogicalQueue,
    logical,
    logical_or_unknown,
    physical,
)
from rocketwire_broker.handlers.logical.reply import Reply, ask
from rocketwire_broker.state.response import RefusedError, Response

if TYPE_CHECKING:
    from rocketwire.messages.static_topics import LogicQueueMappingItem
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.handlers.fields import Handler
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.peer import Peer

Logical = Callable[["Handler", "LogicalQueue", "Reply"], None]
"""Answers a request about a logical queue with a handler for queues of brokers."""


def with_logical_queues(handlers: Mapping[int, Handler]) -> dict[int, Handler]:
    """Return handlers that know logical queues, beside those that need not know them."""
    return {
        code: _logical(handler, LOGICAL[code]) if code in LOGICAL else handler
        for code, handler in handlers.items()
    }


def _logical(handler: Handler, answer: Logical) -> Handler:
    def handle(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response | None:
        if not len(broker.mappings):
            return handler(broker, request, peer, now)
        fields = request.ext_fields or {}
        topic_field, queue_field = ("b", "e") if request.code in _SHORT else ("topic", "queueId")
        topic = fields.get(topic_field, "")
        detail = broker.mappings.get(topic)
        if detail is None or fields.get("lo") == "false" or queue_field not in fields:
            return handler(broker, request, peer, now)
        number = integer(fields, queue_field)
        queues = detail.hosted_queues or {}
        if number < 0 and request.code in _SENDS:
            number = next(iter(queues), number)
        queue = LogicalQueue(topic, number, broker.config.broker_name, queues.get(number) or ())
        reply = Reply(broker, request, peer, now)
        try:
            answer(handler, queue, reply)
        except RefusedError as refused:
            reply(refused.response)
        except RocketWireError as error:
            reply(Response(ResponseCode.SYSTEM_ERROR, str(error)))
        return reply.now_or_later()

    return handle


_SENDS: Final = (
    RequestCode.SEND_MESSAGE,
    RequestCode.SEND_MESSAGE_V2,
    RequestCode.SEND_BATCH_MESSAGE,
)
_SHORT: Final = _SENDS[1:]
_NOT_LEADER: Final = "{queue} is not leader in broker {broker}, request code 31"


def _send(handler: Handler, queue: LogicalQueue, reply: Reply) -> None:
    """10, 310 and 320: store a message in the leader's queue."""
    item = queue.leader()
    field = "e" if reply.request.code in _SHORT else "queueId"
    response = reply.here(handler, {field: str(item.queue_id)})
    if response is not None and response.code == ResponseCode.SUCCESS:
        fields = dict(response.ext_fields or {})
        offset = logical_or_unknown(item, integer(fields, "queueOffset", 0))
        fields |= {"queueId": str(queue.number), "queueOffset": str(offset)}
        response = response._replace(ext_fields=fields)
    if response is not None:
        reply(response)


# ---------------------------------------------------------------------------- offsets


def _max_offset(handler: Handler, queue: LogicalQueue, reply: Reply) -> None:
    """30: the end of the last section whose offset is known."""
    queue.leader()
    item = queue.item_at(END)
    ask(handler, item, reply, {}, lambda response: reply(_converted(response, item)))


def _min_offset(handler: Handler, queue: LogicalQueue, reply: Reply) -> None:
    """31: the first offset of the first section."""
    queue.leader(_NOT_LEADER)
    item = queue.item_at(0)

    def go_on(response: Response) -> None:
        is_success = response.code == ResponseCode.SUCCESS
        answer = _converted(response, item)
        reply(answer._replace(remark="") if is_success else answer)

    ask(handler, item, reply, {}, go_on)


def _converted(response: Response, item: LogicQueueMappingItem) -> Response:
    """Return an answer with a logical offset, or an error as it is."""
    fields = response.ext_fields or {}
    if response.code != ResponseCode.SUCCESS or "offset" not in fields:
        return response
    return Response(ext_fields={"offset": str(logical(item, integer(fields, "offset")))})


def _earliest_store_time(handler: Handler, queue: LogicalQueue, reply: Reply) -> None:
    """32: the store time of the first message of the first section."""
    queue.leader()
    ask(
        handler,
        queue.item_at(0),
        reply,
        {},
        lambda response: reply(response._replace(remark=response.remark or None)),
    )


def _search(handler: Handler, queue: LogicalQueue, reply: Reply) -> None:
    """29: the offset in the last section that has messages before this time.

    Java forgets what other brokers have answered if there are none in its own section.
    """
    queue.leader()
    items = iter(queue.decided())
    found = -1

    def next_item() -> None:
        item = next(items, None)
        if item is None:
            reply(Response(ext_fields={"offset": str(found)}))
        else:
            ask(handler, item, reply, {}, lambda response: go_on(item, response))

    def go_on(item: LogicQueueMappingItem, response: Response) -> None:
        nonlocal found
        if response.code != ResponseCode.SUCCESS:
            reply(response)
            return
        offset = integer(response.ext_fields or {}, "offset", -1)
        if offset > 0 or found < 0:
            found = logical(item, offset)
        next_item()

    next_item()


def _commit(handler: Handler, queue: LogicalQueue, reply: Reply) -> None:
    """15: commit an offset of the section that has it."""
    queue.leader()
    offset = integer(reply.fields, "commitOffset")
    item = queue.item_at(offset)
    ask(handler, item, reply, {"commitOffset": str(physical(item, offset))}, reply)


def _committed(handler: Handler, queue: LogicalQueue, reply: Reply) -> None:
    """14: the committed offset in the last section that has one."""
    leader = queue.leader()
    if len(queue.items) == 1 and not leader.logic_offset:
        ask(handler, leader, reply, {}, lambda answer: reply(_converted(answer, leader)))
        return
    items: Iterator[LogicQueueMappingItem] = reversed(queue.items)

    def next_item() -> None:
        item = next(items, None)
        if item is None:
            remark = "Not found, maybe this group consumer boot first"
            reply(Response(ResponseCode.QUERY_NOT_FOUND, remark, {}))
            return
        more = {"setZeroIfNotFound": "false"}
        ask(handler, item, reply, more, lambda response: go_on(item, response))

    def go_on(item: LogicQueueMappingItem, response: Response) -> None:
        if response.code == ResponseCode.QUERY_NOT_FOUND:
            next_item()
        else:
            reply(_converted(response, item))

    next_item()


LOGICAL: Final[Mapping[int, Logical]] = {
    **dict.fromkeys(_SENDS, _send),
    RequestCode.PULL_MESSAGE: pull,
    RequestCode.LITE_PULL_MESSAGE: pull,
    RequestCode.GET_MAX_OFFSET: _max_offset,
    RequestCode.GET_MIN_OFFSET: _min_offset,
    RequestCode.GET_EARLIEST_MSG_STORETIME: _earliest_store_time,
    RequestCode.SEARCH_OFFSET_BY_TIMESTAMP: _search,
    RequestCode.UPDATE_CONSUMER_OFFSET: _commit,
    RequestCode.QUERY_CONSUMER_OFFSET: _committed,
}
"""How requests about logical queues are answered, by their codes."""
