"""What brokers are told of a client's groups, and when the short form will do: pure.

Rules of this file: a heartbeat without subscriptions goes only to a broker that has said it understands it and that was told
these very subscriptions before; the classes of heartbeats are imported with the first one, which a producer sends after its first
message.

Java: ``MQClientInstance`` (``prepareHeartbeatData``, ``sendHeartbeatToBrokerV2``), ``HeartbeatData.computeHeartbeatFingerprint``.
"""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rocketwire.messages import encode_body

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rocketwire.messages.heartbeat import ConsumerData, HeartbeatData

SUPPORTS_V2: Final = "IS_SUPPORT_HEART_BEAT_V2"
SUBSCRIPTION_CHANGED: Final = "IS_SUB_CHANGE"


def heartbeat_of(
    client_id: str, producer_groups: Iterable[str], consumers: Iterable[ConsumerData]
) -> HeartbeatData:
    """A client's whole heartbeat, with subscriptions."""
    from rocketwire.messages.heartbeat import HeartbeatData, ProducerData

    return HeartbeatData(
        client_id=client_id,
        producer_data_set=tuple(ProducerData(group_name=group) for group in producer_groups),
        consumer_data_set=tuple(consumers),
    )


def fingerprint_of(data: HeartbeatData) -> int:
    """A number that changes with the subscriptions, never 0; who sends it and when does not count.

    Brokers only compare it with the last one.  Java takes the hash code of its JSON, here it is a checksum.
    """
    consumers = tuple(
        replace(
            consumer,
            subscription_data_set=tuple(
                sorted(
                    (replace(one, sub_version=0) for one in consumer.subscription_data_set or ()),
                    key=lambda one: (one.topic or "", one.sub_string or ""),
                )
            ),
        )
        for consumer in sorted(data.consumer_data_set or (), key=lambda one: one.group_name or "")
    )
    plain = replace(
        data,
        client_id="",
        consumer_data_set=consumers,
        heartbeat_fingerprint=0,
        is_without_sub=False,
    )
    return zlib.crc32(encode_body(plain)) & 0x7FFF_FFFF or 1


def without_subscriptions(data: HeartbeatData) -> HeartbeatData:
    """The short form of a heartbeat."""
    consumers = tuple(
        replace(one, subscription_data_set=()) for one in data.consumer_data_set or ()
    )
    return replace(data, consumer_data_set=consumers, is_without_sub=True)


class HeartbeatMemory:
    """Which brokers understand the short form, and what each was told last."""

    def __init__(self) -> None:
        """Nobody was told anything."""
        self._understand: set[str] = set()
        self._told: dict[str, int] = {}

    def form_for(self, address: str, data: HeartbeatData) -> HeartbeatData:
        """What to send to that broker now, fingerprint included."""
        fingerprint = fingerprint_of(data)
        marked = replace(data, heartbeat_fingerprint=fingerprint)
        if address in self._understand and self._told.get(address) == fingerprint:
            return without_subscriptions(marked)
        return marked

    def answered(
        self, address: str, sent: HeartbeatData, ext_fields: Mapping[str, str] | None
    ) -> None:
        """Takes note of what a broker said to it."""
        fields = ext_fields or {}
        if fields.get(SUPPORTS_V2) == "true":
            self._understand.add(address)
        if fields.get(SUBSCRIPTION_CHANGED) == "true":
            self._told.pop(address, None)
        elif address in self._understand:
            self._told[address] = sent.heartbeat_fingerprint

    def forget(self, address: str) -> None:
        """That broker is to be told everything again: it was connected to anew, or it is gone."""
        self._told.pop(address, None)
