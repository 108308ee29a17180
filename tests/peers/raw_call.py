"""The smallest possible client of the protocol, written without the library so that it can judge the library's servers."""

import json
import re
import socket
import struct
from typing import NamedTuple

GET_ROUTEINFO_BY_TOPIC = 105
GET_BROKER_CLUSTER_INFO = 106
STANDARD_JSON_VERSION = 401
"""From this protocol version on a route is answered with quoted keys."""


class Answer(NamedTuple):
    """A response: ``header`` is the parsed JSON header, empty for a binary one."""

    header: dict[str, object]
    body: bytes


def frame(
    code: int,
    ext_fields: dict[str, str] | None = None,
    body: bytes = b"",
    *,
    opaque: int = 1,
    flag: int = 0,
    version: int = STANDARD_JSON_VERSION,
) -> bytes:
    """Return one request as Java's tools would send it, with a JSON header."""
    fields = {"code": code, "flag": flag, "language": "JAVA", "opaque": opaque, "version": version}
    header = json.dumps(fields | ({} if ext_fields is None else {"extFields": ext_fields})).encode()
    return struct.pack(">II", 4 + len(header) + len(body), len(header)) + header + body


def _exactly(stream: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        piece = stream.recv(count - len(data))
        if not piece:
            raise ConnectionError(f"closed after {len(data)} of {count} bytes")
        data += piece
    return data


def read_answer(stream: socket.socket) -> Answer:
    """Read one frame.

    Raises:
        ConnectionError: the peer closed the connection.
        TimeoutError: nothing came within the socket's own limit.
    """
    length, mark = struct.unpack(">II", _exactly(stream, 8))
    frame_bytes = _exactly(stream, length - 4)
    header_length = mark & 0xFFFFFF
    header: dict[str, object] = {} if mark >> 24 else json.loads(frame_bytes[:header_length])
    return Answer(header, frame_bytes[header_length:])


def ask(
    port: int,
    code: int,
    ext_fields: dict[str, str] | None = None,
    body: bytes = b"",
    *,
    seconds: float = 60.0,
) -> Answer:
    """Send one request on a connection of its own to a server on this machine, and return the answer."""
    with socket.create_connection(("127.0.0.1", port), seconds) as stream:
        stream.sendall(frame(code, ext_fields, body))
        return read_answer(stream)


def knows_broker(port: int, address: str) -> bool:
    """Whether the name server on that port lists a broker at ``address`` now; False also while there is no server."""
    try:
        return f'"{address}"'.encode() in ask(port, GET_BROKER_CLUSTER_INFO).body
    except OSError:
        return False


def brokers(port: int) -> set[str]:
    body = ask(port, GET_BROKER_CLUSTER_INFO).body.decode()
    return set(re.findall(r'"(127\.0\.0\.1:\d+)"', body))


def routes_to(port: int, topic: str, address: str) -> bool:
    """Whether the route of ``topic`` leads to ``address`` now; False also while there is no server."""
    try:
        return f'"{address}"'.encode() in ask(port, GET_ROUTEINFO_BY_TOPIC, {"topic": topic}).body
    except OSError:
        return False
