"""The data of all candidates: the brokers, their topics, and the frames of their registrations.

Topic names have 35 characters, 24 of them hex digits that follow from the topic's number, so that
names compress as badly as real ones; ``common.h`` computes the same names. Bodies are built once
and shared by all brokers and servers, because a registration's body does not contain the broker's
name.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cache
from typing import Final

from rocketwire.codes import LanguageCode, RequestCode
from rocketwire.messages.registration import (
    DataVersion,
    RegisterBrokerBody,
    TopicConfig,
    TopicConfigAndMappingSerializeWrapper,
    encode_register_broker_body,
)
from rocketwire.wire.command import RemotingCommand, encode

CLUSTER: Final = "BenchCluster"
TIMESTAMP: Final = 1_700_000_000_000
_MASK: Final = (1 << 64) - 1
CRC_MASK: Final = 0x7FFFFFFF
CYCLE: Final = 4
"""Bodies that a broker whose topics change registers in turn; after the last comes the first
again."""


@dataclass(frozen=True, slots=True)
class Topics:
    format: str  #: of their names, as ``loadgen -f`` takes it
    count: int  #: how many
    brokers: int  #: in the route of each


NARROW: Final = tuple(
    Topics(f"B{brokers:03}-{{i}}-{{h}}", 1_000, brokers) for brokers in (1, 16, 128)
)
"""1,000 topics each on 1, 16 and 128 brokers."""
WIDE: Final = Topics("B008-{i}-{h}", 10_000, 8)
"""The topics that brokers register again and again while clients read routes."""
FAMILIES: Final = {family.brokers: family for family in (*NARROW, WIDE)}


@dataclass(frozen=True, slots=True)
class Broker:
    name: str  #: as it registers
    address: str  #: as it registers; there is no listener


def narrow_registrations() -> list[tuple[Broker, bytes]]:
    """The brokers of ``NARROW`` and their bodies; number k has the topics of every family with more
    than k brokers."""
    brokers = [Broker(f"broker-{k:03}", f"127.1.0.{k + 1}:10911") for k in range(128)]
    return [(broker, narrow_body(number)) for number, broker in enumerate(brokers)]


def wide_registrations(count: int, topics: int = WIDE.count) -> list[tuple[Broker, bytes]]:
    body = wide_bodies("same", "zip", topics)[0]
    return [(Broker(f"wide-{k:03}", f"127.2.0.{k + 1}:10911"), body) for k in range(count)]


def _spread(x: int) -> int:
    x = (x + 0x9E3779B97F4A7C15) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


def topic_name(form: str, index: int) -> str:
    first = _spread(index)
    digits = f"{first:016x}{_spread(first) >> 32:08x}"
    return form.replace("{i}", f"{index:05}").replace("{h}", digits)


def body(queues: dict[str, int], counter: int, *, compressed: bool) -> bytes:
    """The body of a registration of topics with that many queues each; a broker's counter grows
    with each change."""
    table = {
        name: TopicConfig(topic_name=name, perm=6, read_queue_nums=n, write_queue_nums=n)
        for name, n in queues.items()
    }
    wrapper = TopicConfigAndMappingSerializeWrapper(
        data_version=DataVersion(counter=counter, timestamp=TIMESTAMP + counter),
        topic_config_table=table,
    )
    registered = RegisterBrokerBody(topic_config_serialize_wrapper=wrapper)
    return encode_register_broker_body(registered, compressed=compressed)


def names(family: Topics) -> list[str]:
    return [topic_name(family.format, index) for index in range(family.count)]


@cache
def narrow_body(broker: int) -> bytes:
    if broker not in {0, 1, 16}:  # the others have the same body as one of these
        return narrow_body(1 if broker < 16 else 16)
    families = [family for family in NARROW if broker < family.brokers]
    return body({name: 8 for topics in families for name in names(topics)}, 1, compressed=True)


@cache
def wide_bodies(change: str, form: str, count: int = WIDE.count) -> tuple[bytes, ...]:
    """The bodies of a broker in turn; ``bump`` changes one topic each time, ``all`` every topic."""
    base = {topic_name(WIDE.format, index): 8 for index in range(count)}
    first, second = list(base)[count // 3], list(base)[count // 2]
    if change == "same":
        steps = [base]
    elif change == "bump":
        first_changed, second_changed = {first: 4}, {second: 4}
        steps = [
            base,
            base | first_changed,
            base | first_changed | second_changed,
            base | second_changed,
        ]
    else:
        steps = [base, dict.fromkeys(base, 4)] * (CYCLE // 2)
    return tuple(
        body(queues, counter, compressed=form == "zip") for counter, queues in enumerate(steps, 1)
    )


def registration(broker: Broker, body: bytes, opaque: int) -> bytes:
    fields = {
        "bodyCrc32": str(zlib.crc32(body) & CRC_MASK),
        "brokerAddr": broker.address,
        "brokerId": "0",
        "brokerName": broker.name,
        "clusterName": CLUSTER,
        "compressed": "true" if body[:1] == b"x" else "false",
        "enableActingMaster": "false",
        "haServerAddr": broker.address,
    }
    return request(RequestCode.REGISTER_BROKER, fields, opaque, body)


def heartbeat(broker: Broker, opaque: int) -> bytes:
    """A frame with code 904, which keeps a broker alive without its topics."""
    fields = {
        "brokerAddr": broker.address,
        "brokerName": broker.name,
        "clusterName": CLUSTER,
    }
    return request(RequestCode.BROKER_HEARTBEAT, fields, opaque)


def route_request(topic: str, opaque: int = 1, body: bytes | None = None) -> bytes:
    """A frame with code 105; a body means nothing there, but fills a frame."""
    return request(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": topic}, opaque, body)


def request(code: int, fields: dict[str, str], opaque: int, body: bytes | None = None) -> bytes:
    command = RemotingCommand(
        code=code, language=LanguageCode.JAVA, opaque=opaque, ext_fields=fields, body=body
    )
    return encode(command)
