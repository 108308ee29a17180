"""Registration of brokers: code 103, and what follows from it."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.build import (
    NO_ROUTE,
    OK,
    OK_BARE,
    ask,
    broker_ext,
    found,
    register,
    unregister,
    until,
)
from rocketwire_tools.conformance.case import SINCE_5_3, Case
from rocketwire_tools.conformance.outcomes import Answer, Has, Json
from rocketwire_tools.conformance.steps import Close

_ROUTE: Final = {"topic": "{topic}"}
_MASTER: Final = Has(
    {"brokerName": "{broker}", "cluster": "{cluster}", "brokerAddrs": {"0": "{address}"}}
)

CASES: Final = (
    Case(
        id="ns/103/1",
        requirement="A registered broker's topics MUST be routed to it.",
        evidence="RouteInfoManager.registerBroker, pickupTopicRouteData @ 5.5.0",
        items=(48,),
        steps=(
            register(None, None, OK_BARE),
            ask(105, _ROUTE, found(Json(Has({"brokerDatas": [_MASTER]}))), on="reader"),
        ),
    ),
    Case(
        id="ns/103/2",
        requirement="A broker whose connection is lost MUST leave the routes at once.",
        evidence="BrokerHousekeepingService.onChannelClose @ 5.5.0",
        items=(84,),
        steps=(
            register(None, None, OK),
            Close(),
            until(105, _ROUTE, NO_ROUTE, on="reader"),
        ),
    ),
    Case(
        id="ns/103/3",
        requirement="A slave MUST be told its master's addresses when it registers.",
        evidence="DefaultRequestProcessor.registerBroker @ 5.5.0",
        items=(49,),
        profiles=SINCE_5_3,
        steps=(
            register(None, None, OK, on="master"),
            register(
                broker_ext(address="{addressS}", broker_id=1, ha="{haS}"),
                None,
                Answer(code=0, ext={"haServerAddr": "{ha}", "masterAddr": "{address}"}),
                on="slave",
            ),
            unregister(broker_ext(address="{addressS}", broker_id=1), on="slave"),
        ),
    ),
)
