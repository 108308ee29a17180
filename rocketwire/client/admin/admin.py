"""``Admin``: what operators ask and tell, grouped by subject; opened by ``open_admin``.

Java: ``DefaultMQAdminExt``.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from rocketwire.client.admin.auth import Acls, Users
from rocketwire.client.admin.brokers import Brokers
from rocketwire.client.admin.clusters import Clusters
from rocketwire.client.admin.consumers import Consumers
from rocketwire.client.admin.controllers import Controllers
from rocketwire.client.admin.fanout import ADMIN_TIMEOUT
from rocketwire.client.admin.groups import Groups
from rocketwire.client.admin.lite import LiteTopics
from rocketwire.client.admin.message_operations import Messages
from rocketwire.client.admin.name_servers import NameServerUpkeep
from rocketwire.client.admin.offsets import Offsets
from rocketwire.client.admin.static_topics import StaticTopics
from rocketwire.client.admin.storage_engine import Stores
from rocketwire.client.admin.topics import Topics
from rocketwire.client.admin.user_data_export import Exports
from rocketwire.client.instance.opening import open_or_reuse_client

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.client.instance.opening import Client


class Admin:
    """Operators' calls by subject; each call is on its own, nothing is kept between them.

    Cancelling a call forgets it; what it told a broker may have been done.  A call that asks
    several brokers fails where one of them does, and those that only read may do without it:
    ``leaving_out``.

    Attributes:
        client: carries the requests, and is there for producing and consuming beside.
        clusters: where brokers are.
        topics: creating, changing, deleting, listing topics; their numbers and their order.
        groups: likewise of consumer groups.
        offsets: of queues and groups; resetting and cloning.
        consumers: who is connected and how far they are; producers too.
        messages: finding messages, and what became of them.
        brokers: configuration, runtime, replication, cleaning up.
        stores: timed messages, and what is kept in RocksDB.
        exports: what users made on a broker.
        name_servers: key-value and own configuration, write permissions.
        static_topics: topics whose queues stay when brokers come and go.
        users: who may connect, where brokers authenticate.
        acls: what they may do.
        lite: lite topics and pops.
        controllers: masters and replicas that a controller keeps.
    """

    def __init__(self, client: ClientInstance, *, within: float = ADMIN_TIMEOUT) -> None:
        """Nothing is sent yet.

        Args:
            client: carries the requests.
            within: seconds for one call to one broker.
        """
        self.client = client
        self.clusters = Clusters(client, within)
        self.topics = Topics(client, self.clusters, within)
        self.groups = Groups(client, self.clusters, self.topics, within)
        self.offsets = Offsets(client, self.clusters, self.topics, within)
        self.consumers = Consumers(client, self.clusters, within)
        self.messages = Messages(client, self.clusters, self.consumers, within)
        self.brokers = Brokers(client, self.clusters, within)
        self.stores = Stores(client, within)
        self.exports = Exports(self.topics, self.groups)
        self.name_servers = NameServerUpkeep(client, within)
        self.static_topics = StaticTopics(client, self.clusters, self.topics, within)
        self.users = Users(client, self.clusters, within)
        self.acls = Acls(client, self.clusters, within)
        self.lite = LiteTopics(client, within)
        self.controllers = Controllers(client, within)


@asynccontextmanager
async def open_admin(client: Client, *, within: float = ADMIN_TIMEOUT) -> AsyncGenerator[Admin]:
    """An ``Admin`` for the length of the block.

    Args:
        client: an open client, which stays open; or settings or name servers
            (``host:port;host:port``) of a new one.
        within: seconds for one call to one broker; queries by key have three times as much,
            cleaning up six times.

    Raises:
        NotInTrioError: the caller does not run in trio.
        IllegalTypeError: ``client`` is something else.
        LocalProtocolError: a configured address is not ``host:port``.

    Closing: what the block opened is closed at its end, also when it is cancelled.
    """
    async with open_or_reuse_client(client) as instance:
        yield Admin(instance, within=within)
