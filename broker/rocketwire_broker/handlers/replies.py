"""Replies of request-reply: 324 and 325; the broker passes them to the requester with 326.

Java: ``ReplyMessageProcessor``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.messages.message_const import PUSH_REPLY_TIME, REPLY_TO_CLIENT
from rocketwire.wire.message.properties import decode_properties, encode_properties
from rocketwire_broker.access.needs import sends_to
from rocketwire_broker.delayed.put_hooks import store_message
from rocketwire_broker.handlers.fields import text
from rocketwire_broker.handlers.registry import handles
from rocketwire_broker.handlers.sends import REGION, choose_queue, find_topic, read_send
from rocketwire_broker.state.response import LATER, RefusedError, Response
from rocketwire_broker.storage.message import Message

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.handlers.sends import SendFields
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.peer import Peer

_ERROR: Final = ResponseCode.SYSTEM_ERROR


@handles(RequestCode.SEND_REPLY_MESSAGE, needs=sends_to("topic"))
@handles(RequestCode.SEND_REPLY_MESSAGE_V2, needs=sends_to("b"))
def reply(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response | None:
    """324 and 325: pass a reply to the client that asked, and answer whether it took it."""
    header = read_send(request)
    group = text(request.ext_fields or {}, "a" if request.code == V2 else "producerGroup")
    try:
        queue_id = choose_queue(broker, header, find_topic(broker, header, peer, now), peer)
    except RefusedError as refused:
        return refused.response._replace(ext_fields=REGION)
    message = Message(
        topic=header.topic,
        queue_id=queue_id,
        body=request.body,
        properties={**decode_properties(header.properties), **REGION},
        born_host=peer.host,
        flag=header.flag,
        born_timestamp=header.born_timestamp,
        reconsume_times=header.reconsume_times,
    )
    client_id = message.properties.get(REPLY_TO_CLIENT)
    if client_id is None:
        problem = f"reply message properties[{REPLY_TO_CLIENT}] is null"
        return _finish(broker, message, problem, now)
    requester = broker.members.producer(client_id)
    if requester is None:
        problem = f"push reply message fail, channel of <{client_id}> not found."
        return _finish(broker, message, problem, now)

    def on_answer(answer: RemotingCommand | None, now: int) -> None:
        taken = answer is not None and answer.code == ResponseCode.SUCCESS
        problem = None if taken else f"push reply message to {client_id}fail."
        response = _finish(broker, message, problem, now)
        if not request.is_oneway:
            broker.answer(peer, request.opaque, response)

    fields = _fields(broker, header, group, message, peer, now)
    code = RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT
    broker.ask(requester.peer, code, fields, request.body or b"", on_answer, now)
    return LATER


def _fields(
    broker: Broker, header: SendFields, group: str, message: Message, peer: Peer, now: int
) -> dict[str, str]:
    return {
        "bornHost": peer.address,
        "bornTimestamp": str(header.born_timestamp),
        "defaultTopic": header.default_topic,
        "defaultTopicQueueNums": str(header.default_topic_queues),
        "flag": str(header.flag),
        "producerGroup": group,
        "properties": encode_properties({PUSH_REPLY_TIME: str(now), **message.properties}),
        "queueId": str(header.queue_id),
        "reconsumeTimes": str(header.reconsume_times),
        "storeHost": broker.address,
        "storeTimestamp": str(now),
        "sysFlag": str(header.sys_flag),
        "topic": header.topic,
        "unitMode": str(header.unit_mode).lower(),
    }


def _finish(broker: Broker, message: Message, problem: str | None, now: int) -> Response:
    fields = {**REGION, "msgId": "0", "queueId": str(message.queue_id), "queueOffset": "0"}
    if broker.config.store_replies:
        position = store_message(broker, message, now)
        fields["msgId"] = broker.message_id(position.physical_offset)
        fields["queueOffset"] = str(position.queue_offset)
    code = ResponseCode.SUCCESS if problem is None else _ERROR
    return Response(code, problem, fields)


V2: Final = RequestCode.SEND_REPLY_MESSAGE_V2
