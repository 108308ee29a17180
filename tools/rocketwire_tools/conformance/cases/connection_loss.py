"""Lost connections: which brokers go with them, and which have to stay."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.model.case import Case
from rocketwire_tools.conformance.model.outcomes import Answer, Check, Has, Json, Lacks
from rocketwire_tools.conformance.model.requests import (
    NO_ROUTE,
    ask,
    broker_ext,
    data_version,
    found,
    register,
    until,
)
from rocketwire_tools.conformance.model.steps import Close, Step

CLOSED: Final = (
    "BrokerHousekeepingService.onChannelClose, RouteInfoManager.onChannelDestroy @ 5.5.0"
)
ROUTE: Final = {"topic": "{topic}"}
GONE: Final = found(
    Json({"brokerAddrTable": Lacks(("{broker}",)), "clusterAddrTable": Lacks(("{cluster}",))})
)
SLAVE: Final = broker_ext(address="{addressS}", broker_id=1, ha="{haS}")
ADDRESSES: Final = ('"{address}"', '"{addressB}"', '"{addressC}"')
VERSIONED: Final = data_version()


def group(addresses: dict[str, str]) -> Answer:
    """106 in which the group ``{broker}`` has exactly these addresses."""
    return found(Json(Has({"brokerAddrTable": Has({"{broker}": Has({"brokerAddrs": addresses})})})))


def live(ext: dict[str, str], *, on: str = "reader") -> Step:
    """322 finds the broker's entry, with the data version that it registered."""
    return ask(
        322,
        ext,
        found(Json(Has({"counter": 1, "timestamp": 1000})), ext={"changed": "false"}),
        body=VERSIONED,
        on=on,
    )


CASES: Final = (
    Case(
        id="ns/close/1",
        requirement="A broker MUST be removed at once if its connection is closed.",
        evidence=CLOSED,
        items=(84,),
        steps=(
            register(on="a"),
            Close("a"),
            until(106, None, GONE, on="reader", within=2.0),
            ask(105, ROUTE, NO_ROUTE, on="reader"),
        ),
    ),
    Case(
        id="ns/close/2",
        requirement="A broker MUST be removed at once if its connection is reset.",
        evidence="BrokerHousekeepingService.onChannelException @ 5.5.0",
        items=(84,),
        steps=(
            register(on="a"),
            Close("a", reset=True),
            until(106, None, GONE, on="reader", within=2.0),
        ),
    ),
    Case(
        id="ns/close/3",
        requirement="A broker registered over a second connection MUST remain if the first closes, not if the second does.",
        evidence="RouteInfoManager.onChannelDestroy @ 5.5.0 (the live entry's channel)",
        items=(85,),
        steps=(
            register(on="a"),
            register(on="b"),
            Close("a"),
            # another broker's closing is seen after the first one's
            register(
                broker_ext(cluster="{clusterM}", name="{brokerM}", address="{addressM}"), on="m"
            ),
            Close("m"),
            until(
                106, None, found(Json(Has({"brokerAddrTable": Lacks(("{brokerM}",))}))), on="reader"
            ),
            ask(106, None, group({"0": "{address}"}), on="reader"),
            live(broker_ext()),
            Close("b"),
            until(106, None, GONE, on="reader"),
        ),
    ),
    Case(
        id="ns/close/4",
        requirement="If a connection of three brokers closes, at least one MUST be removed (Java: exactly one).",
        evidence="RouteInfoManager.onChannelDestroy @ 5.5.0",
        items=(86,),
        steps=(
            register(on="a"),
            register(broker_ext(address="{addressB}", broker_id=1), on="a"),
            register(broker_ext(address="{addressC}", broker_id=2), on="a"),
            Close("a"),
            until(106, None, found(Check("lacks-one", ADDRESSES)), on="reader"),
        ),
    ),
    Case(
        id="ns/close/5",
        requirement="The loss of a slave's connection MUST NOT affect its master.",
        evidence=CLOSED,
        items=(84,),
        steps=(
            register(on="a"),
            register(SLAVE, None, on="b"),
            Close("b"),
            until(106, None, group({"0": "{address}"}), on="reader"),
            ask(105, ROUTE, found(), on="reader"),
        ),
    ),
    Case(
        id="ns/close/6",
        requirement="Closing a connection without registrations MUST change nothing.",
        evidence=CLOSED,
        items=(85,),
        steps=(
            register(on="a"),
            ask(106, None, found(), on="x"),
            Close("x"),
            register(
                broker_ext(cluster="{clusterM}", name="{brokerM}", address="{addressM}"), on="m"
            ),
            Close("m"),
            until(
                106, None, found(Json(Has({"brokerAddrTable": Lacks(("{brokerM}",))}))), on="reader"
            ),
            live(broker_ext()),
        ),
    ),
)
