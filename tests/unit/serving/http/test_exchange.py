"""HTTP of operators' tools, and invalid HTTP."""

from collections.abc import Mapping

import pytest

from rocketwire.serving.http.exchange import (
    MAX_HEAD,
    MAX_REQUESTS,
    Document,
    Exchange,
    is_local_name,
    plain,
)

HOST = b"Host: localhost:5558\r\n"


def respond(path: str, query: Mapping[str, str]) -> Document | None:
    if path == "/missing":
        return None
    return Document(200, "text/plain", f"{path} {dict(query)}".encode())


@pytest.fixture
def exchange() -> Exchange:
    return Exchange(respond, local_only=False)


def get(target: str, *, method: str = "GET", version: str = "1.1", fields: bytes = b"") -> bytes:
    return f"{method} {target} HTTP/{version}\r\n".encode() + HOST + fields + b"\r\n"


def status_of(sent: bytes) -> int:
    return int(sent.split(b" ", 2)[1])


def body_of(sent: bytes) -> bytes:
    return sent.partition(b"\r\n\r\n")[2]


def test_a_path_and_its_query_are_answered(exchange: Exchange) -> None:
    sent = exchange.receive(get("/a/b?topic=x%20y&topic=z&empty="))

    assert sent.startswith(b"HTTP/1.1 200 OK\r\n")
    assert body_of(sent) == b"/a/b {'topic': 'x y'}"
    assert b"content-security-policy: default-src 'none'; img-src data:; style-src" in sent
    assert not exchange.closed


def test_a_request_in_single_bytes_is_the_same_request(exchange: Exchange) -> None:
    sent = b"".join(exchange.receive(bytes([byte])) for byte in get("/a"))

    assert body_of(sent) == b"/a {}"


def test_several_requests_at_once_are_answered_in_turn(exchange: Exchange) -> None:
    sent = exchange.receive(get("/a") + get("/b") + get("/c"))

    assert [part.split(b" ")[0] for part in sent.split(b"\r\n\r\n")[1:]] == [b"/a", b"/b", b"/c"]


def test_answer_to_head_has_no_body(exchange: Exchange) -> None:
    sent = exchange.receive(get("/a", method="HEAD"))

    assert b"content-length: 5\r\n" in sent
    assert body_of(sent) == b""


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (get("/missing"), 404),
        (get("/?" + "&".join(f"a{n}=1" for n in range(20))), 400),
        (get("http://[x/"), 400),
    ],
)
def test_missing_document_ends_no_connection(exchange: Exchange, data: bytes, status: int) -> None:
    assert status_of(exchange.receive(data)) == status
    assert not exchange.closed


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (get("/", method="POST", fields=b"Content-Length: 3\r\n") + b"abc", 405),
        (get("*", method="OPTIONS"), 405),
        (get("/", fields=b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"), 400),
        (get("/", fields=b"Content-Length: 3\r\n") + b"abc", 413),
        (get("/", fields=b"Transfer-Encoding: chunked\r\n") + b"1\r\nx\r\n", 413),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"\x00\x00\x00\x67\x00\x00\x00\x63{", 400),
        (get("/", fields=b"X: " + b"x" * MAX_HEAD + b"\r\n")[:-2], 431),
        (b"GET /" + b"x" * MAX_HEAD, 431),
    ],
)
def test_refused_request_ends_the_connection(exchange: Exchange, data: bytes, status: int) -> None:
    sent = exchange.receive(data)

    assert status_of(sent) == status
    assert exchange.closed
    assert b"onnection: close\r\n" in sent
    assert (b"allow: GET, HEAD\r\n" in sent) is (status == 405)


@pytest.mark.parametrize(("version", "fields"), [("1.1", b"Connection: close\r\n"), ("1.0", b"")])
def test_client_may_end_the_connection(exchange: Exchange, version: str, fields: bytes) -> None:
    assert status_of(exchange.receive(get("/", version=version, fields=fields))) == 200
    assert exchange.closed
    assert exchange.receive(get("/")) == b""


@pytest.mark.parametrize("data", [b"", get("/")])
def test_an_end_between_requests_is_one(exchange: Exchange, data: bytes) -> None:
    exchange.receive(data)

    assert exchange.receive(b"") == b""
    assert exchange.closed


def test_an_end_within_a_request_is_answered(exchange: Exchange) -> None:
    assert status_of(exchange.receive(b"GET / HT") + exchange.receive(b"")) == 400
    assert exchange.closed


def test_connection_has_a_limit_of_requests(exchange: Exchange) -> None:
    answers = [exchange.receive(get("/")) for _ in range(MAX_REQUESTS)]

    assert b"onnection: close" not in answers[-2]
    assert b"onnection: close\r\n" in answers[-1]
    assert exchange.closed


@pytest.mark.parametrize(
    ("fields", "local_only", "status"),
    [
        ("Host: rebound.example:5558\r\n", True, 421),
        ("Host: a.example\r\n", True, 421),
        ("Host: localhost\r\n", True, 200),
        ("Host: 127.0.0.1:5558\r\n", True, 200),
        ("", True, 200),
        ("Host: rebound.example:5558\r\n", False, 200),
    ],
)
def test_local_server_refuses_and_reports_hosts(fields: str, local_only: bool, status: int) -> None:
    hosts: list[str] = []
    http = Exchange(respond, local_only=local_only, refused=hosts.append)
    version = "1.1" if fields else "1.0"
    sent = http.receive(f"GET / HTTP/{version}\r\n{fields}\r\n".encode())

    assert status_of(sent) == status
    assert hosts == [fields.strip().removeprefix("Host: ")] * (status == 421)


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("", True),
        ("localhost", True),
        ("LOCALHOST:5558", True),
        ("127.0.0.1:5558", True),
        ("[::1]:5558", True),
        ("10.1.2.3", True),
        ("localhost.example", False),
        ("[::1", False),
        ("x", False),
    ],
)
def test_local_names(host: str, local: bool) -> None:
    assert is_local_name(host) is local


def test_a_document_may_depend_on_the_accept_header() -> None:
    accepted: list[str] = []

    def respond(path: str, query: Mapping[str, str]) -> Document:
        accepted.append(http.accept)
        return plain(200, path)

    http = Exchange(respond)
    for accept in ("Accept: a/b, c/d\r\n", ""):
        http.receive(f"GET / HTTP/1.1\r\nHost: localhost\r\n{accept}\r\n".encode())

    assert accepted == ["a/b, c/d", ""]


@pytest.mark.parametrize(
    ("accepted", "is_gzip"),
    [
        ("gzip", True),
        ("br, gzip;q=0.5", True),
        ("deflate, gzip; q=0", False),
        ("gzip;q=0.000", False),
        ("gzipped", False),
        ("", False),
    ],
)
def test_compression_follows_accept_encoding(accepted: str, *, is_gzip: bool) -> None:
    def respond(path: str, query: Mapping[str, str]) -> Document:
        return Document(200, "text/plain", b"", encoding="gzip" if http.accepts_gzip else "")

    http = Exchange(respond)
    sent = http.receive(get("/", fields=f"Accept-Encoding: {accepted}\r\n".encode()))

    assert (b"content-encoding: gzip\r\n" in sent) == is_gzip
