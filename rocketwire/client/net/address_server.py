"""Reads the list of name servers from an HTTP address server, if none is configured.

Java: ``TopAddressing``, ``DefaultTopAddressing``.
"""

from __future__ import annotations

import socket
from contextlib import closing, suppress
from functools import partial
from http.client import HTTPConnection, HTTPException
from typing import Final
from urllib.parse import urlsplit

import trio

from rocketwire.client.addresses import parse_name_servers, split_address
from rocketwire.errors import ClientError, LocalProtocolError

DEFAULT_PORT: Final = 8080
FETCH_SECONDS: Final = 3.0  # Java's timeout for connecting and for reading
MAX_RESPONSE_SIZE: Final = 65_536  # largest response, in bytes


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
    sockets: list[socket.socket] = []
    get = partial(_get, parts.netloc, target, within, limit, sockets)
    try:
        with trio.fail_after(within):
            status, body = await trio.to_thread.run_sync(get, abandon_on_cancel=True)
    except (trio.TooSlowError, OSError, UnicodeError, HTTPException) as error:
        raise ClientError(f"{url}: {str(error) or 'no response'}") from error
    finally:
        for connected in sockets:  # ends the thread of a server that sends byte by byte for ever
            with suppress(OSError):
                connected.shutdown(socket.SHUT_RDWR)
    if status != 200:
        raise ClientError(f"{url}: status {status}")
    if len(body) > limit:
        raise ClientError(f"{url}: response is larger than {limit} bytes")
    return body.decode("utf-8", "replace")


def _get(
    netloc: str, target: str, within: float, limit: int, sockets: list[socket.socket]
) -> tuple[int, bytes]:
    with closing(HTTPConnection(*split_address(netloc), timeout=within)) as connection:
        connection.connect()
        sockets.append(connection.sock)
        connection.request("GET", target, headers={"Connection": "close", "Accept": "*/*"})
        response = connection.getresponse()
        return response.status, response.read(limit + 1)
