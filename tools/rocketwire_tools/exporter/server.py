"""The port of the exporter with its documents, its client and its collector, until a signal."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.admin import open_admin
from rocketwire.serving.addresses import is_loopback
from rocketwire.serving.http.exchange import Document, Exchange, plain
from rocketwire.serving.http.port import HttpPort
from rocketwire_tools.exporter.collection import collect
from rocketwire_tools.exporter.exposition import Collector, content_type_for, gauges_text

if TYPE_CHECKING:
    from rocketwire.client import ClientConfig
    from rocketwire_tools.exporter.command_line import Options


_PAGE = """\
<!doctype html><html lang=en><meta charset=utf-8><title>rocketwire-exporter</title>
<h1>rocketwire-exporter</h1><p><a href=/metrics>metrics</a> · <a href=/healthz>healthz</a></p>
"""


def exchange_of(collector: Collector, *, local_only: bool) -> Exchange:
    """An exchange over the documents; ``local_only`` refuses host names other than localhost."""

    def respond(path: str, _: Mapping[str, str]) -> Document | None:
        if path == "/metrics":
            form = content_type_for(exchange.accept)
            text = collector.text(form)
            if exchange.accepts_gzip:  # fast: the text shrinks to a twentieth already
                return Document(200, form, gzip.compress(text, 1), encoding="gzip")
            return Document(200, form, text)
        if path == "/healthz":
            return plain(200, "ok")
        if path == "/":
            return Document(200, "text/html; charset=utf-8", _PAGE.encode())
        return None

    exchange = Exchange(respond, local_only=local_only)
    return exchange


SEND_SECONDS: Final = 10.0
"""Time to send a response, besides the time that a scrape waits for a collection."""


async def serve(
    config: ClientConfig,
    options: Options,
    task_status: trio.TaskStatus[str] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve metrics until cancelled; the task's value is the address of the first page."""
    async with open_admin(config, within=options.request_timeout) as admin:

        async def collect_text() -> bytes:
            return await trio.to_thread.run_sync(gauges_text, await collect(admin, options))

        collector = Collector(collect_text, wait=options.wait, min_interval=options.min_interval)

        async def open_exchange(address: str) -> Exchange:
            await trio.lowlevel.checkpoint()
            return exchange_of(collector, local_only=is_loopback(address))

        port = HttpPort(
            open_exchange,
            before_answer=collector.refresh,
            exchange_seconds=options.wait + SEND_SECONDS,
        )
        await port.start(*options.listen)
        task_status.started(port.url)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(collector.serve)
            nursery.start_soon(port.serve)
