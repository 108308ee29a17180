"""Requests that operators send to a client through its broker: 307, 309, 223, and 220 of a reset.

Java: ``AdminBrokerProcessor.callConsumer``, ``Broker2Client``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.messages import decode_body, decode_header, encode_body
from rocketwire.messages.callbacks import (
    ConsumeMessageDirectlyResultRequestHeader,
    GetConsumerRunningInfoRequestHeader,
    GetConsumerStatusBody,
    GetConsumerStatusRequestHeader,
)
from rocketwire.wire.message.ids import decode_offset_message_id
from rocketwire_broker.access.needs import SEES_GROUP, reads
from rocketwire_broker.handlers.requests import handles, require
from rocketwire_broker.state.response import LATER, RefusedError, Response

if TYPE_CHECKING:
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.members import Member, Peer


def _member(broker: Broker, group: str, client_id: str) -> Member:
    online = broker.members.online(group)
    member = None if online is None else online.find(client_id)
    if member is None:
        remark = f"The Consumer <{group}> <{client_id}> not online"
        raise RefusedError(ResponseCode.SYSTEM_ERROR, remark)
    return member


def relay(
    broker: Broker,
    request: RemotingCommand,
    asker: Peer,
    member: Member,
    group: str,
    ext_fields: Mapping[str, str],
    body: bytes,
    now: int,
) -> None:
    def on_answer(answer: RemotingCommand | None, now: int) -> None:
        if answer is None:
            remark = f"consumer <{group}> <{member.client_id}> Timeout: no answer"
            response = Response(ResponseCode.CONSUME_MSG_TIMEOUT, remark)
        else:
            parts = () if answer.body is None else (answer.body,)
            response = Response(answer.code, answer.remark, answer.ext_fields, parts)
        if not request.is_oneway:
            broker.answer(asker, request.opaque, response)

    broker.ask(member.peer, request.code, ext_fields, body, on_answer, now)


@handles(RequestCode.GET_CONSUMER_RUNNING_INFO, needs=reads(None, "consumerGroup"))
def get_running_info(
    broker: Broker, request: RemotingCommand, peer: Peer, now: int
) -> Response | None:
    header = decode_header(GetConsumerRunningInfoRequestHeader, request.ext_fields)
    group = require(header.consumer_group, "consumerGroup")
    member = _member(broker, group, require(header.client_id, "clientId"))
    relay(broker, request, peer, member, group, request.ext_fields or {}, b"", now)
    return LATER


@handles(RequestCode.CONSUME_MESSAGE_DIRECTLY)
def consume_directly(
    broker: Broker, request: RemotingCommand, peer: Peer, now: int
) -> Response | None:
    header = decode_header(ConsumeMessageDirectlyResultRequestHeader, request.ext_fields)
    group = require(header.consumer_group, "consumerGroup")
    member = _member(broker, group, header.client_id or "")
    offset = decode_offset_message_id(require(header.msg_id, "msgId")).commit_log_offset
    record = broker.store.record_at(offset)
    fields = {**(request.ext_fields or {}), "brokerName": broker.config.broker_name}
    config = broker.groups.get(group)
    fields["groupSysFlag"] = str(0 if config is None else config.group_sys_flag)
    relay(broker, request, peer, member, group, fields, record or b"", now)
    return LATER


@handles(RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS, needs=SEES_GROUP)
def get_consumer_status(
    broker: Broker, request: RemotingCommand, peer: Peer, now: int
) -> Response | None:
    """223: ask the members of a group for their offsets of a topic (221)."""
    header = decode_header(GetConsumerStatusRequestHeader, request.ext_fields)
    topic, group = require(header.topic, "topic"), require(header.group, "group")
    online = broker.members.online(group)
    if online is None:
        remark = f"No Any Consumer online in the consumer group: [{group}]"
        return Response(ResponseCode.SYSTEM_ERROR, remark)
    client_id = header.client_addr or ""
    members = [item for item in online.members.values() if client_id in {"", item.client_id}]
    table: dict[str, Mapping[MessageQueue, int]] = {}
    unanswered = len(members)

    def finish() -> None:
        body = encode_body(GetConsumerStatusBody(consumer_table=table))
        broker.answer(peer, request.opaque, Response(body=(require(body, "body"),)))

    def ask(member: Member) -> None:
        def on_answer(answer: RemotingCommand | None, now: int) -> None:
            nonlocal unanswered
            unanswered -= 1
            if answer is not None and answer.code == ResponseCode.SUCCESS and answer.body:
                body = decode_body(GetConsumerStatusBody, answer.body)
                table[member.client_id] = (body and body.message_queue_table) or {}
            if not unanswered:
                finish()

        code = RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT
        broker.ask(member.peer, code, {"topic": topic, "group": group}, b"", on_answer, now)

    for member in members:
        ask(member)
    if not members:
        finish()
    return LATER
