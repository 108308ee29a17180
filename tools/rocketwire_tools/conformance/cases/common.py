"""Ext fields, requests and expected responses that several subjects use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rocketwire_tools.conformance.model.case import ALL_PROFILES, Case, Profile, case
from rocketwire_tools.conformance.model.outcomes import (
    AllOf,
    Answer,
    Check,
    Contains,
    Has,
    Json,
    Lacks,
    Like,
    Outcome,
    Text,
)
from rocketwire_tools.conformance.model.requests import (
    NO_ROUTE,
    ask,
    broker_ext,
    data_version,
    found,
)

if TYPE_CHECKING:
    from rocketwire_tools.conformance.model.steps import Step

BODY: Final = "RegisterBrokerBody.decode @ 5.5.0"

ROUTE: Final = {"topic": "{topic}"}
ENTRY: Final = {"namespace": "{namespace}", "key": "{key}"}
SPACE: Final = {"namespace": "{namespace}"}
SLAVE: Final = broker_ext(address="{addressS}", broker_id=1, ha="{haS}")

ACCEPTED: Final = Answer(ext={})
DONE: Final = Answer(ext=None)
THROWN: Final = Answer(code=1, remark=Like(".+"), ext=None)
ROUTED: Final = found(Json(Has({"queueDatas": [Has({"brokerName": "{broker}"})]})))
GONE: Final = found(
    Json({"brokerAddrTable": Lacks(("{broker}",)), "clusterAddrTable": Lacks(("{cluster}",))})
)


def put(value: str = "v", key: str = "{key}") -> dict[str, str]:
    """The ext fields of 100."""
    return {"namespace": "{namespace}", "key": key, "value": value}


def slave(number: int = 1, **fields: str) -> dict[str, str]:
    """The ext fields of 103 for a slave at ``{addressS}``."""
    return broker_ext(address="{addressS}", broker_id=number, ha="{haS}", **fields)


def group(addresses: dict[str, str], **members: object) -> Answer:
    """The response to 106 in which the group ``{broker}`` has exactly these addresses."""
    fields = Has({"brokerAddrs": addresses} | members)
    return found(Json(Has({"brokerAddrTable": Has({"{broker}": fields})})))


def one_broker(addresses: str, tail: str = "") -> Text:
    """The route of ``{topic}`` over one broker, byte for byte.

    Args:
        addresses: text between the braces of brokerAddrs.
        tail: further members of the broker, each after a comma.
    """
    return Text(
        '{"brokerDatas":[{"brokerAddrs":{' + addresses + '},"brokerName":"{broker}",'
        '"cluster":"{cluster}","enableActingMaster":false' + tail + '}],"filterServerTable":{},'
        '"queueDatas":[{"brokerName":"{broker}","perm":6,"readQueueNums":8,"topicSysFlag":0,'
        '"writeQueueNums":8}]}'
    )


def topics(*names: str, without: tuple[str, ...] = ()) -> Answer:
    """A list that contains the topics ``names`` and none of ``without``."""
    return found(Json(Has({"topicList": AllOf((Contains(names), Lacks(without)))})), ext=None)


def shows(*lines: str) -> Answer:
    """The response to 319 with these lines."""
    return found(Check("has-lines", lines), ext=None)


def live(ext: dict[str, str], *, on: str = "reader") -> Step:
    """322 finds the broker's live entry with the registered data version."""
    version = found(Json(Has({"counter": 1, "timestamp": 1000})), ext={"changed": "false"})
    return ask(322, ext, version, body=data_version(), on=on)


def route_with(**members: object) -> Answer:
    """The route of ``{topic}`` whose queues at ``{broker}`` have these members."""
    queue = Has({"brokerName": "{broker}"} | members)
    return found(Json(Has({"queueDatas": [queue]})))


def body_case(
    number: int,
    what: str,
    body: Any,
    outcome: Outcome,
    item: int,
    *,
    then: Outcome | None = None,
    evidence: str = BODY,
    version: int = 513,
    profiles: frozenset[Profile] = ALL_PROFILES,
    **ext: str,
) -> Case:
    """A case of one registration and the result of 105 for ``{topic}`` after it."""
    expected = then or (ROUTED if outcome is ACCEPTED else NO_ROUTE)
    return case(
        f"ns/103/{number}",
        what,
        ask(103, broker_ext(**ext), outcome, body=body, version=version),
        ask(105, ROUTE, expected, on="reader"),
        evidence=evidence,
        items=(item,),
        profiles=profiles,
    )
