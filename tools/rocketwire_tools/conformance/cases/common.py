"""Ext fields, requests and expected responses that several subjects use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire_tools.conformance.model.outcomes import (
    AllOf,
    Check,
    Contains,
    Has,
    JsonBody,
    Lacks,
    Like,
    Response,
    TextBody,
)
from rocketwire_tools.conformance.model.requests import (
    ask,
    broker_ext,
    data_version,
    has,
    success,
)

if TYPE_CHECKING:
    from rocketwire_tools.conformance.model.steps import Step

ROUTE: Final = {"topic": "{topic}"}
ENTRY: Final = {"namespace": "{namespace}", "key": "{key}"}
ORDER: Final = {"namespace": "ORDER_TOPIC_CONFIG", "key": "{topic}"}
ORDERED: Final = ORDER | {"value": "{broker}:8"}
SPACE: Final = {"namespace": "{namespace}"}
SLAVE: Final = broker_ext(address="{addressS}", broker_id=1, ha="{haS}")

ACCEPTED: Final = Response(ext={})
DONE: Final = Response(ext=None)
MISMATCH: Final = Response(code=1, ext={}, remark="crc32 not match")
THROWN: Final = Response(code=1, remark=Like(".+"), ext=None)
ROUTED: Final = has({"queueDatas": [Has({"brokerName": "{broker}"})]})
GONE: Final = success(
    JsonBody({"brokerAddrTable": Lacks(("{broker}",)), "clusterAddrTable": Lacks(("{cluster}",))})
)


def put(value: str = "v", key: str = "{key}") -> dict[str, str]:
    return {"namespace": "{namespace}", "key": key, "value": value}


def group(addresses: dict[str, str], **members: object) -> Response:
    """The response to 106 in which the group ``{broker}`` has exactly these addresses."""
    fields = Has({"brokerAddrs": addresses} | members)
    return has({"brokerAddrTable": Has({"{broker}": fields})})


def one_broker(addresses: str) -> TextBody:
    """The route of ``{topic}`` over one broker with these brokerAddrs, byte for byte."""
    return TextBody(
        '{"brokerDatas":[{"brokerAddrs":{' + addresses + '},"brokerName":"{broker}",'
        '"cluster":"{cluster}","enableActingMaster":false}],"filterServerTable":{},'
        '"queueDatas":[{"brokerName":"{broker}","perm":6,"readQueueNums":8,"topicSysFlag":0,'
        '"writeQueueNums":8}]}'
    )


def topics(*names: str, without: tuple[str, ...] = ()) -> Response:
    return has({"topicList": AllOf((Contains(names), Lacks(without)))}, ext=None)


def shows(*lines: str) -> Response:
    return success(Check("has-lines", lines), ext=None)


def live(ext: dict[str, str], *, on: str = "reader") -> Step:
    """322 finds the broker's live entry with the registered data version."""
    version = has({"counter": 1, "timestamp": 1000}, ext={"changed": "false"})
    return ask(322, ext, version, body=data_version(), on=on)


def route_with(**members: object) -> Response:
    """The route of ``{topic}`` whose queues at ``{broker}`` have these members."""
    return has({"queueDatas": [Has({"brokerName": "{broker}"} | members)]})
