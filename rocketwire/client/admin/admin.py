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

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance


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
