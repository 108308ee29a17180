"""``Admin``: requests of operators, grouped by subject; ``message_tracks`` asks several of them.

Java: ``DefaultMQAdminExt``, ``DefaultMQAdminExtImpl.messageTrackDetail``.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from rocketwire.client.admin.auth import Acls as Acls
from rocketwire.client.admin.auth import Users as Users
from rocketwire.client.admin.brokers import Brokers as Brokers
from rocketwire.client.admin.brokers import Stores as Stores
from rocketwire.client.admin.clusters import Clusters as Clusters
from rocketwire.client.admin.consumers import Consumers as Consumers
from rocketwire.client.admin.controllers import Controllers as Controllers
from rocketwire.client.admin.fanout import ADMIN_TIMEOUT
from rocketwire.client.admin.groups import Exports as Exports
from rocketwire.client.admin.groups import Groups as Groups
from rocketwire.client.admin.lite import LiteTopics as LiteTopics
from rocketwire.client.admin.messages import Messages as Messages
from rocketwire.client.admin.name_servers import NameServerUpkeep as NameServerUpkeep
from rocketwire.client.admin.offsets import Offsets as Offsets
from rocketwire.client.admin.static_topics import StaticTopics as StaticTopics
from rocketwire.client.admin.topics import Topics as Topics
from rocketwire.client.instance.instance import Client, open_or_reuse_client
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, RocketWireError
from rocketwire.messages import message_const as const
from rocketwire.messages.enums import ConsumeType, MessageModel

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.connections import ConsumerConnection
    from rocketwire.messages.route import BrokerData
    from rocketwire.wire.message.stored import StoredMessage


class Admin:
    """Requests of operators by subject; the methods share no state.

    If a call is cancelled, a broker may have executed its request. A call to several brokers fails
    if one of them fails; inside ``leaving_out``, calls that only read skip brokers that do not
    respond. With ``dry_run`` a call reads and compares, and writes nothing; for ``by`` see
    ``Clusters.of_topic``. For errors see ``AdminCalls.ask``.
    """

    def __init__(self, client: ClientInstance, *, within: float = ADMIN_TIMEOUT) -> None:
        """Send nothing yet; ``within`` is the timeout of a request in seconds."""
        #: client instance that sends the requests; you can also produce and consume with it
        self.client = client
        self.clusters: Final = Clusters(client, within)  #: addresses of brokers
        #: create, change, delete and list topics; their statistics and order
        self.topics: Final = Topics(client, within)
        #: create, change, delete and list consumer groups
        self.groups: Final = Groups(client, within)
        #: offsets of queues and groups; reset and clone
        self.offsets: Final = Offsets(client, within)
        #: connected consumers and producers, and consume progress
        self.consumers: Final = Consumers(client, within)
        self.messages: Final = Messages(client, within)  #: find messages and their traces
        #: configuration, runtime, replication, cleanup
        self.brokers: Final = Brokers(client, within)
        self.stores: Final = Stores(client, within)  #: timed messages, and configuration in RocksDB
        #: topics and groups that users created on a broker
        self.exports: Final = Exports(client, within)
        #: key-value and own configuration, write permissions
        self.name_servers: Final = NameServerUpkeep(client, within)
        #: topics whose queues stay when brokers are added or removed
        self.static_topics: Final = StaticTopics(client, within)
        self.users: Final = Users(client, within)  #: users of brokers that authenticate
        self.acls: Final = Acls(client, within)  #: policies of these users
        self.lite: Final = LiteTopics(client, within)  #: lite topics and pops
        #: masters and replicas of a controller
        self.controllers: Final = Controllers(client, within)


@asynccontextmanager
async def open_admin(client: Client, *, within: float = ADMIN_TIMEOUT) -> AsyncGenerator[Admin]:
    """Open an ``Admin`` until the end of the block.

    Args:
        client: an open client, which stays open; or settings or name servers
            (``host:port;host:port``) of a new one.
        within: timeout of a request in seconds; queries by key have three times as much, cleanup
            six times.

    Raises:
        IllegalTypeError: ``client`` has another type.
        LocalProtocolError: a configured address is not ``host:port``.

    Closing: a client that the block opened is closed at its end, also after cancellation.
    """
    async with open_or_reuse_client(client) as instance:
        yield Admin(instance, within=within)


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
