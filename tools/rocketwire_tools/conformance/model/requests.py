"""Short ways to write the requests that most cases are made of; all of them give plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rocketwire_tools.conformance.model.outcomes import ANY, NO_EXT, Answer
from rocketwire_tools.conformance.model.steps import MAIN, Ask, Request, Until

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rocketwire_tools.conformance.model.outcomes import Body, Outcome
    from rocketwire_tools.conformance.model.packed_body import Packed

ONE_SETTING = {
    "enableAllTopicList": "false",
    "orderMessageEnable": "true",
    "returnOrderTopicConfigToBroker": "false",
}
"""Options for cases that each want one of them and mind no other: they share a server."""
OTHER_SETTING = {
    "enableTopicList": "false",
    "notifyMinBrokerIdChanged": "false",
    "orderMessageEnable": "false",
    "returnOrderTopicConfigToBroker": "false",
    "supportActingMaster": "false",
}
"""Likewise."""

OK = Answer(code=0)
"""Success without remark and body, with any ext fields."""
OK_BARE = Answer(code=0, ext=NO_EXT)
FAILED = Answer(code=1, remark=ANY, ext=ANY, body=ANY)
"""Code 1 with a text that is Java's exception there and anything elsewhere."""


def ask(
    code: int,
    ext: Mapping[str, str] | None = None,
    *outcomes: Outcome,
    body: bytes | str | Mapping[str, Any] | list[Any] | Packed | None = None,
    on: str = MAIN,
    **settings: Any,
) -> Ask:
    """``Ask(Request(...))``; ``settings`` are members of ``Request``, or ``within`` and ``exact`` of ``Ask``."""
    about = {name: settings.pop(name) for name in ("within", "exact") if name in settings}
    return Ask(Request(code=code, ext=ext, body=body, **settings), outcomes or (OK,), on, **about)


def until(
    code: int, ext: Mapping[str, str] | None, outcome: Answer, *, on: str = MAIN, **settings: Any
) -> Until:
    """``Until(Request(...), outcome)``; ``settings`` are members of ``Request`` or of ``Until``."""
    about = {
        name: settings.pop(name) for name in ("within", "every", "not_before") if name in settings
    }
    return Until(Request(code=code, ext=ext, **settings), outcome, on, **about)


def found(body: Body = ANY, **settings: Any) -> Answer:
    """Success with a body."""
    return Answer(code=0, body=body, **settings)


NO_ROUTE = Answer(code=17, remark=ANY, body=ANY)
"""105 for a topic that is not there."""


def no_entry(*, opaque: int | None = None) -> Answer:
    """The answer to 101 without ext fields: the same on every server, and whoever else is there."""
    remark = "No config item, Namespace: null Key: null"
    return Answer(code=22, remark=remark, ext=NO_EXT, opaque=opaque)


def unsupported(code: int, *, opaque: int | None = None, binary: bool | None = None) -> Answer:
    """The answer to a request code that the server does not know."""
    remark = f" request type {code} not supported"
    return Answer(code=3, remark=remark, ext=None, opaque=opaque, binary=binary)


def topic_config(name: str, **members: object) -> dict[str, object]:
    """A ``TopicConfig`` with 8 queues and permission 6 unless said otherwise, as 5.x brokers send it."""
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
    """A ``DataVersion`` that does not depend on a clock."""
    return {"counter": counter, "stateVersion": state_version, "timestamp": timestamp}


def registration(
    topics: Sequence[str | Mapping[str, object]] = ("{topic}", "{topicB}"),
    *,
    version: Mapping[str, int] | None = None,
    filter_servers: Sequence[str] | None = (),
    mappings: Mapping[str, object] | None = None,
) -> dict[str, Any]:
    """The body of 103 as JSON: ``topics`` are names or whole ``TopicConfig`` maps."""
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
    """The ext fields of 103 and 104; ``fields`` are others by their wire names."""
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
    """103 with the broker and the two topics of ``broker_ext()`` and ``registration()`` unless said otherwise.

    Two brokers want two connections: Java drops one broker of a connection that is lost.
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
    """104 for the broker of ``broker_ext()`` unless said otherwise."""
    return ask(104, broker_ext() if ext is None else ext, *outcomes, on=on)
