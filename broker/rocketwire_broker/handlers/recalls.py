"""Recall of messages before their time of delivery: 370.

Java: ``RecallMessageProcessor``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.messages import decode_header
from rocketwire.messages.message_const import (
    BORN_TIMESTAMP,
    MSG_REGION,
    PRODUCER_GROUP,
    TAGS,
    TIMER_DEL_UNIQKEY,
    TIMER_DELIVER_MS,
    UNIQ_KEY,
)
from rocketwire.messages.send import RecallMessageRequestHeader
from rocketwire_broker.access.needs import sends_to
from rocketwire_broker.delayed.put_hooks import store_message
from rocketwire_broker.delayed.timers import parse_handle
from rocketwire_broker.handlers.fields import require
from rocketwire_broker.handlers.registry import handles
from rocketwire_broker.handlers.sends import REGION
from rocketwire_broker.state.response import RefusedError, Response
from rocketwire_broker.storage.message import Message

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.peer import Peer

_ILLEGAL: Final = ResponseCode.ILLEGAL_OPERATION
_REGION: Final = {MSG_REGION: REGION[MSG_REGION]}
_TAG: Final = "_RECALL_TAG_"


@handles(RequestCode.RECALL_MESSAGE, needs=sends_to("topic"))
def recall(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    """370: do not deliver a message that waits for its time; its unique key is the answer."""
    header = decode_header(RecallMessageRequestHeader, request.ext_fields)
    try:
        message = _recall(broker, header, peer, now)
        store_message(broker, message, now)
    except RefusedError as refused:
        return refused.response._replace(ext_fields=_REGION)
    return Response(ext_fields={**_REGION, "msgId": message.properties[UNIQ_KEY]})


def _recall(broker: Broker, header: RecallMessageRequestHeader, peer: Peer, now: int) -> Message:
    if not broker.config.recall_enabled:
        raise RefusedError(ResponseCode.NO_PERMISSION, "recall failed, operation is forbidden")
    topic = require(header.topic, "topic")
    if topic not in broker.topics:
        remark = f"recall failed, the topic[{topic}] not exist"
        raise RefusedError(ResponseCode.TOPIC_NOT_EXIST, remark)
    handle = parse_handle(header.recall_handle or "")
    if handle.topic != topic:
        raise RefusedError(_ILLEGAL, "recall failed, topic not match")
    if handle.broker_name != broker.config.broker_name:
        raise RefusedError(_ILLEGAL, "recall failed, broker service not available")
    time = handle.timestamp
    if time is None or not 0 < time - now < broker.config.timer_max_delay_ms:
        raise RefusedError(_ILLEGAL, "recall failed, timestamp invalid")
    return Message(
        topic=topic,
        queue_id=0,
        body=b"0",
        properties={
            TAGS: _TAG,
            TIMER_DEL_UNIQKEY: handle.unique_key,
            UNIQ_KEY: handle.unique_key,
            TIMER_DELIVER_MS: str(time),
            BORN_TIMESTAMP: str(now),
            PRODUCER_GROUP: header.producer_group or "",
        },
        born_host=peer.host,
        born_timestamp=now,
    )
