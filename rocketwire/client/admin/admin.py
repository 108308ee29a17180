"""``Admin``: requests of operators, grouped by subject; ``open_admin`` opens it.

Java: ``DefaultMQAdminExt``.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from rocketwire.client.admin.auth import Acls as Acls
from rocketwire.client.admin.auth import Users as Users
from rocketwire.client.admin.brokers import Brokers as Brokers
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
from rocketwire.client.admin.storage_engine import Stores as Stores
from rocketwire.client.admin.topics import Topics as Topics
from rocketwire.client.instance.opening import Client, open_or_reuse_client

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance


class Admin:
    """Requests of operators by subject; the methods share no state.

    If a call is cancelled, a broker may have executed its request. A call to several brokers fails
    if one of them fails; inside ``leaving_out``, calls that only read skip brokers that do not
    respond. With ``dry_run`` a call reads and compares, and writes nothing; for ``by`` see
    ``Clusters.of_topic``. For errors see ``AdminCalls.ask``.

    Attributes:
        client: client instance that sends the requests; you can also produce and consume with it.
        clusters: addresses of brokers.
        topics: create, change, delete and list topics; their statistics and order.
        groups: create, change, delete and list consumer groups.
        offsets: offsets of queues and groups; reset and clone.
        consumers: connected consumers and producers, and consume progress.
        messages: find messages and their traces.
        brokers: configuration, runtime, replication, cleanup.
        stores: timed messages, and configuration in RocksDB.
        exports: topics and groups that users created on a broker.
        name_servers: key-value and own configuration, write permissions.
        static_topics: topics whose queues stay when brokers are added or removed.
        users: users of brokers that authenticate.
        acls: policies of these users.
        lite: lite topics and pops.
        controllers: masters and replicas of a controller.
    """

    def __init__(self, client: ClientInstance, *, within: float = ADMIN_TIMEOUT) -> None:
        """Send nothing yet; ``within`` is the timeout of a request in seconds."""
        self.client = client
        self.clusters: Final = Clusters(client, within)
        self.topics: Final = Topics(client, within)
        self.groups: Final = Groups(client, within)
        self.offsets: Final = Offsets(client, within)
        self.consumers: Final = Consumers(client, within)
        self.messages: Final = Messages(client, within)
        self.brokers: Final = Brokers(client, within)
        self.stores: Final = Stores(client, within)
        self.exports: Final = Exports(client, within)
        self.name_servers: Final = NameServerUpkeep(client, within)
        self.static_topics: Final = StaticTopics(client, within)
        self.users: Final = Users(client, within)
        self.acls: Final = Acls(client, within)
        self.lite: Final = LiteTopics(client, within)
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
