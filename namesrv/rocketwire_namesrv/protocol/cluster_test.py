"""``clusterTest``: a name server that only returns routes.

It stands in front of the name server of a production environment, and asks it for unknown topics.
Every request is handled as a route request, whatever its code; brokers cannot register.

Rules of this file: those of ``handlers``.

Java: ``ClusterTestRequestProcessor``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.codes import RequestCode
from rocketwire_namesrv.protocol.response import Peer, Response, no_route
from rocketwire_namesrv.protocol.route_fast_path import zone_of
from rocketwire_namesrv.routes.kv_config import ORDER_TOPIC_CONFIG

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_namesrv.protocol.state import State


def get_route_in_cluster_test(
    state: State, request: RemotingCommand, peer: Peer, now: float
) -> Response:
    """Any code: returns the route of the topic in the request, always in fastjson's dialect and
    with its order configuration. Unlike 105, it does not wait for brokers."""
    fields = request.ext_fields or {}
    topic = fields.get("topic")
    if topic is None:
        return no_route(None)
    order = state.kv.get(ORDER_TOPIC_CONFIG, topic)
    zone = zone_of(fields) if request.code == RequestCode.GET_ROUTEINFO_BY_TOPIC else None
    if zone is None:
        body = state.views.route(topic, standard=False, order_topic_conf=order)
    else:
        body = state.views.route_in_zone(topic, zone, order, standard=False)
    return no_route(topic) if body is None else Response(body=body)
