"""Builds heartbeats, and decides when one without subscriptions is enough; pure.

A heartbeat without subscriptions goes only to a broker that supports it and that received the same
subscriptions before. The message classes are imported with the first heartbeat, because a producer
sends its first message before.

Java: ``MQClientInstance`` (``prepareHeartbeatData``, ``sendHeartbeatToBrokerV2``),
``HeartbeatData.computeHeartbeatFingerprint``.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rocketwire.messages import encode_body

if TYPE_CHECKING:
    from rocketwire.messages.heartbeat import ConsumerData, HeartbeatData

SUPPORTS_V2: Final = "IS_SUPPORT_HEART_BEAT_V2"
SUBSCRIPTION_CHANGED: Final = "IS_SUB_CHANGE"


def build_heartbeat(
    client_id: str, producer_groups: Iterable[str], consumers: Iterable[ConsumerData]
) -> HeartbeatData:
    from rocketwire.messages.heartbeat import HeartbeatData, ProducerData

    return HeartbeatData(
        client_id=client_id,
        producer_data_set=tuple(ProducerData(group_name=group) for group in producer_groups),
        consumer_data_set=tuple(consumers),
    )


def compute_fingerprint(data: HeartbeatData) -> int:
    # Never 0; client id and versions do not matter. Brokers only compare it with the previous one.
    # Java uses the hash code of its JSON.
    consumers = tuple(
        replace(
            consumer,
            subscription_data_set=tuple(
                sorted(
                    (replace(s, sub_version=0) for s in consumer.subscription_data_set or ()),
                    key=lambda s: (s.topic or "", s.sub_string or ""),
                )
            ),
        )
        for consumer in sorted(data.consumer_data_set or (), key=lambda c: c.group_name or "")
    )
    normalized = replace(
        data,
        client_id="",
        consumer_data_set=consumers,
        heartbeat_fingerprint=0,
        is_without_sub=False,
    )
    return zlib.crc32(encode_body(normalized)) & 0x7FFF_FFFF or 1


def remove_subscriptions(data: HeartbeatData) -> HeartbeatData:
    consumers = tuple(
        replace(consumer, subscription_data_set=()) for consumer in data.consumer_data_set or ()
    )
    return replace(data, consumer_data_set=consumers, is_without_sub=True)


class HeartbeatHistory:
    def __init__(self) -> None:
        self._v2_brokers: set[str] = set()
        self._fingerprints: dict[str, int] = {}

    def prepare(self, address: str, data: HeartbeatData) -> HeartbeatData:
        fingerprint = compute_fingerprint(data)
        heartbeat = replace(data, heartbeat_fingerprint=fingerprint)
        if address in self._v2_brokers and self._fingerprints.get(address) == fingerprint:
            return remove_subscriptions(heartbeat)
        return heartbeat

    def record_response(
        self, address: str, heartbeat: HeartbeatData, ext_fields: Mapping[str, str] | None
    ) -> None:
        fields = ext_fields or {}
        if fields.get(SUPPORTS_V2) == "true":
            self._v2_brokers.add(address)
        if fields.get(SUBSCRIPTION_CHANGED) == "true":
            self._fingerprints.pop(address, None)
        elif address in self._v2_brokers:
            self._fingerprints[address] = heartbeat.heartbeat_fingerprint

    def forget(self, address: str) -> None:
        # send the subscriptions again: the broker was reconnected or removed
        self._fingerprints.pop(address, None)
