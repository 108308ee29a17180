"""Which groups have handled a message, according to their offsets.

Java: ``DefaultMQAdminExtImpl.messageTrackDetail``, ``TrackType``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, RocketWireError
from rocketwire.messages import message_const as const
from rocketwire.messages.enums import ConsumeType, MessageModel

if TYPE_CHECKING:
    from rocketwire.client.admin.admin import Admin
    from rocketwire.messages.connections import ConsumerConnection
    from rocketwire.messages.route import BrokerData
    from rocketwire.wire.message.stored import StoredMessage


class TrackType(StrEnum):
    """State of a message in a group (Java: ``TrackType``)."""

    CONSUMED = "CONSUMED"
    CONSUMED_BUT_FILTERED = "CONSUMED_BUT_FILTERED"
    PULL = "PULL"
    NOT_CONSUME_YET = "NOT_CONSUME_YET"
    NOT_ONLINE = "NOT_ONLINE"
    CONSUME_BROADCASTING = "CONSUME_BROADCASTING"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class MessageTrack:
    """State of a message in a group (Java: ``MessageTrack``)."""

    consumer_group: str
    track_type: TrackType
    exception_desc: str | None = None  #: why the state is unknown; None if it is known


async def message_tracks(admin: Admin, message: StoredMessage) -> list[MessageTrack]:
    """Return the state of a message in every group that reads its topic (codes 300, 203, 208).

    An error of one group is in its track. Java: ``messageTrackDetail``.
    """
    tracks: list[MessageTrack] = []
    for group in await admin.topics.consumer_groups(message.topic):
        try:
            connection = await admin.consumers.connection(group)
            tracks.append(MessageTrack(group, await _track_type(admin, message, group, connection)))
        except BrokerError as error:
            offline = error.code == ResponseCode.CONSUMER_NOT_ONLINE
            track_type = TrackType.NOT_ONLINE if offline else TrackType.UNKNOWN
            tracks.append(MessageTrack(group, track_type, str(error)))
        except RocketWireError as error:
            tracks.append(MessageTrack(group, TrackType.UNKNOWN, str(error)))
    return tracks


async def _track_type(
    admin: Admin, message: StoredMessage, group: str, connection: ConsumerConnection
) -> TrackType:
    if connection.consume_type == ConsumeType.CONSUME_ACTIVELY:
        return TrackType.PULL
    if connection.message_model == MessageModel.BROADCASTING:
        return TrackType.CONSUME_BROADCASTING
    if connection.consume_type != ConsumeType.CONSUME_PASSIVELY:
        return TrackType.UNKNOWN
    if not await _is_consumed(admin, message, group):
        return TrackType.NOT_CONSUME_YET
    subscription = (connection.subscription_table or {}).get(message.topic)
    tags = (subscription.tags_set if subscription else None) or ()
    tag = (message.properties or {}).get(const.TAGS)
    if tags and tag not in tags and "*" not in tags:
        return TrackType.CONSUMED_BUT_FILTERED
    return TrackType.CONSUMED


async def _is_consumed(admin: Admin, message: StoredMessage, group: str) -> bool:
    stats = await admin.consumers.stats(group, message.topic)
    table = (await admin.clusters.info()).broker_addr_table or {}
    stored_at = str(message.store_host)
    return any(
        queue.topic == message.topic
        and queue.queue_id == message.queue_id
        and stored_at in _addresses(table, queue.broker_name)
        and wrapper.consumer_offset > message.queue_offset
        for queue, wrapper in (stats.offset_table or {}).items()
    )


def _addresses(table: Mapping[str, BrokerData], broker_name: str | None) -> tuple[str, ...]:
    group = table.get(broker_name or "")
    return tuple((group.broker_addrs or {}).values()) if group else ()
