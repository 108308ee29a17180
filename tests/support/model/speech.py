"""How the model's events are said on the wire, and what a name server says of its tables, in the model's terms."""

from __future__ import annotations

import json
import re
import zlib
from struct import pack
from typing import TYPE_CHECKING, Any, Protocol

from tests.support.model.routes import Group, Notice, Queue, Route

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from tests.support.fakes.sansio_server import Reply
    from tests.support.model.routes import JavaRoutes, Registering

TIMESTAMP = 1_700_000_000_000
BELOW_STANDARD = 400
"""A protocol version that is answered in fastjson's dialect."""


class Ask(Protocol):
    """Puts one request to a name server."""

    def __call__(
        self, code: int, ext: dict[str, Any] | None = None, /, *, version: int = 513
    ) -> Reply: ...


def fields_of(r: Registering, *, packed: bool) -> dict[str, str]:
    """The header of request 103."""
    fields = {
        "brokerAddr": r.address,
        "brokerId": str(r.number),
        "brokerName": r.name,
        "clusterName": r.cluster,
        "haServerAddr": r.ha,
        "compressed": str(packed).lower(),
    }
    if r.acting is not None:
        fields["enableActingMaster"] = str(r.acting).lower()
    if r.zone is not None:
        fields["__ZONE_NAME"] = r.zone
    if r.timeout is not None:
        fields["heartbeatTimeoutMillis"] = str(r.timeout)
    return fields


def body_of(r: Registering, *, packed: bool) -> bytes:
    """The body of request 103, as a broker of the 5.x line sends it."""
    version = {
        "counter": r.version.counter,
        "stateVersion": r.version.state,
        "timestamp": TIMESTAMP,
    }
    filters = None if r.filters is None else list(r.filters)
    mappings = {r.mapped: _mapping(r.mapped, r.name)} if r.mapped else {}
    if packed:
        texts = [
            f"{name} {queue.queues} {queue.queues} {queue.perm} SINGLE_TAG {{}}"
            for name, queue in r.topics.items()
        ]
        parts = [
            _sized(json.dumps(version)),
            pack(">i", len(texts)),
            *map(_sized, texts),
            _sized(json.dumps(filters)),
            pack(">i", len(mappings)),
            *(_sized(json.dumps(mapping)) for mapping in mappings.values()),
        ]
        return zlib.compress(b"".join(parts))
    wrapper = {
        "dataVersion": version,
        "topicConfigTable": {name: _topic(name, queue) for name, queue in r.topics.items()},
        "topicQueueMappingInfoMap": mappings,
    }
    body = {"filterServerList": filters, "topicConfigSerializeWrapper": wrapper}
    return json.dumps(body, separators=(",", ":")).encode()


def _sized(text: str) -> bytes:
    return pack(">i", len(text)) + text.encode()


def _topic(name: str, queue: Queue) -> dict[str, Any]:
    return {
        "attributes": {},
        "order": False,
        "perm": queue.perm,
        "readQueueNums": queue.queues,
        "topicFilterType": "SINGLE_TAG",
        "topicName": name,
        "topicSysFlag": queue.flag,
        "writeQueueNums": queue.queues,
    }


def _mapping(topic: str, name: str) -> dict[str, Any]:
    return {
        "bname": name,
        "currIdMap": {"0": 1},
        "dirty": False,
        "epoch": 5,
        "scope": "__global__",
        "topic": topic,
        "totalQueues": 8,
    }


def route_body(queues: list[tuple[str, Queue]]) -> bytes:
    """The body of request 217."""
    datas = [
        {
            "brokerName": name,
            "perm": queue.perm,
            "readQueueNums": queue.queues,
            "topicSysFlag": queue.flag,
            "writeQueueNums": queue.queues,
        }
        for name, queue in queues
    ]
    return json.dumps({"queueDatas": datas}).encode()


def parsed(body: bytes) -> Any:
    """A body of either dialect."""
    return json.loads(re.sub(rb"([{,])(-?[0-9]+):", rb'\1"\2":', body))


def route_in(body: bytes) -> Route:
    """A route as the model has it."""
    route = parsed(body)
    return Route(
        {
            queue["brokerName"]: Queue(queue["readQueueNums"], queue["perm"], queue["topicSysFlag"])
            for queue in route["queueDatas"]
        },
        {data["brokerName"]: _group(data) for data in route["brokerDatas"]},
        {address: tuple(names) for address, names in route["filterServerTable"].items()},
        frozenset(route.get("topicQueueMappingByBroker") or ()),
    )


def _group(data: dict[str, Any]) -> Group:
    addresses = {int(number): address for number, address in data["brokerAddrs"].items()}
    return Group(data["cluster"], addresses, data.get("zoneName"), data["enableActingMaster"])


def notice_of(targets: frozenset[str], command: RemotingCommand) -> Notice:
    """A 905 as the model has it."""
    fields = command.ext_fields or {}
    return Notice(
        targets,
        int(fields["minBrokerId"]),
        fields["minBrokerAddr"],
        fields.get("offlineBrokerAddr"),
        fields.get("haBrokerAddr"),
    )


def told(ask: Ask, topics: tuple[str, ...], zone: str) -> dict[str, Any]:
    """Everything that a name server says of these topics and of its brokers."""
    said: dict[str, Any] = {}
    for topic in topics:
        for key, version, fields in (
            ("standard", 513, {}),
            ("dialect", BELOW_STANDARD, {}),
            ("zone", 513, {"__ZONE_MODE": "true", "__ZONE_NAME": zone}),
        ):
            reply = ask(105, {"topic": topic, **fields}, version=version)
            said[f"{topic} {key}"] = None if reply.code == 17 else route_in(reply.body)
    info = parsed(ask(106).body)
    said["clusters"] = {name: set(names) for name, names in info["clusterAddrTable"].items()}
    said["groups"] = {name: _group(data) for name, data in info["brokerAddrTable"].items()}
    said["topics"] = set(parsed(ask(206).body)["topicList"])
    for cluster in said["clusters"]:
        said[f"of {cluster}"] = set(parsed(ask(224, {"cluster": cluster}).body)["topicList"])
    said["system"] = set(parsed(ask(304).body)["topicList"])
    return said


def expected(model: JavaRoutes, topics: tuple[str, ...], zone: str) -> dict[str, Any]:
    """The same as the model has it."""
    said: dict[str, Any] = {}
    for topic in topics:
        said[f"{topic} standard"] = said[f"{topic} dialect"] = model.route(topic)
        said[f"{topic} zone"] = model.route(topic, zone)
    said["clusters"] = model.clusters
    said["groups"] = model.groups
    said["topics"] = set(model.topics)
    for cluster, names in model.clusters.items():
        said[f"of {cluster}"] = {
            topic for topic, queues in model.topics.items() if names & queues.keys()
        }
    said["system"] = set(model.clusters).union(*model.clusters.values())
    return said
