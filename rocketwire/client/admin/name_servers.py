"""Key-value configuration, own configuration and write permissions of name servers.

Name servers do not share their state: changes go to all of them, reads to one.

Java: ``DefaultMQAdminExtImpl``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from rocketwire.client.admin.changes import Change, change_each, change_settings, delete_value
from rocketwire.client.admin.fanout import AdminCalls, call_each
from rocketwire.codes import RequestCode as Code
from rocketwire.errors import NoNameServerError
from rocketwire.messages.config_text import read_config

if TYPE_CHECKING:
    from rocketwire.client.net.nameservers import SingleNameServer

    Result = TypeVar("Result")


class NameServerUpkeep(AdminCalls):
    """Requests to name servers; for errors see ``NameServers.call``.

    A change goes to all of them, also if one fails; then the first error is raised.
    """

    async def put_kv(
        self, namespace: str, key: str, value: str, *, dry_run: bool = False
    ) -> list[Change[str]]:
        """Store a value (codes 101, 100; Java: ``createAndUpdateKvConfig``)."""
        return await self.change_kv(namespace, key, lambda _: value, dry_run=dry_run)

    async def delete_kv(
        self, namespace: str, key: str, *, dry_run: bool = False
    ) -> list[Change[str]]:
        """Delete a value (codes 101, 102; Java: ``deleteKvConfig``)."""
        return await self.change_kv(namespace, key, delete_value, dry_run=dry_run)

    async def change_kv(
        self,
        namespace: str,
        key: str,
        edit: Callable[[str | None], str | None],
        *,
        dry_run: bool = False,
    ) -> list[Change[str]]:
        """Change a value at each server (codes 101, 100, 102); returns both values of each.

        ``edit`` returns the new value for the present one; None for no value.
        """
        servers = self._servers()

        async def read(address: str) -> dict[str, str]:
            value = await servers[address].kv_value(namespace, key)
            return {} if value is None else {key: value}

        async def write(address: str, changes: Sequence[Change[str]]) -> None:
            for change in changes:
                if change.after is None:
                    await servers[address].delete_kv(namespace, key)
                else:
                    await servers[address].put_kv(namespace, key, change.after)

        return await change_each(servers, read, {key: edit}, write, dry_run=dry_run)

    async def kv_value(self, namespace: str, key: str) -> str | None:
        """Fetch a value or None (code 101; Java: ``getKVConfig``, which fails with code 22)."""
        return await self.client.name_servers.kv_value(namespace, key)

    async def kv_namespace(self, namespace: str) -> Mapping[str, str]:
        """Fetch the values of a namespace, if any (code 219; Java: ``getKVListByNamespace``)."""
        return await self.client.name_servers.kv_namespace(namespace)

    async def configs(self) -> dict[str, dict[str, str]]:
        """Fetch configurations by address and key (code 319; Java: ``getNameServerConfig``)."""
        return await self._each(self._config)

    async def update_configs(
        self, values: Mapping[str, str], *, dry_run: bool = False
    ) -> list[Change[str]]:
        """Change settings, in memory and in the file (codes 319, 318); returns both values of each.

        Java: ``updateNameServerConfig``.

        Raises:
            NameServerError: 16, a key is on the black list.
            LocalProtocolError: a key or value contains a line break, or ``values`` is empty.
            SettingNotFoundError: a server has no such setting, or did not accept its value.
        """
        servers = self._servers()
        return await change_settings(
            servers,
            lambda address: self._config(servers[address]),
            values,
            lambda address, text: servers[address].call(Code.UPDATE_NAMESRV_CONFIG, None, text),
            dry_run=dry_run,
        )

    async def wipe_write_perm(self, broker_name: str) -> dict[str, int]:
        """Remove the write permission of a broker's topics (code 205; ``wipeWritePermOfBroker``).

        Returns the number of topics by address. A registration of the broker restores the
        permission if its topics have changed.
        """
        return await self._each(lambda server: server.wipe_write_perm(broker_name))

    async def add_write_perm(self, broker_name: str) -> dict[str, int]:
        """Restore the write permission of a broker (code 327; Java: ``addWritePermOfBroker``)."""
        return await self._each(lambda server: server.add_write_perm(broker_name))

    async def _config(self, server: SingleNameServer) -> dict[str, str]:
        body: bytes | None = (await server.call(Code.GET_NAMESRV_CONFIG)).body
        return read_config(body or b"")

    async def _each(
        self, call: Callable[[SingleNameServer], Awaitable[Result]]
    ) -> dict[str, Result]:
        servers = self._servers()
        return await call_each(servers, lambda address: call(servers[address]))

    def _servers(self) -> dict[str, SingleNameServer]:
        servers = {server.address: server for server in self.client.name_servers.each()}
        if not servers:
            raise NoNameServerError("no name server is configured")
        return servers
