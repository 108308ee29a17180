"""Name servers by HTTP from an address server, for clients that have none configured; the only importer of h11 here.

Java: ``TopAddressing``, ``DefaultTopAddressing``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import trio

from rocketwire.client.addresses import parse_name_servers, split_address
from rocketwire.errors import ClientError, LocalProtocolError

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_PORT: Final = 8080
FETCH_SECONDS: Final = 3.0
"""Java's limit for connecting and for reading."""
MAX_ANSWER: Final = 65_536
"""Most bytes of an answer that are read."""

_STREAM_ERRORS: Final = (
    OSError,
    UnicodeError,  # of a domain that cannot be one
    trio.BrokenResourceError,
    trio.ClosedResourceError,
)


def address_server_url(
    domain: str,
    subgroup: str,
    unit_name: str | None = None,
    parameters: Mapping[str, str] | None = None,
) -> str:
    """The URL to ask.

    Args:
        domain: host of the address server, with a port if not 8080.
        subgroup: Java's default is ``nsaddr``.
        unit_name: of the client; brokers have none.
        parameters: further ones.
    """
    host = domain if ":" in domain else f"{domain}:{DEFAULT_PORT}"
    unit = (unit_name or "").strip()
    extra = [f"{key}={value}" for key, value in (parameters or {}).items()]
    path = f"{subgroup}-{unit}" if unit else subgroup
    if unit:
        extra.insert(0, "nofix=1")
    return f"http://{host}/rocketmq/{path}" + (f"?{'&'.join(extra)}" if extra else "")


def addresses_in(answer: str) -> tuple[str, ...]:
    """The name servers that an answer tells: its first line.

    Raises:
        LocalProtocolError: that is no list of addresses.
    """
    lines = answer.strip().splitlines()
    return parse_name_servers(lines[0] if lines else "")


async def fetch_name_servers(url: str, *, within: float = FETCH_SECONDS) -> tuple[str, ...]:
    """Ask an address server.

    Args:
        url: as ``address_server_url`` makes it; plain HTTP.
        within: seconds for all of it.

    Returns:
        The name servers; empty where it tells none.

    Raises:
        ClientError: no answer in time, another status than 200, or not addresses; or h11 is missing (extra ``client``).
    """
    parts = urlsplit(url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    try:
        with trio.fail_after(within):
            status, text = await _get(parts.netloc, target)
    except (trio.TooSlowError, *_STREAM_ERRORS) as error:
        raise ClientError(f"{url}: {error or 'no answer'}") from error
    if status != 200:
        raise ClientError(f"{url}: status {status}")
    try:
        return addresses_in(text)
    except LocalProtocolError as error:
        raise ClientError(f"{url}: {error}") from error


async def _get(netloc: str, target: str) -> tuple[int, str]:
    try:
        import h11
    except ImportError as error:
        raise ClientError("asking an address server needs h11: rocketwire[client]") from error
    host, port = split_address(netloc)
    connection = h11.Connection(h11.CLIENT)
    headers = [("Host", netloc), ("Connection", "close"), ("Accept", "*/*")]
    ask = connection.send(h11.Request(method="GET", target=target, headers=headers)) or b""
    ask += connection.send(h11.EndOfMessage()) or b""
    status, body = 0, bytearray()
    async with await trio.open_tcp_stream(host, port) as stream:
        await stream.send_all(ask)
        try:
            while True:
                event = connection.next_event()
                if event is h11.NEED_DATA:
                    connection.receive_data(bytes(await stream.receive_some()))
                elif isinstance(event, h11.Response):
                    status = event.status_code
                elif isinstance(event, h11.Data):
                    body += event.data
                elif not isinstance(event, h11.InformationalResponse):
                    return status, body.decode("utf-8", "replace")
                if len(body) > MAX_ANSWER:
                    raise ClientError(f"{netloc}: more than {MAX_ANSWER} bytes")
        except h11.RemoteProtocolError as error:
            raise ClientError(f"{netloc}: {error}") from error
