"""Clients and their groups: 34, 35, 38, 46, 203, 204 and 328; the broker sends 40.

Java: ``ClientManageProcessor``, ``ConsumerManageProcessor``, ``AdminBrokerProcessor``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import IllegalValueError
from rocketwire.messages import connections as bodies
from rocketwire.messages import decode_header
from rocketwire.messages.heartbeat import (
    CheckClientRequestBody,
    ConsumerData,
    HeartbeatData,
    UnregisterClientRequestHeader,
)
from rocketwire.policy.resource_names import RETRY_PREFIX
from rocketwire_broker.access.needs import reads, reads_names, without_retries
from rocketwire_broker.handlers.requests import body_of, handles, text, with_body
from rocketwire_broker.state.response import SUCCESS, Response
from rocketwire_broker.storage.filters import TAG, compile_condition
from rocketwire_broker.tables.members import Member

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.members import Peer

MAX_HEARTBEAT: Final = 1 << 20  # bytes of a heartbeat: some thousands of subscriptions
_BYTES_OF_A_TURN: Final = 65_536


def _names_of(data: HeartbeatData) -> Iterator[tuple[str | None, list[str | None]]]:
    for consumer in data.consumer_data_set or ():
        topics = (item.topic for item in consumer.subscription_data_set or ())
        yield consumer.group_name, without_retries(topics)


@handles(RequestCode.HEART_BEAT, needs=reads_names(HeartbeatData, _names_of))
def heartbeat(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    size = len(request.body or b"")
    if size > MAX_HEARTBEAT:
        text = f"a heartbeat of {size} bytes, this broker reads {MAX_HEARTBEAT}"
        return Response(ResponseCode.SYSTEM_ERROR, text)
    members = broker.members
    broker.work += (size + len(members.consumers) + len(members.producers)) / _BYTES_OF_A_TURN
    data = body_of(request, HeartbeatData)
    client_id = data.client_id or ""
    member = Member(peer, client_id, request.language, request.version, now)
    fingerprint = data.heartbeat_fingerprint
    fingerprints = broker.members.fingerprints
    if data.is_without_sub:
        if fingerprint and fingerprints.get(peer.number) == fingerprint:
            broker.members.touch(member)
            return _heartbeat_response(is_changed=False)
        return _heartbeat_response(is_changed=True)
    changed = [
        consumer.group_name or ""
        for consumer in data.consumer_data_set or ()
        if _consume(broker, consumer, member, now)
    ]
    for producer in data.producer_data_set or ():
        broker.members.produce(producer.group_name or "", member)
    for group in changed:
        broker.notify_members(group, now)
    if fingerprint:
        fingerprints[peer.number] = fingerprint
    return _heartbeat_response(is_changed=True)


def _heartbeat_response(*, is_changed: bool) -> Response:
    changed = "true" if is_changed else "false"
    return Response(ext_fields={"IS_SUPPORT_HEART_BEAT_V2": "true", "IS_SUB_CHANGE": changed})


def _consume(broker: Broker, data: ConsumerData, member: Member, now: int) -> bool:
    name = data.group_name or ""
    group = broker.groups.find_or_create(name, now)
    if group is None:
        return False
    topics = [broker.topics.get(item.topic or "") for item in data.subscription_data_set or ()]
    broker.topics.create_for_group(
        f"{RETRY_PREFIX}{name}",
        group.retry_queue_nums,
        now,
        order=any(topic is not None and topic.order for topic in topics),
    )
    return broker.members.join(data, member)


@handles(RequestCode.UNREGISTER_CLIENT, needs=reads(None, "consumerGroup"))
def unregister(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    header = decode_header(UnregisterClientRequestHeader, request.ext_fields)
    if broker.members.leave(peer.number, header.consumer_group, header.producer_group):
        broker.notify_members(header.consumer_group or "", now)
    return Response(ext_fields={})


@handles(RequestCode.GET_CONSUMER_LIST_BY_GROUP, needs=reads(None, "consumerGroup"))
def get_consumer_list(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    name = text(request.ext_fields or {}, "consumerGroup")
    group = broker.members.online(name)
    if group is None:
        return Response(ResponseCode.SYSTEM_ERROR, f"no consumer for this group, {name}", {})
    body = bodies.GetConsumerListByGroupResponseBody(consumer_id_list=tuple(group.client_ids()))
    return with_body(body)._replace(ext_fields={})


def _names_of_check(body: CheckClientRequestBody) -> list[tuple[str | None, list[str | None]]]:
    data = body.subscription_data
    return [(body.group, [] if data is None else [data.topic])]


@handles(
    RequestCode.CHECK_CLIENT_CONFIG, needs=reads_names(CheckClientRequestBody, _names_of_check)
)
def check_client_config(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    data = body_of(request, CheckClientRequestBody).subscription_data
    kind = (None if data is None else data.expression_type) or TAG
    if data is None or kind == TAG:
        return SUCCESS
    if not broker.config.property_filter:
        remark = f"The broker does not support consumer to filter message by {kind}"
        return Response(ResponseCode.SYSTEM_ERROR, remark)
    try:
        compile_condition(kind, data.sub_string or "")
    except IllegalValueError as error:
        return Response(ResponseCode.SUBSCRIPTION_PARSE_FAILED, str(error))
    return SUCCESS


@handles(RequestCode.GET_CONSUMER_CONNECTION_LIST, needs=reads(None, "consumerGroup"))
def get_consumer_connections(
    broker: Broker, request: RemotingCommand, peer: Peer, now: int
) -> Response:
    name = text(request.ext_fields or {}, "consumerGroup")
    group = broker.members.online(name)
    if group is None:
        remark = f"the consumer group[{name}] not online"
        return Response(ResponseCode.CONSUMER_NOT_ONLINE, remark)
    body = bodies.ConsumerConnection(
        connection_set=_connections(group.members.values()),
        consume_from_where=_any(group.consume_from_where),
        consume_type=_any(group.consume_type),
        message_model=_any(group.message_model),
        subscription_table=dict(group.subscriptions),
    )
    return with_body(body)


@handles(RequestCode.GET_PRODUCER_CONNECTION_LIST)
def get_producer_connections(
    broker: Broker, request: RemotingCommand, peer: Peer, now: int
) -> Response:
    name = text(request.ext_fields or {}, "producerGroup")
    members = broker.members.producers_of(name)
    if not members:
        return Response(ResponseCode.SYSTEM_ERROR, f"the producer group[{name}] not exist")
    return with_body(bodies.ProducerConnection(connection_set=_connections(members.values())))


@handles(RequestCode.GET_ALL_PRODUCER_INFO)
def get_all_producers(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    data = {
        group: tuple(
            bodies.ProducerInfo(
                client_id=member.client_id,
                language=_any(member.language),
                last_update_timestamp=member.heard,
                remote_ip=f"/{member.peer.address}",
                version=member.version,
            )
            for member in members.values()
        )
        for group, members in broker.members.producers.items()
    }
    return with_body(bodies.ProducerTableInfo(data=data))


def _connections(members: Iterable[Member]) -> tuple[bodies.Connection, ...]:
    return tuple(
        bodies.Connection(
            client_addr=member.peer.address,
            client_id=member.client_id,
            language=_any(member.language),
            version=member.version,
        )
        for member in members
    )


def _any(value: object) -> Any:
    return value
