"""The handlers of the request codes: they change the state and return a response.

Rules of this file: a handler is ``(state, request, peer, now) -> Answer``, plain and synchronous;
``HANDLERS`` and ``STEPWISE`` name all of them.  Handlers decide codes and remarks, tables change,
views encode.  An invalid request raises ``DecodeError``; the session answers it
with code 1, as Java answers an exception.

Java: ``DefaultRequestProcessor``, ``ClientRequestProcessor``.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING, Final

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import DecodeError
from rocketwire.flags import Perm
from rocketwire.messages import decode_body, decode_header, encode_body, encode_header
from rocketwire.messages.kvconfig import (
    DeleteKVConfigRequestHeader,
    GetKVConfigRequestHeader,
    GetKVConfigResponseHeader,
    GetKVListByNamespaceRequestHeader,
    PutKVConfigRequestHeader,
)
from rocketwire.messages.registration import (
    BrokerHeartbeatRequestHeader,
    DataVersion,
    QueryDataVersionRequestHeader,
    QueryDataVersionResponseHeader,
    UnRegisterBrokerRequestHeader,
)
from rocketwire.messages.route import (
    AddWritePermOfBrokerRequestHeader,
    AddWritePermOfBrokerResponseHeader,
    DeleteTopicFromNamesrvRequestHeader,
    GetBrokerMemberGroupRequestHeader,
    GetTopicsByClusterRequestHeader,
    RegisterTopicRequestHeader,
    TopicRouteData,
    WipeWritePermOfBrokerRequestHeader,
    WipeWritePermOfBrokerResponseHeader,
)
from rocketwire.serving.java_properties import load_update
from rocketwire_namesrv.config.update_policy import UpdateRefusedError, changes_by
from rocketwire_namesrv.events import (
    ConfigUpdated,
    ConfigUpdateRefused,
    TopicDeleted,
    WritePermChanged,
)
from rocketwire_namesrv.protocol.admission import admit_item, admit_route
from rocketwire_namesrv.protocol.register_broker import register_broker
from rocketwire_namesrv.protocol.response import DISABLED as DISABLED
from rocketwire_namesrv.protocol.response import SUCCESS as SUCCESS
from rocketwire_namesrv.protocol.response import Peer as Peer
from rocketwire_namesrv.protocol.response import Response as Response
from rocketwire_namesrv.protocol.response import kv_table, no_route, require
from rocketwire_namesrv.protocol.route_fast_path import wants_standard_json, zone_of
from rocketwire_namesrv.routes.kv_config import ORDER_TOPIC_CONFIG

if TYPE_CHECKING:
    from rocketwire.serving.events import Event
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_namesrv.protocol.state import State

MAX_UPDATE: Final = 1024 * 1024
"""Maximum size of a configuration update (318) in bytes; Java limits only the frame."""

NOT_SET = "not set any response code"
"""The remark that Java's 901 leaves in a success."""


# ---------------------------------------- routes and brokers


def get_route_info_by_topic(
    state: State, request: RemotingCommand, peer: Peer, now: float
) -> Response:
    """105.  Read without a header object, because nearly all requests of a name server are of this
    kind."""
    if not state.is_ready(now):
        return Response(ResponseCode.SYSTEM_ERROR, "name server not ready")
    fields = request.ext_fields or {}
    topic = fields.get("topic")
    body = None if topic is None else _route(state, topic, request.version, fields)
    return no_route(topic) if body is None else Response(body=body)


def _route(state: State, topic: str, version: int, fields: Mapping[str, str]) -> bytes | None:
    order = state.kv.get(ORDER_TOPIC_CONFIG, topic) if state.config.order_message_enable else None
    zone = zone_of(fields)
    standard = wants_standard_json(version, fields)
    if zone is not None:
        return state.views.route_in_zone(topic, zone, order, standard=standard)
    return state.views.route(topic, standard=standard, order_topic_conf=order)


def get_broker_cluster_info(
    state: State, request: RemotingCommand, peer: Peer, now: float
) -> Response:
    return Response(body=state.views.cluster_info())


def get_broker_member_group(
    state: State, request: RemotingCommand, peer: Peer, now: float
) -> Response:
    """901. A success with a remark, as in Java."""
    header = decode_header(GetBrokerMemberGroupRequestHeader, request.ext_fields)
    body = state.views.member_group(header.cluster_name, header.broker_name)
    return Response(remark=NOT_SET, body=body)


def unregister_broker(state: State, request: RemotingCommand, peer: Peer, now: float) -> Response:
    """104.  Done before the answer; Java queues it."""
    header = decode_header(UnRegisterBrokerRequestHeader, request.ext_fields)
    if header.cluster_name is None or header.broker_addr is None or header.broker_name is None:
        return SUCCESS
    state.parts.remove_parts(header.cluster_name, header.broker_addr)
    events = state.table.unregister(
        header.cluster_name,
        header.broker_addr,
        header.broker_name,
        peer.connection_id,
        notify=state.config.notify_min_broker_id_changed,
    )
    return Response(events=tuple(events))


def query_data_version(state: State, request: RemotingCommand, peer: Peer, now: float) -> Response:
    """322. Also refreshes the broker."""
    header = decode_header(QueryDataVersionRequestHeader, request.ext_fields)
    requested = decode_body(DataVersion, request.body)
    cluster = require(header.cluster_name, "clusterName")
    address = require(header.broker_addr, "brokerAddr")
    registered = state.table.data_version(cluster, address)
    state.table.refresh(cluster, address, now)
    response = QueryDataVersionResponseHeader(changed=registered is None or registered != requested)
    return Response(
        ext_fields=encode_header(response),
        body=None if registered is None else encode_body(registered),
    )


def broker_heartbeat(state: State, request: RemotingCommand, peer: Peer, now: float) -> Response:
    header = decode_header(BrokerHeartbeatRequestHeader, request.ext_fields)
    cluster = require(header.cluster_name, "clusterName")
    state.table.refresh(cluster, require(header.broker_addr, "brokerAddr"), now)
    return SUCCESS


# ---------------------------------------- topics and permissions


def wipe_write_perm_of_broker(
    state: State, request: RemotingCommand, peer: Peer, now: float
) -> Response:
    header = decode_header(WipeWritePermOfBrokerRequestHeader, request.ext_fields)
    count, events = _change_perm(
        state, "wipe", header.broker_name, peer, lambda perm: perm & ~Perm.WRITE
    )
    response = WipeWritePermOfBrokerResponseHeader(wipe_topic_count=count)
    return Response(ext_fields=encode_header(response), events=events)


def add_write_perm_of_broker(
    state: State, request: RemotingCommand, peer: Peer, now: float
) -> Response:
    """327. Sets read and write, whatever the permission was before, as in Java."""
    header = decode_header(AddWritePermOfBrokerRequestHeader, request.ext_fields)
    count, events = _change_perm(
        state, "add", header.broker_name, peer, lambda _: int(Perm.READ | Perm.WRITE)
    )
    response = AddWritePermOfBrokerResponseHeader(add_topic_count=count)
    return Response(ext_fields=encode_header(response), events=events)


def _change_perm(
    state: State, action: str, broker_name: str | None, peer: Peer, perm: Callable[[int], int]
) -> tuple[int, tuple[Event, ...]]:
    count = 0 if broker_name is None else state.table.change_perm(broker_name, perm)
    return count, (
        WritePermChanged(action=action, broker_name=broker_name, client=peer.address, topics=count),
    )


def get_all_topic_list(state: State, request: RemotingCommand, peer: Peer, now: float) -> Response:
    return (
        Response(body=state.views.all_topics()) if state.config.enable_all_topic_list else DISABLED
    )


def delete_topic(state: State, request: RemotingCommand, peer: Peer, now: float) -> Response:
    header = decode_header(DeleteTopicFromNamesrvRequestHeader, request.ext_fields)
    topic, cluster = header.topic, header.cluster_name
    if topic is None or not state.table.delete_topic(topic, cluster):
        return SUCCESS
    return Response(events=(TopicDeleted(topic=topic, cluster=cluster),))


def register_topic(state: State, request: RemotingCommand, peer: Peer, now: float) -> Response:
    """217. A success even if nothing changed, as in Java."""
    header = decode_header(RegisterTopicRequestHeader, request.ext_fields)
    route = decode_body(TopicRouteData, request.body)
    if route is None or not route.queue_datas or header.topic is None:
        return SUCCESS
    admit_route(state.config, state.table, header.topic, route.queue_datas)
    events = state.table.register_topic(header.topic, route.queue_datas)
    return Response(events=tuple(events))


def get_topics_by_cluster(
    state: State, request: RemotingCommand, peer: Peer, now: float
) -> Response:
    header = decode_header(GetTopicsByClusterRequestHeader, request.ext_fields)
    return _topic_list(state, lambda: state.views.topics_of_cluster(header.cluster))


def get_system_topic_list(
    state: State, request: RemotingCommand, peer: Peer, now: float
) -> Response:
    return Response(body=state.views.system_topics())


def get_unit_topic_list(state: State, request: RemotingCommand, peer: Peer, now: float) -> Response:
    return _topic_list(state, state.views.unit_topics)


def get_has_unit_sub_topic_list(
    state: State, request: RemotingCommand, peer: Peer, now: float
) -> Response:
    return _topic_list(state, state.views.unit_sub_topics)


def get_has_unit_sub_ununit_topic_list(
    state: State, request: RemotingCommand, peer: Peer, now: float
) -> Response:
    return _topic_list(state, state.views.unit_sub_ununit_topics)


def _topic_list(state: State, view: Callable[[], bytes]) -> Response:
    return Response(body=view()) if state.config.enable_topic_list else DISABLED


# ---------------------------------------- key/value and configuration


def put_kv_config(state: State, request: RemotingCommand, peer: Peer, now: float) -> Response:
    header = decode_header(PutKVConfigRequestHeader, request.ext_fields)
    if header.namespace is None or header.key is None:
        return Response(ResponseCode.SYSTEM_ERROR, "namespace or key is null")
    admit_item(state.config, state.kv, header.namespace, header.key, header.value)
    events = state.kv.put(header.namespace, header.key, header.value)
    return Response(events=tuple(events), persist_kv=True)


def get_kv_config(state: State, request: RemotingCommand, peer: Peer, now: float) -> Response:
    header = decode_header(GetKVConfigRequestHeader, request.ext_fields)
    value = state.kv.get(header.namespace, header.key)
    fields = encode_header(GetKVConfigResponseHeader(value=value))
    if value is not None:
        return Response(ext_fields=fields)
    remark = f"No config item, Namespace: {_or_null(header.namespace)} Key: {_or_null(header.key)}"
    return Response(ResponseCode.QUERY_NOT_FOUND, remark, fields)


def delete_kv_config(state: State, request: RemotingCommand, peer: Peer, now: float) -> Response:
    """102.  Saved even when nothing was deleted, as in Java."""
    header = decode_header(DeleteKVConfigRequestHeader, request.ext_fields)
    events = state.kv.delete(header.namespace, header.key)
    return Response(events=tuple(events), persist_kv=True)


def get_kv_list_by_namespace(
    state: State, request: RemotingCommand, peer: Peer, now: float
) -> Response:
    header = decode_header(GetKVListByNamespaceRequestHeader, request.ext_fields)
    body = kv_table(state, header.namespace)
    if body is not None:
        return Response(body=body)
    remark = f"No config item, Namespace: {_or_null(header.namespace)}"
    return Response(ResponseCode.QUERY_NOT_FOUND, remark)


def update_namesrv_config(
    state: State, request: RemotingCommand, peer: Peer, now: float
) -> Response:
    """318. Refused unless the operator allows it; Java always allows it."""
    if not state.allow_config_update:
        return _refuse_update(peer, "Can not update config: this name server does not allow it.")
    if request.body is None:
        return SUCCESS
    if len(request.body) > MAX_UPDATE:
        return _refuse_update(peer, f"Can not update config: more than {MAX_UPDATE} bytes.")
    try:
        entries = load_update(request.body)
    except DecodeError as error:
        refusal = ConfigUpdateRefused(client=peer.address, reason=str(error))
        remark = "string2Properties error"
        return Response(ResponseCode.SYSTEM_ERROR, remark, events=(refusal,))
    try:
        config, changes = changes_by(state.config, entries)
    except UpdateRefusedError as refusal:
        return _refuse_update(peer, str(refusal))
    state.configure(config)
    updated = ConfigUpdated(client=peer.address, changes=tuple(map(str, changes)))
    return Response(events=(updated,), persist_config=True)


def _refuse_update(peer: Peer, remark: str) -> Response:
    refusal = ConfigUpdateRefused(client=peer.address, reason=remark)
    return Response(ResponseCode.NO_PERMISSION, remark, events=(refusal,))


def get_namesrv_config(state: State, request: RemotingCommand, peer: Peer, now: float) -> Response:
    return Response(body=state.config.text().encode("utf-8", "replace"))


def _or_null(text: str | None) -> str:
    return "null" if text is None else text


HANDLERS: Mapping[int, Callable[[State, RemotingCommand, Peer, float], Response]] = {
    RequestCode.PUT_KV_CONFIG: put_kv_config,
    RequestCode.GET_KV_CONFIG: get_kv_config,
    RequestCode.DELETE_KV_CONFIG: delete_kv_config,
    RequestCode.UNREGISTER_BROKER: unregister_broker,
    RequestCode.GET_ROUTEINFO_BY_TOPIC: get_route_info_by_topic,
    RequestCode.GET_BROKER_CLUSTER_INFO: get_broker_cluster_info,
    RequestCode.WIPE_WRITE_PERM_OF_BROKER: wipe_write_perm_of_broker,
    RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER: get_all_topic_list,
    RequestCode.DELETE_TOPIC_IN_NAMESRV: delete_topic,
    RequestCode.REGISTER_TOPIC_IN_NAMESRV: register_topic,
    RequestCode.GET_KVLIST_BY_NAMESPACE: get_kv_list_by_namespace,
    RequestCode.GET_TOPICS_BY_CLUSTER: get_topics_by_cluster,
    RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS: get_system_topic_list,
    RequestCode.GET_UNIT_TOPIC_LIST: get_unit_topic_list,
    RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST: get_has_unit_sub_topic_list,
    RequestCode.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST: get_has_unit_sub_ununit_topic_list,
    RequestCode.UPDATE_NAMESRV_CONFIG: update_namesrv_config,
    RequestCode.GET_NAMESRV_CONFIG: get_namesrv_config,
    RequestCode.QUERY_DATA_VERSION: query_data_version,
    RequestCode.ADD_WRITE_PERM_OF_BROKER: add_write_perm_of_broker,
    RequestCode.GET_BROKER_MEMBER_GROUP: get_broker_member_group,
    RequestCode.BROKER_HEARTBEAT: broker_heartbeat,
}

STEPWISE: Mapping[
    int, Callable[[State, RemotingCommand, Peer, float], Generator[None, None, Response]]
] = {RequestCode.REGISTER_BROKER: register_broker}
"""Handlers of long work, as generators of steps. Only one of them runs at a time in a server."""

SCANS: Final = frozenset(
    {
        RequestCode.UNREGISTER_BROKER,
        RequestCode.WIPE_WRITE_PERM_OF_BROKER,
        RequestCode.ADD_WRITE_PERM_OF_BROKER,
        RequestCode.GET_TOPICS_BY_CLUSTER,
        RequestCode.GET_UNIT_TOPIC_LIST,
        RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST,
        RequestCode.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST,
    }
)
"""Requests whose work grows with a whole table: after each of them others have a turn."""
