"""HTTP of operators' tools, and invalid HTTP."""

from __future__ import annotations

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


def exchange(*, local_only: bool = False) -> Exchange:
    return Exchange(respond, local_only=local_only)


def get(target: str, *, method: str = "GET", version: str = "1.1", more: bytes = b"") -> bytes:
    return f"{method} {target} HTTP/{version}\r\n".encode() + HOST + more + b"\r\n"


def status_of(sent: bytes) -> int:
    return int(sent.split(b" ", 2)[1])


def body_of(sent: bytes) -> bytes:
    return sent.partition(b"\r\n\r\n")[2]


def test_a_path_and_its_query_are_answered() -> None:
    one = exchange()
    sent = one.receive(get("/a/b?topic=x%20y&topic=z&empty="))

    assert sent.startswith(b"HTTP/1.1 200 OK\r\n")
    assert body_of(sent) == b"/a/b {'topic': 'x y'}"
    assert b"content-security-policy: default-src 'none'; img-src data:; style-src" in sent
    assert not one.closed


def test_a_request_in_single_bytes_is_the_same_request() -> None:
    one = exchange()
    sent = b"".join(one.receive(bytes([byte])) for byte in get("/a"))

    assert body_of(sent) == b"/a {}"


def test_several_requests_at_once_are_answered_in_turn() -> None:
    sent = exchange().receive(get("/a") + get("/b") + get("/c"))

    assert [part.split(b" ")[0] for part in sent.split(b"\r\n\r\n")[1:]] == [b"/a", b"/b", b"/c"]


def test_head_says_how_long_the_body_would_be_and_no_more() -> None:
    sent = exchange().receive(get("/a", method="HEAD"))

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
def test_missing_document_ends_no_connection(data: bytes, status: int) -> None:
    one = exchange()

    assert status_of(one.receive(data)) == status
    assert not one.closed


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (get("/", method="POST", more=b"Content-Length: 3\r\n") + b"abc", 405),
        (get("*", method="OPTIONS"), 405),
        (get("/", more=b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"), 400),
        (get("/", more=b"Content-Length: 3\r\n") + b"abc", 413),
        (get("/", more=b"Transfer-Encoding: chunked\r\n") + b"1\r\nx\r\n", 413),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"\x00\x00\x00\x67\x00\x00\x00\x63{", 400),
        (get("/", more=b"X: " + b"x" * MAX_HEAD + b"\r\n")[:-2], 431),
        (b"GET /" + b"x" * MAX_HEAD, 431),
    ],
)
def test_refused_request_ends_the_connection(data: bytes, status: int) -> None:
    one = exchange()
    sent = one.receive(data)

    assert status_of(sent) == status
    assert one.closed
    assert b"onnection: close\r\n" in sent
    assert (b"allow: GET, HEAD\r\n" in sent) is (status == 405)


@pytest.mark.parametrize("more", [b"Connection: close\r\n", b""])
def test_client_may_end_the_connection(more: bytes) -> None:
    one = exchange()
    sent = one.receive(get("/", version="1.1" if more else "1.0", more=more))

    assert status_of(sent) == 200
    assert one.closed


@pytest.mark.parametrize("before", [b"", get("/")])
def test_an_end_between_requests_is_one(before: bytes) -> None:
    one = exchange()
    one.receive(before)

    assert one.receive(b"") == b""
    assert one.closed


def test_an_end_within_a_request_is_answered_and_is_the_end() -> None:
    one = exchange()

    assert status_of(one.receive(b"GET / HT") + one.receive(b"")) == 400
    assert one.closed


def test_nothing_is_sent_after_the_end() -> None:
    one = exchange()
    one.receive(get("/", version="1.0"))

    assert one.receive(get("/")) == b""


def test_connection_has_a_limit_of_requests() -> None:
    one = exchange()
    answers = [one.receive(get("/")) for _ in range(MAX_REQUESTS)]

    assert b"onnection: close" not in answers[-2]
    assert b"onnection: close\r\n" in answers[-1]
    assert one.closed


def test_foreign_host_is_reported() -> None:
    hosts: list[str] = []
    one = Exchange(respond, local_only=True, refused=hosts.append)
    for host in ("rebound.example:5558", "localhost", "127.0.0.1:5558", "a.example"):
        one.receive(f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())

    assert hosts == ["rebound.example:5558", "a.example"]


def test_foreign_host_is_refused_by_a_local_server() -> None:
    data = b"GET / HTTP/1.1\r\nHost: rebound.example:5558\r\n\r\n"

    assert status_of(exchange(local_only=True).receive(data)) == 421
    assert status_of(exchange(local_only=True).receive(get("/"))) == 200
    assert status_of(exchange().receive(data)) == 200
    assert status_of(exchange(local_only=True).receive(b"GET / HTTP/1.0\r\n\r\n")) == 200


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
    sent = http.receive(get("/", more=f"Accept-Encoding: {accepted}\r\n".encode()))

    assert (b"content-encoding: gzip\r\n" in sent) == is_gzip
