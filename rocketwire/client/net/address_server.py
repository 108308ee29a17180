"""Reads the list of name servers from an HTTP address server, if none is configured.

Java: ``TopAddressing``, ``DefaultTopAddressing``.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

import trio

from rocketwire.client.addresses import parse_name_servers, split_address
from rocketwire.errors import ClientError, LocalProtocolError

DEFAULT_PORT: Final = 8080
FETCH_SECONDS: Final = 3.0  # Java's timeout for connecting and for reading
MAX_RESPONSE_SIZE: Final = 65_536  # largest response, in bytes

_STREAM_ERRORS: Final = (
    OSError,
    UnicodeError,  # the domain is not a valid host name
    trio.BrokenResourceError,
    trio.ClosedResourceError,
)


def address_server_url(domain: str, subgroup: str, unit_name: str | None = None) -> str:
    host = domain if ":" in domain else f"{domain}:{DEFAULT_PORT}"
    unit = (unit_name or "").strip()
    return f"http://{host}/rocketmq/{subgroup}" + (f"-{unit}?nofix=1" if unit else "")


def parse_response(text: str) -> tuple[str, ...]:
    lines = text.strip().splitlines()
    return parse_name_servers(lines[0] if lines else "")


async def fetch_name_servers(url: str) -> tuple[str, ...]:
    text = await fetch_text(url)
    try:
        return parse_response(text)
    except LocalProtocolError as error:
        raise ClientError(f"{url}: {error}") from error


async def fetch_text(
    url: str, *, within: float = FETCH_SECONDS, limit: int = MAX_RESPONSE_SIZE
) -> str:
    """Fetch a text of at most ``limit`` bytes by plain HTTP; ``ClientError`` without one."""
    parts = urlsplit(url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    try:
        with trio.fail_after(within):
            status, text = await _get(parts.netloc, target, limit)
    except (trio.TooSlowError, *_STREAM_ERRORS) as error:
        raise ClientError(f"{url}: {error or 'no response'}") from error
    if status != 200:
        raise ClientError(f"{url}: status {status}")
    return text


async def _get(netloc: str, target: str, limit: int) -> tuple[int, str]:
    try:
        import h11
    except ImportError as error:
        raise ClientError(
            "an address server needs h11: pip install 'rocketwire[client]'"
        ) from error
    host, port = split_address(netloc)
    connection = h11.Connection(h11.CLIENT)
    headers = [("Host", netloc), ("Connection", "close"), ("Accept", "*/*")]
    request = connection.send(h11.Request(method="GET", target=target, headers=headers)) or b""
    request += connection.send(h11.EndOfMessage()) or b""
    status, body = 0, bytearray()
    async with await trio.open_tcp_stream(host, port) as stream:
        await stream.send_all(request)
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
                if len(body) > limit:
                    raise ClientError(f"{netloc}: response is larger than {limit} bytes")
        except h11.RemoteProtocolError as error:
            raise ClientError(f"{netloc}: {error}") from error
