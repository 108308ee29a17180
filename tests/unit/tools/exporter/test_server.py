"""The exporter's port, with the real client and no name server."""

import trio

from rocketwire.client import ClientConfig
from rocketwire_tools.exporter.command_line import build_parser, options_of
from rocketwire_tools.exporter.server import serve


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
