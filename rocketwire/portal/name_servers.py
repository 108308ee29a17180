"""Requests to name servers, for both facades."""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

from rocketwire.client.instance.instance import open_or_reuse_client
from rocketwire.client.net.nameserver_api import NameServerCalls
from rocketwire.client.net.nameservers import NameServers as TrioNameServers
from rocketwire.client.net.nameservers import SingleNameServer as TrioSingleNameServer
from rocketwire.errors import LocalProtocolError
from rocketwire.portal.methods import ClientUser, Facade, PartOfClient, delegate

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rocketwire.client.instance.instance import Client


class _Requests(Facade):
    """The requests that one name server serves, or any."""

    route: Final = delegate(NameServerCalls.route)
    cluster_info: Final = delegate(NameServerCalls.cluster_info)
    member_group: Final = delegate(NameServerCalls.member_group)
    all_topics: Final = delegate(NameServerCalls.all_topics)
    topics_of_cluster: Final = delegate(NameServerCalls.topics_of_cluster)
    system_topics: Final = delegate(NameServerCalls.system_topics)
    unit_topics: Final = delegate(NameServerCalls.unit_topics)
    unit_subscribed_topics: Final = delegate(NameServerCalls.unit_subscribed_topics)
    unit_subscribed_other_topics: Final = delegate(NameServerCalls.unit_subscribed_other_topics)
    register_topic: Final = delegate(NameServerCalls.register_topic)
    delete_topic: Final = delegate(NameServerCalls.delete_topic)
    wipe_write_perm: Final = delegate(NameServerCalls.wipe_write_perm)
    add_write_perm: Final = delegate(NameServerCalls.add_write_perm)
    kv_value: Final = delegate(NameServerCalls.kv_value)
    kv_namespace: Final = delegate(NameServerCalls.kv_namespace)
    put_kv: Final = delegate(NameServerCalls.put_kv)
    delete_kv: Final = delegate(NameServerCalls.delete_kv)
    configuration: Final = delegate(NameServerCalls.configuration)
    update_configuration: Final = delegate(NameServerCalls.update_configuration)


class SingleNameServer(_Requests, PartOfClient, of=TrioSingleNameServer):
    call: Final = delegate(TrioSingleNameServer.call)

    def __init__(self, servers: NameServers, address: str) -> None:
        super().__init__(servers, partial(find_server, address))
        self.address = address


class NameServers(_Requests, ClientUser, of=TrioNameServers):
    call: Final = delegate(TrioNameServers.call)

    @property
    def addresses(self) -> tuple[str, ...]:
        addresses: tuple[str, ...] = self._client_in_trio.addresses
        return addresses

    @property
    def chosen(self) -> str | None:
        chosen: str | None = self._client_in_trio.chosen
        return chosen


@asynccontextmanager
async def open_name_servers(client: Client) -> AsyncGenerator[TrioNameServers]:
    async with open_or_reuse_client(client) as instance:
        yield instance.name_servers


def find_server(address: str, servers: TrioNameServers) -> TrioSingleNameServer:
    for server in servers.each():
        if server.address == address:
            return server
    raise LocalProtocolError(f"{address} is not a name server of the client any more")
