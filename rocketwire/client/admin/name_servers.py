"""Key-value configuration, own configuration and write permissions of name servers.

Name servers do not share their state: changes go to all of them, reads to one.

Java: ``DefaultMQAdminExtImpl``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from rocketwire.client.admin.fanout import AdminCalls, call_each
from rocketwire.codes import RequestCode as Code
from rocketwire.errors import NoNameServerError
from rocketwire.messages.config_text import config_lines, read_config

if TYPE_CHECKING:
    from rocketwire.client.net.nameservers import SingleNameServer

    Result = TypeVar("Result")


class NameServerUpkeep(AdminCalls):
    """Requests to name servers; for errors see ``NameServers.call``.

    A change goes to all of them, also if one fails; then the first error is raised.
    """

    async def put_kv(self, namespace: str, key: str, value: str) -> None:
        """Store a value (code 100; Java: ``createAndUpdateKvConfig``)."""
        await self._each(lambda server: server.put_kv(namespace, key, value))

    async def delete_kv(self, namespace: str, key: str) -> None:
        """Delete a value (code 102; Java: ``deleteKvConfig``)."""
        await self._each(lambda server: server.delete_kv(namespace, key))

    async def kv_value(self, namespace: str, key: str) -> str | None:
        """Fetch a value (code 101; Java: ``getKVConfig``, which fails with code 22).

        None if there is none.
        """
        return await self.client.name_servers.kv_value(namespace, key)

    async def kv_namespace(self, namespace: str) -> Mapping[str, str]:
        """Fetch all values of a namespace (code 219; Java: ``getKVListByNamespace``).

        Empty if it does not exist.
        """
        return await self.client.name_servers.kv_namespace(namespace)

    async def configs(self) -> dict[str, dict[str, str]]:
        """Fetch the configuration of each server, by address and key (code 319).

        Java: ``getNameServerConfig``.
        """

        async def ask(server: SingleNameServer) -> dict[str, str]:
            body: bytes | None = (await server.call(Code.GET_NAMESRV_CONFIG)).body
            return read_config(body or b"")

        return await self._each(ask)

    async def update_configs(self, values: Mapping[str, str]) -> None:
        """Change settings, in memory and in the file (code 318). Java: ``updateNameServerConfig``.

        Raises:
            NameServerError: 16, a key is on the black list.
            LocalProtocolError: a key or value contains a line break, or ``values`` is empty.
        """
        text = config_lines(values)
        await self._each(lambda server: server.call(Code.UPDATE_NAMESRV_CONFIG, None, text))

    async def wipe_write_perm(self, broker_name: str) -> dict[str, int]:
        """Remove the write permission of a broker's topics (code 205).

        Returns the number of topics by address. Java: ``wipeWritePermOfBroker``. A registration of
        the broker restores the permission if its topics have changed.
        """
        return await self._each(lambda server: server.wipe_write_perm(broker_name))

    async def add_write_perm(self, broker_name: str) -> dict[str, int]:
        """Restore the write permission (code 327).

        See ``wipe_write_perm`` (Java: ``addWritePermOfBroker``).
        """
        return await self._each(lambda server: server.add_write_perm(broker_name))

    async def _each(
        self, call: Callable[[SingleNameServer], Awaitable[Result]]
    ) -> dict[str, Result]:
        servers = {server.address: server for server in self.client.name_servers.each()}
        if not servers:
            raise NoNameServerError("no name server is configured")
        return await call_each(servers, lambda address: call(servers[address]))
