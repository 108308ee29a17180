"""What operators tell name servers: key-value configuration, their own configuration, write permissions.

Rules of this file: a name server tells nothing to the others, so every one of them is told; what is asked, one of them is asked.

Java: ``DefaultMQAdminExtImpl``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.client.admin.fanout import Asking, of_each
from rocketwire.codes import RequestCode as Code
from rocketwire.errors import NoNameServerError
from rocketwire.messages.config_text import config_lines, read_config

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from typing import TypeVar

    from rocketwire.client.net.nameservers import SingleNameServer

    Result = TypeVar("Result")


class NameServerUpkeep(Asking):
    """Calls to every name server; all of them raise what ``NameServers.call`` raises.

    What is told to all of them is told to all, whoever fails; then the first error is raised.
    """

    async def put_kv(self, namespace: str, key: str, value: str) -> None:
        """Store one value (code 100; Java: ``createAndUpdateKvConfig``)."""
        await self._each(lambda server: server.put_kv(namespace, key, value))

    async def delete_kv(self, namespace: str, key: str) -> None:
        """Remove one value (code 102; Java: ``deleteKvConfig``)."""
        await self._each(lambda server: server.delete_kv(namespace, key))

    async def kv_value(self, namespace: str, key: str) -> str | None:
        """One value (code 101; Java: ``getKVConfig``, which fails with code 22).

        None where there is none.
        """
        return await self.client.name_servers.kv_value(namespace, key)

    async def kv_namespace(self, namespace: str) -> Mapping[str, str]:
        """Everything in one namespace (code 219; Java: ``getKVListByNamespace``).

        Empty where there is nothing.
        """
        return await self.client.name_servers.kv_namespace(namespace)

    async def configs(self) -> dict[str, dict[str, str]]:
        """The configuration of each, by address and key (code 319.

        Java: ``getNameServerConfig``).
        """

        async def ask(server: SingleNameServer) -> dict[str, str]:
            body: bytes | None = (await server.call(Code.GET_NAMESRV_CONFIG)).body
            return read_config(body or b"")

        return await self._each(ask)

    async def update_configs(self, values: Mapping[str, str]) -> None:
        """Change some of it, in memory and in the file (code 318.

        Java: ``updateNameServerConfig``).

        Raises:
            NameServerError: 16, a key is on the black list.
            LocalProtocolError: a key or value has a line break, or nothing is to be changed.
        """
        text = config_lines(values)
        await self._each(lambda server: server.call(Code.UPDATE_NAMESRV_CONFIG, None, text))

    async def wipe_write_perm(self, broker_name: str) -> dict[str, int]:
        """Have nobody send to a broker any more (code 205).

        By address, how many topics that concerned.

        Java: ``wipeWritePermOfBroker``.  Registrations of the broker give the permission back where
        they change its topics.
        """
        return await self._each(lambda server: server.wipe_write_perm(broker_name))

    async def add_write_perm(self, broker_name: str) -> dict[str, int]:
        """Give the permission back (code 327).

        As ``wipe_write_perm`` (Java: ``addWritePermOfBroker``).
        """
        return await self._each(lambda server: server.add_write_perm(broker_name))

    async def _each(
        self, call: Callable[[SingleNameServer], Awaitable[Result]]
    ) -> dict[str, Result]:
        servers = {server.address: server for server in self.client.name_servers.each()}
        if not servers:
            raise NoNameServerError("no name server is known")
        return await of_each(servers, lambda address: call(servers[address]))
