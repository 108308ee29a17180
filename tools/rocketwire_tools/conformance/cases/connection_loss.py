"""Lost connections: which brokers are removed and which remain."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.cases.common import GONE, ROUTE, SLAVE, group, live
from rocketwire_tools.conformance.model.case import case
from rocketwire_tools.conformance.model.outcomes import Check, Has, Json, Lacks
from rocketwire_tools.conformance.model.requests import (
    NO_ROUTE,
    ask,
    broker_ext,
    data_version,
    found,
    register,
    until,
)
from rocketwire_tools.conformance.model.steps import Close

CLOSED: Final = (
    "BrokerHousekeepingService.onChannelClose, RouteInfoManager.onChannelDestroy @ 5.5.0"
)
ADDRESSES: Final = ('"{address}"', '"{addressB}"', '"{addressC}"')
VERSIONED: Final = data_version()


CASES: Final = (
    case(
        "ns/close/1", "A broker MUST be removed at once if its connection is closed.",
        register(on="a"),
        Close("a"),
        until(106, None, GONE, on="reader", within=2.0),
        ask(105, ROUTE, NO_ROUTE, on="reader"),
        evidence=CLOSED, items=(84,),
    ),
    case(
        "ns/close/2", "A broker MUST be removed at once if its connection is reset.",
        register(on="a"),
        Close("a", reset=True),
        until(106, None, GONE, on="reader", within=2.0),
        evidence="BrokerHousekeepingService.onChannelException @ 5.5.0", items=(84,),
    ),
    case(
        "ns/close/3",
        "A broker registered over a second connection MUST remain if the first closes, not if the "
        "second does.",
        register(on="a"),
        register(on="b"),
        Close("a"),
        # The server processes this registration and its loss after the loss of connection a.
        register(broker_ext(cluster="{clusterM}", name="{brokerM}", address="{addressM}"), on="m"),
        Close("m"),
        until(106, None, found(Json(Has({"brokerAddrTable": Lacks(("{brokerM}",))}))), on="reader"),
        ask(106, None, group({"0": "{address}"}), on="reader"),
        live(broker_ext()),
        Close("b"),
        until(106, None, GONE, on="reader"),
        evidence="RouteInfoManager.onChannelDestroy @ 5.5.0 (the live entry's channel)",
        items=(85,),
    ),
    case(
        "ns/close/4",
        "If a connection of three brokers closes, at least one MUST be removed (Java: exactly "
        "one).",
        register(on="a"),
        register(broker_ext(address="{addressB}", broker_id=1), on="a"),
        register(broker_ext(address="{addressC}", broker_id=2), on="a"),
        Close("a"),
        until(106, None, found(Check("lacks-one", ADDRESSES)), on="reader"),
        evidence="RouteInfoManager.onChannelDestroy @ 5.5.0", items=(86,),
    ),
    case(
        "ns/close/5", "The loss of a slave's connection MUST NOT affect its master.",
        register(on="a"),
        register(SLAVE, None, on="b"),
        Close("b"),
        until(106, None, group({"0": "{address}"}), on="reader"),
        ask(105, ROUTE, found(), on="reader"),
        evidence=CLOSED, items=(84,),
    ),
    case(
        "ns/close/6", "Closing a connection without registrations MUST change nothing.",
        register(on="a"),
        ask(106, None, found(), on="x"),
        Close("x"),
        register(broker_ext(cluster="{clusterM}", name="{brokerM}", address="{addressM}"), on="m"),
        Close("m"),
        until(106, None, found(Json(Has({"brokerAddrTable": Lacks(("{brokerM}",))}))), on="reader"),
        live(broker_ext()),
        evidence=CLOSED, items=(85,),
    ),
)  # fmt: skip
