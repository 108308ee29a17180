"""``NameServers``: sends a request to one of several name servers, with failover.

A request tries each server once, within its timeout. Any response, also an error code, ends the
request. Writes that must reach every server use ``each``.

Java: ``NettyRemotingClient``, ``MQClientAPIImpl.fetchNameServerAddr``, ``TopAddressing``.
"""

from __future__ import annotations

import logging
import os
import random
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.addresses import join_address, split_address
from rocketwire.client.net.nameserver_api import NameServerCalls
from rocketwire.client.net.rpc import Response, decode_response, make_request
from rocketwire.client.outages import Outages
from rocketwire.client.trio_only import trio_only
from rocketwire.codes import ResponseCode
from rocketwire.errors import (
    ChannelError,
    ClientError,
    ConnectFailedError,
    NameServerError,
    NoNameServerError,
)
from rocketwire.transport.dial import is_address

if TYPE_CHECKING:
    from rocketwire.client.config import ClientConfig
    from rocketwire.client.net.pool import ChannelPool

_LOG: Final = logging.getLogger("rocketwire.client")

_START: Final = 999  # Java starts at a random index below this
MAX_RECORDS: Final = 64  # maximum addresses of a DNS name that are used


class NameServerSelector:
    def __init__(self, addresses: Iterable[str] = (), *, start: int = 0) -> None:
        self.addresses: tuple[str, ...] = tuple(addresses)
        self._next = start
        # the preferred server; None before the first response and after a failure
        self.current: str | None = None
        self.failed: set[str] = set()  # failed, and have not responded since

    def replace(self, addresses: Iterable[str]) -> tuple[str, ...]:
        """Set a list, unless it is empty or has the same servers; returns the removed addresses."""
        new = tuple(dict.fromkeys(addresses))
        if not new or set(new) == set(self.addresses):
            return ()
        removed = tuple(address for address in self.addresses if address not in new)
        self.addresses = new
        self.failed &= set(new)
        if self.current not in new:
            self.current = None
        return removed

    def next_order(self) -> tuple[str, ...]:
        """Return the order: the current server, then those after it, then those that failed."""
        order = self.peek_order()
        if self.current is None:
            self._next += 1
        return order

    def peek_order(self) -> tuple[str, ...]:
        if not self.addresses:
            return ()
        if self.current is None:
            start = self._next % len(self.addresses)
        else:
            start = self.addresses.index(self.current)
        rotated = self.addresses[start:] + self.addresses[:start]
        return tuple(sorted(rotated, key=self.failed.__contains__))

    def mark_responded(self, address: str) -> None:
        if address in self.addresses:
            self.failed.discard(address)
            self.current = address

    def mark_reachable(self, address: str) -> None:
        """Note that a connection succeeded; the server may still fail to respond."""
        self.failed.discard(address)

    def mark_failed(self, address: str) -> None:
        if address in self.addresses:
            self.failed.add(address)
        if self.current == address:
            self.current = None


def attempt_timeout(remaining: float, servers: int) -> float:
    """Return the timeout of the next attempt: half of ``remaining``, or all for the last server."""
    return remaining if servers <= 1 else remaining / 2


@trio_only()
class SingleNameServer(NameServerCalls):
    """Requests to one name server."""

    def __init__(self, pool: ChannelPool, config: ClientConfig, address: str) -> None:
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
    ) -> Response:
        """Send a request; see ``NameServerCalls.call``."""
        command = make_request(self._config, code, header, body)
        response = await self._pool.request(self.address, command, within=within)
        if response.code != ResponseCode.SUCCESS:
            raise NameServerError(response.code, response.remark, code, self.address)
        return decode_response(code, response)


@trio_only()
class NameServers(NameServerCalls):
    """The name servers of a client, with failover; the last server that responded comes first."""

    def __init__(
        self,
        pool: ChannelPool,
        config: ClientConfig,
        *,
        environment: Mapping[str, str] | None = None,
        chance: random.Random | None = None,
    ) -> None:
        """Use the configured addresses; ``refresh`` reads DNS and the address server.

        Raises:
            LocalProtocolError: a configured address is not ``host:port``.
        """
        self._pool = pool
        self._config = config
        self._outages = Outages()
        self._address_server_error = ""
        self._configured = config.name_servers(os.environ if environment is None else environment)
        self._chance = chance or random.Random()  # noqa: S311 - spreads load, hides nothing
        self._selector = NameServerSelector(start=self._chance.randrange(_START))
        self._selector.replace(self._shuffle(self._configured))

    @property
    def addresses(self) -> tuple[str, ...]:
        """The current servers; a DNS name with several records is resolved."""
        return self._selector.addresses

    @property
    def chosen(self) -> str | None:
        """The server that responded last; None before the first response and after a failure."""
        return self._selector.current

    async def call(
        self,
        code: int,
        header: object | Mapping[str, str] | None = None,
        body: object | bytes | None = None,
        *,
        within: float | None = None,
    ) -> Response:
        """Send a request; see ``NameServerCalls.call``.

        If every server fails, raise the last error, or one error if none accepts a connection.
        """
        limit = self._config.mq_client_api_timeout if within is None else within
        deadline = trio.current_time() + limit
        order = self._selector.next_order()
        failures: list[ChannelError] = []
        for attempt, address in enumerate(order):
            timeout = attempt_timeout(deadline - trio.current_time(), len(order) - attempt)
            server = SingleNameServer(self._pool, self._config, address)
            try:
                response = await server.call(code, header, body, within=max(timeout, 0.0))
            except NameServerError:
                self._selector.mark_responded(address)
                raise
            except ChannelError as error:
                _LOG.debug("name server %s: %s", address, error)
                self._selector.mark_failed(address)
                failures.append(error)
            else:
                self._selector.mark_responded(address)
                self._outages.end(f"name server {address}")
                return response
        if failures and all(type(error) is ConnectFailedError for error in failures):
            texts = "; ".join(map(str, failures))
            servers = "name server" if len(failures) == 1 else "name servers"
            raise ConnectFailedError(f"{servers} {texts}")
        raise failures[-1] if failures else self._no_name_server()

    def each(self) -> tuple[SingleNameServer, ...]:
        """Return every server, for requests that all of them must receive."""
        return tuple(
            SingleNameServer(self._pool, self._config, address)
            for address in self._selector.addresses
        )

    # ------------------------------------------------------------------ addresses

    def connect_soon(self) -> None:
        """Start to connect to the next server; if that fails, the next request tries again."""
        for address in self._selector.peek_order()[:1]:
            self._pool.connect_soon(address)

    def update(self, addresses: Iterable[str]) -> None:
        """Replace the servers; an empty list, or the same servers, changes nothing.

        Channels to removed servers accept no new requests.
        """
        for removed in self._selector.replace(self._shuffle(addresses)):
            self._outages.forget(f"name server {removed}")
            self._pool.invalidate(removed)

    async def refresh(self) -> None:
        """Resolve DNS names again, or read the address server if ``namesrv_addr`` is None.

        If that fails, the servers stay as they are.

        Cancellation: safe.
        """
        addresses = self._configured
        domain = self._config.address_server_domain
        if not addresses and domain is not None and self._config.namesrv_addr is None:
            addresses = await self._fetch_addresses(domain)
        hostnames: dict[str, str] = {}
        resolved = [ip for address in addresses for ip in await self._resolve(address, hostnames)]
        if resolved:
            self._pool.hostnames = hostnames
        self.update(resolved)

    async def probe(self) -> None:
        """Connect to the failed servers; a server that accepts a connection is used again."""
        for address in list(self._selector.failed):
            try:
                await self._pool.connect(address)
            except ChannelError as error:
                self._report(address, error)
                continue
            self._selector.mark_reachable(address)
            self._outages.end(f"name server {address}")

    def _report(self, address: str, error: ChannelError) -> None:
        # log a warning if another server is available; otherwise the caller gets the error
        total = len(self._selector.addresses)
        available = total - len(self._selector.failed)
        if available:
            self._outages.report(
                f"name server {address}",
                f"{error}; {available} of {total} name servers are available",
            )
        else:
            _LOG.debug("name server %s: %s", address, error)

    def _no_name_server(self) -> NoNameServerError:
        text = "no name server is configured: set namesrv_addr, NAMESRV_ADDR"
        text += " or address_server_domain"
        if self._address_server_error:
            text += f" (the address server failed: {self._address_server_error})"
        return NoNameServerError(text)

    async def _fetch_addresses(self, domain: str) -> tuple[str, ...]:
        from rocketwire.client.net.address_server import address_server_url, fetch_name_servers

        config = self._config
        url = address_server_url(domain, config.address_server_subgroup, config.unit_name)
        try:
            addresses = await fetch_name_servers(url)
        except ClientError as error:
            self._address_server_error = str(error)
            if self._selector.addresses:
                self._outages.report("address server", error)
            return ()
        self._outages.end("address server")
        return addresses

    async def _resolve(self, address: str, hostnames: dict[str, str]) -> tuple[str, ...]:
        # the addresses of a name with several records, else the address itself
        host, port = split_address(address)
        if is_address(host):
            return (address,)
        try:
            records = await trio.socket.getaddrinfo(host, port, type=trio.socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:  # unknown or invalid host name
            _LOG.debug("name server %s: %s", address, error)  # a request will report it
            return (address,)
        resolved = list(dict.fromkeys(join_address(str(record[4][0]), port) for record in records))
        if len(resolved) < 2:
            return (address,)
        if len(resolved) > MAX_RECORDS:
            self._outages.report(
                f"DNS name {host}", f"it has {len(resolved)} records; {MAX_RECORDS} are used"
            )
            resolved = sorted(resolved)[:MAX_RECORDS]  # the same ones each time
        hostnames.update(dict.fromkeys(resolved, host))
        return tuple(resolved)

    def _shuffle(self, addresses: Iterable[str]) -> list[str]:
        shuffled = list(addresses)
        self._chance.shuffle(shuffled)
        return shuffled
