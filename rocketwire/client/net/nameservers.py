"""``NameServers``: asking one of several name servers, and going on to the next when it does not answer.

Rules of this file: a call goes round all servers once, within its limit; what a server *answers* counts, whatever it says.
Writes that have to reach every server are made with ``each``.

Java: ``NettyRemotingClient``, ``MQClientAPIImpl.fetchNameServerAddr``, ``TopAddressing``.
"""

from __future__ import annotations

import logging
import os
import random
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.addresses import join_address, split_address
from rocketwire.client.net.nameserver_api import NameServerCalls
from rocketwire.client.net.nameserver_selector import NameServerChoice, share_of
from rocketwire.client.net.rpc import make_request, read_answer
from rocketwire.client.outages import Outages
from rocketwire.client.trio_only import trio_only
from rocketwire.codes import ResponseCode
from rocketwire.errors import (
    ChannelError,
    ClientError,
    NameServerError,
    NoNameServerError,
)
from rocketwire.transport.dial import is_address

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rocketwire.client.config import ClientConfig
    from rocketwire.client.net.pool import ChannelPool
    from rocketwire.client.net.rpc import Answer

_LOG: Final = logging.getLogger("rocketwire.client")

_START: Final = 999
"""Java begins its round at a random number below this."""


@trio_only()
class OneNameServer(NameServerCalls):
    """The calls, to one name server.

    Attributes:
        address: which one.
    """

    def __init__(self, pool: ChannelPool, config: ClientConfig, address: str) -> None:
        """Nothing is sent yet.

        Args:
            pool: carries the requests.
            config: says how they are written.
            address: ``host:port``.
        """
        self.address = address
        self._pool = pool
        self._config = config

    async def call(
        self,
        code: int,
        header: object | Mapping[str, str] | None = None,
        body: object | bytes | None = None,
        *,
        within: float | None = None,
    ) -> Answer:
        """As ``NameServerCalls.call``."""
        command = make_request(self._config, code, header, body)
        response = await self._pool.request(self.address, command, within=within)
        if response.code != ResponseCode.SUCCESS:
            raise NameServerError(response.code, response.remark, code, self.address)
        return read_answer(code, response)


@trio_only()
class NameServers(NameServerCalls):
    """The name servers of a client; a call asks the one that answered last, and the others if it does not."""

    def __init__(
        self,
        pool: ChannelPool,
        config: ClientConfig,
        *,
        environment: Mapping[str, str] | None = None,
        chance: random.Random | None = None,
    ) -> None:
        """With the addresses that are configured; ``refresh`` asks DNS and the address server.

        Args:
            pool: carries the requests.
            config: addresses, and how requests are written.
            environment: variables that stand in for settings; None for those of this process.
            chance: orders the servers and says where the first round begins.

        Raises:
            LocalProtocolError: a configured address is not ``host:port``.
        """
        self._pool = pool
        self._config = config
        self._outages = Outages()
        self._refusal = ""
        self._configured = config.name_servers(os.environ if environment is None else environment)
        self._chance = chance or random.Random()  # noqa: S311 - spreads load, hides nothing
        self._choice = NameServerChoice(start=self._chance.randrange(_START))
        self._choice.replace(self._shuffled(self._configured))

    @property
    def addresses(self) -> tuple[str, ...]:
        """The servers that are asked, DNS names with several records resolved."""
        return self._choice.addresses

    @property
    def chosen(self) -> str | None:
        """The one that answered last."""
        return self._choice.chosen

    async def call(
        self,
        code: int,
        header: object | Mapping[str, str] | None = None,
        body: object | bytes | None = None,
        *,
        within: float | None = None,
    ) -> Answer:
        """As ``NameServerCalls.call``; the last error where no server answers."""
        limit = self._config.mq_client_api_timeout if within is None else within
        deadline = trio.current_time() + limit
        order = self._choice.order()
        failure: ChannelError | None = None
        for asked, address in enumerate(order):
            share = share_of(deadline - trio.current_time(), len(order) - asked)
            server = OneNameServer(self._pool, self._config, address)
            try:
                answer = await server.call(code, header, body, within=max(share, 0.0))
            except NameServerError:
                self._choice.answered(address)
                raise
            except ChannelError as error:
                _LOG.debug("name server %s: %s", address, error)
                self._choice.failed(address)
                failure = error
            else:
                self._choice.answered(address)
                self._outages.end(f"name server {address}")
                return answer
        raise failure or self._none()

    def each(self) -> tuple[OneNameServer, ...]:
        """Every server, for what has to be told to all of them."""
        return tuple(
            OneNameServer(self._pool, self._config, address) for address in self._choice.addresses
        )

    # ------------------------------------------------------------------ addresses

    def connect_soon(self) -> None:
        """Begin to connect to whom the next call asks, so that it is answered sooner; if that fails, the call tries again."""
        for address in self._choice.next_order()[:1]:
            self._pool.connect_soon(address)

    def update(self, addresses: Iterable[str]) -> None:
        """Use these from now on; an empty list, or the same ones, changes nothing.

        Channels to servers that are gone take no new requests.
        """
        for gone in self._choice.replace(self._shuffled(addresses)):
            self._outages.forget(f"name server {gone}")
            self._pool.invalidate(gone)

    async def refresh(self) -> None:
        """Ask DNS, or the address server if none is configured, not even an empty list; what cannot be learnt stays as it is.

        Cancellation: safe.
        """
        addresses = self._configured
        if not addresses and self._config.namesrv_addr is None:
            addresses = await self._told()
        self.update([one for address in addresses for one in await self._resolved(address)])

    async def probe(self) -> None:
        """Try to connect to those that failed; who can be connected to takes its place in the round again."""
        for address in self._choice.down:
            try:
                await self._pool.connect(address)
            except ChannelError as error:
                self._report(address, error)
                continue
            self._choice.came_back(address)
            self._outages.end(f"name server {address}")

    def _report(self, address: str, error: ChannelError) -> None:
        """Warn about one name server while others can be asked; whoever asks warns if there are none."""
        up = len(self._choice.addresses) - len(self._choice.down)
        if up:
            self._outages.report(
                f"name server {address}",
                f"{error}; {up} of {len(self._choice.addresses)} are asked",
            )
        else:
            _LOG.debug("name server %s: %s", address, error)

    def _none(self) -> NoNameServerError:
        text = "no name server is configured: set namesrv_addr or NAMESRV_ADDR"
        if self._refusal:
            text += f" (the address server told none: {self._refusal})"
        return NoNameServerError(text)

    async def _told(self) -> tuple[str, ...]:
        from rocketwire.client.net.address_server import address_server_url, fetch_name_servers

        config = self._config
        url = address_server_url(
            config.address_server_domain, config.address_server_subgroup, config.unit_name
        )
        try:
            told = await fetch_name_servers(url)
        except ClientError as error:
            self._refusal = str(error)
            if self._choice.addresses:
                self._outages.report("address server", error)
            return ()
        self._outages.end("address server")
        return told

    async def _resolved(self, address: str) -> tuple[str, ...]:
        """The addresses behind a name with several records; anything else as it is."""
        host, port = split_address(address)
        if is_address(host):
            return (address,)
        try:
            records = await trio.socket.getaddrinfo(host, port, type=trio.socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:  # no such name, or nothing that can be one
            _LOG.debug("name server %s: %s", address, error)  # as a call will say
            return (address,)
        found = tuple(dict.fromkeys(join_address(str(record[4][0]), port) for record in records))
        if len(found) < 2:
            return (address,)
        for one in found:
            self._pool.name_certificate(one, host)
        return found

    def _shuffled(self, addresses: Iterable[str]) -> list[str]:
        shuffled = list(addresses)
        self._chance.shuffle(shuffled)
        return shuffled
