"""Short forms of common requests and responses; all return plain data."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rocketwire_tools.conformance.model.outcomes import ANY, NO_EXT, Has, JsonBody, Response
from rocketwire_tools.conformance.model.steps import MAIN, Ask, Expect, Request, Send, Until

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rocketwire_tools.conformance.model.outcomes import Body, Outcome
    from rocketwire_tools.conformance.model.steps import Packed, Saved, Sendable, Step

# Options for cases that need one of them, so that these share a server.
ONE_SETTING = {
    "enableAllTopicList": "false",
    "orderMessageEnable": "true",
    "returnOrderTopicConfigToBroker": "false",
}
# A second set, see ``ONE_SETTING``.
OTHER_SETTING = {
    "enableTopicList": "false",
    "notifyMinBrokerIdChanged": "false",
    "orderMessageEnable": "false",
    "returnOrderTopicConfigToBroker": "false",
    "supportActingMaster": "false",
}

# Success without remark and body, with any ext fields.
OK = Response(code=0)
OK_BARE = Response(code=0, ext=NO_EXT)
# Code 1 with any remark; Java's is the text of an exception.
FAILED = Response(code=1, remark=ANY, ext=ANY, body=ANY)


def ask(
    code: int,
    ext: Mapping[str, str] | None = None,
    *outcomes: Outcome,
    body: bytes | str | Mapping[str, Any] | list[Any] | Packed | None = None,
    on: str = MAIN,
    within: float = 5.0,
    save: Saved | None = None,
    default: Outcome = OK,
    **settings: Any,
) -> Ask:
    """``Ask(Request(...))``, without outcomes for ``default``; ``settings`` are for ``Request``."""
    request = Request(code=code, ext=ext, body=body, **settings)
    return Ask(request, outcomes or (default,), on, within, save or {})


def until(
    code: int,
    ext: Mapping[str, str] | None,
    outcome: Response,
    *,
    on: str = MAIN,
    within: float = 5.0,
    not_before: float = 0.0,
    save: Saved | None = None,
    **settings: Any,
) -> Until:
    """``Until(Request(...), outcome)``; ``settings`` are for ``Request``."""
    request = Request(code=code, ext=ext, **settings)
    return Until(request, outcome, on, within, not_before, save or {})


def without(fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key != name}


def success(body: Body = ANY, **settings: Any) -> Response:
    return Response(code=0, body=body, **settings)


def has(members: Mapping[str, object], **settings: Any) -> Response:
    return success(JsonBody(Has(members)), **settings)


def send(*parts: Sendable, **settings: Any) -> Send:
    return Send(parts, **settings)


def expect(*outcomes: Outcome, **settings: Any) -> Expect:
    """``Expect(outcomes)``; ``settings`` are its further attributes."""
    return Expect(outcomes, **settings)


def in_flight(*asks: Ask) -> tuple[Step, ...]:
    """Send all requests, those of a connection in one segment, and only then await the responses.

    Each outcome must be a ``Response``, which is matched by the opaque of its request. Connections
    have the same opaques.
    """
    sends: list[Step] = []
    expects: list[Step] = []
    for link in dict.fromkeys(one.on for one in asks):
        own = [one for one in asks if one.on == link]
        numbered = [replace(one.request, opaque=1000 + index) for index, one in enumerate(own)]
        sends.append(Send(tuple(numbered), link))
        expects += [
            Expect(_answers(one.outcomes, request.opaque), link, one.within)
            for one, request in zip(own, numbered, strict=True)
        ]
    return (*sends, *expects)


def _answers(outcomes: Sequence[Outcome], opaque: int | None) -> tuple[Outcome, ...]:
    return tuple(
        replace(outcome, opaque=opaque) for outcome in outcomes if isinstance(outcome, Response)
    )


# The response to 105 for an unknown topic.
NO_ROUTE = Response(code=17, remark=ANY, body=ANY)


def no_entry(*, opaque: int | None = None) -> Response:
    """The response to 101 without ext fields, which is the same on every server."""
    remark = "No config item, Namespace: null Key: null"
    return Response(code=22, remark=remark, ext=NO_EXT, opaque=opaque)


def not_supported(code: int, *, opaque: int | None = None, binary: bool | None = None) -> Response:
    remark = f" request type {code} not supported"
    return Response(code=3, remark=remark, ext=None, opaque=opaque, binary=binary)


def topic_config(name: str, **members: object) -> dict[str, object]:
    """A ``TopicConfig`` of a 5.x broker; default values are 8 queues and permission 6."""
    attributes: dict[str, str] = {}
    defaults: dict[str, object] = {
        "attributes": attributes,
        "order": False,
        "perm": 6,
        "readQueueNums": 8,
        "topicFilterType": "SINGLE_TAG",
        "topicName": name,
        "topicSysFlag": 0,
        "writeQueueNums": 8,
    }
    return defaults | members


def data_version(counter: int = 1, state_version: int = 0, timestamp: int = 1000) -> dict[str, int]:
    return {"counter": counter, "stateVersion": state_version, "timestamp": timestamp}


def registration(
    topics: Sequence[str | Mapping[str, object]] = ("{topic}", "{topicB}"),
    *,
    version: Mapping[str, int] | None = None,
    filter_servers: Sequence[str] | None = (),
    mappings: Mapping[str, object] | None = None,
) -> dict[str, Any]:
    """The body of 103 as JSON; ``topics`` are names or ``TopicConfig`` objects."""
    configs = [topic_config(topic) if isinstance(topic, str) else dict(topic) for topic in topics]
    return {
        "filterServerList": None if filter_servers is None else list(filter_servers),
        "topicConfigSerializeWrapper": {
            "dataVersion": dict(version or data_version()),
            "mappingDataVersion": data_version(0, 0, 0),
            "topicConfigTable": {str(config["topicName"]): config for config in configs},
            "topicQueueMappingDetailMap": {},
            "topicQueueMappingInfoMap": dict(mappings or {}),
        },
    }


def broker_ext(
    *,
    cluster: str = "{cluster}",
    address: str = "{address}",
    name: str = "{broker}",
    broker_id: int | str = 0,
    ha: str = "{ha}",
    **fields: str,
) -> dict[str, str]:
    """The ext fields of 103 and 104; ``fields`` are further fields by wire name."""
    return {
        "brokerAddr": address,
        "brokerId": str(broker_id),
        "brokerName": name,
        "clusterName": cluster,
        "haServerAddr": ha,
    } | fields


def register(
    ext: Mapping[str, str] | None = None,
    body: Mapping[str, Any] | bytes | None = None,
    *outcomes: Outcome,
    on: str = MAIN,
    **settings: Any,
) -> Ask:
    """A registration (103), by default with ``broker_ext()`` and ``registration()``.

    Two brokers need two connections: Java removes only one broker of a lost connection.
    """
    return ask(
        103,
        broker_ext() if ext is None else ext,
        *outcomes,
        body=registration() if body is None else body,
        on=on,
        **settings,
    )


def unregister(ext: Mapping[str, str] | None = None, *outcomes: Outcome, on: str = MAIN) -> Ask:
    """An unregistration (104), by default of the broker of ``broker_ext()``."""
    return ask(104, broker_ext() if ext is None else ext, *outcomes, on=on)
