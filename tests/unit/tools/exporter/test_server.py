"""The exporter's port: its documents, and a scrape with the real client and no name server."""

import gzip

import pytest
import trio

from rocketwire.client import ClientConfig
from rocketwire_tools.exporter.command_line import build_parser, options_of
from rocketwire_tools.exporter.exposition import Collector
from rocketwire_tools.exporter.server import exchange_of, serve


async def test_a_scrape_is_answered_if_no_name_server_answers(nursery: trio.Nursery) -> None:
    arguments = build_parser().parse_args(["--listen", "127.0.0.1:0"])
    config = ClientConfig(namesrv_addr=("127.0.0.1:1",))
    url: str = await nursery.start(serve, config, options_of(arguments, 5.0))
    port = int(url.rstrip("/").rpartition(":")[2])
    async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
        await stream.send_all(
            b"GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
        )
        answer = b"".join([part async for part in stream]).decode()

    assert answer.startswith("HTTP/1.1 200 ")
    assert "\nrocketmq_exporter_up 0.0\n" in answer
    nursery.cancel_scope.cancel()


async def collect() -> bytes:
    return b""


def get(path: str, *, host: str = "localhost", accept: str = "*/*", local: bool = True) -> str:
    exchange = exchange_of(Collector(collect), local_only=local)
    head = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept: {accept}\r\n\r\n"
    return exchange.receive(head.encode()).decode()


@pytest.mark.parametrize(
    ("path", "status"), [("/", "200"), ("/healthz", "200"), ("/metrics", "200"), ("/other", "404")]
)
def test_each_path_has_its_document(path: str, status: str) -> None:
    assert get(path).startswith(f"HTTP/1.1 {status} ")


def test_openmetrics_is_sent_to_a_client_that_accepts_it() -> None:
    text = get("/metrics", accept="application/openmetrics-text;version=1.0.0")

    assert "content-type: application/openmetrics-text" in text.lower()
    assert text.endswith("# EOF\n")


def test_a_foreign_host_name_is_refused_on_a_loopback_address_only() -> None:
    assert get("/metrics", host="evil.example").startswith("HTTP/1.1 421 ")
    assert get("/metrics", host="exporter.example", local=False).startswith("HTTP/1.1 200 ")


def test_prometheus_gets_gzip_because_it_asks_for_it() -> None:
    exchange = exchange_of(Collector(collect), local_only=True)
    head = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n"
    headers, _, body = exchange.receive(head).partition(b"\r\n\r\n")

    assert b"content-encoding: gzip" in headers
    assert get("/metrics").endswith(gzip.decompress(body).decode())
