"""Acknowledging messages of lite topics (200051), and hiding them for another time (200053).

Java: ``AckMessageProcessor.ackLite``,
``ChangeInvisibleTimeProcessor.processChangeInvisibleTimeForLite``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.codes import ResponseCode
from rocketwire.policy.pop_handle import parse_pop_handle
from rocketwire.policy.resource_names import lite_queue
from rocketwire_broker.handlers.fields import required
from rocketwire_broker.handlers.pops.taking import ORDERED_REVIVE_QUEUE
from rocketwire_broker.state.lite import BIND_TOPIC
from rocketwire_broker.state.response import NOT_SET, SUCCESS, RefusedError, Response
from rocketwire_broker.tables.pop_orders import UNKNOWN

if TYPE_CHECKING:
    from rocketwire.messages.pop import AckMessageRequestHeader, ChangeInvisibleTimeRequestHeader
    from rocketwire_broker.state.broker import Broker

_NO_FIELDS: Final = {"popTime": "0", "invisibleTime": "0", "reviveQid": "0"}


def acknowledge(broker: Broker, header: AckMessageRequestHeader, now: int) -> Response:
    """Acknowledge a message of a lite topic (200051 with its name)."""
    parent, group = header.topic or "", header.consumer_group or ""
    config = broker.groups.find_or_create(group, now)
    if config is None or (config.attributes or {}).get(BIND_TOPIC) != parent:
        remark = "group type or bind topic not match."
        raise RefusedError(ResponseCode.INVALID_PARAMETER, remark)
    name = lite_queue(parent, header.lite_topic or "")
    offset = header.offset or 0
    if offset > broker.store.max_offset(name, 0):
        raise RefusedError(ResponseCode.NO_MESSAGE, "ack offset illegal.")
    handle = parse_pop_handle(required(header.extra_info, "extraInfo"))
    if header.queue_id != 0 or handle.revive_queue_id != ORDERED_REVIVE_QUEUE:
        raise RefusedError(ResponseCode.INVALID_PARAMETER, "ack queue illegal.")
    committed = broker.offsets.get(group, name, 0)
    if committed is not None and offset < committed:
        return SUCCESS
    place = (group, name, 0)
    following = broker.pop_orders.acknowledge(place, offset, handle.pop_time)
    if following == UNKNOWN:
        raise RefusedError(ResponseCode.MESSAGE_ILLEGAL, "ack offset illegal.")
    if following >= 0:
        if broker.offsets.pending_reset(group, name, 0) is None:
            broker.offsets.commit(group, name, 0, following, now)
        if not broker.pop_orders.is_blocked(place, None, now):
            broker.lite.dispatch(name, group, now)
    return SUCCESS


def change_invisible_time(
    broker: Broker, header: ChangeInvisibleTimeRequestHeader, now: int
) -> Response:
    """Hide a message of a lite topic for another time (200053 with its name).

    With ``suspend`` all messages of the pop are hidden, and the delivery is not counted.
    """
    group = header.consumer_group or ""
    name = lite_queue(header.topic or "", header.lite_topic or "")
    offset = header.offset or 0
    if offset > broker.store.max_offset(name, 0):
        return Response(ResponseCode.NO_MESSAGE, NOT_SET, _NO_FIELDS)
    handle = parse_pop_handle(required(header.extra_info, "extraInfo"))
    committed = broker.offsets.get(group, name, 0)
    if committed is not None and offset < committed:
        return Response(remark=NOT_SET, ext_fields=_NO_FIELDS)
    due = now + required(header.invisible_time, "invisibleTime")
    place = (group, name, 0)
    if header.suspend:
        broker.pop_orders.suspend(place, handle.pop_time, due)
    else:
        broker.pop_orders.change_time(place, offset, handle.pop_time, due)
    broker.lite.dispatch_at(name, group, due)
    return Response(
        remark=NOT_SET,
        ext_fields={
            "popTime": str(handle.pop_time),
            "invisibleTime": str(due - handle.pop_time),
            "reviveQid": str(handle.revive_queue_id),
        },
    )
