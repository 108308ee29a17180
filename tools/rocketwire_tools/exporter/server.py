"""The exporter's port, its client and its collector, until a signal."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.admin import open_admin
from rocketwire.serving.addresses import is_loopback
from rocketwire.serving.http.port import HttpPort
from rocketwire_tools.exporter.collection import collect
from rocketwire_tools.exporter.collector import Collector
from rocketwire_tools.exporter.documents import exchange_of
from rocketwire_tools.exporter.exposition import gauges_text

if TYPE_CHECKING:
    from rocketwire.client import ClientConfig
    from rocketwire.serving.http.exchange import Exchange
    from rocketwire_tools.exporter.command_line import Options

_LOG: Final = logging.getLogger("rocketwire.exporter")

SEND_SECONDS: Final = 10.0
"""Time to send a response, besides the time that a scrape waits for a collection."""


async def serve(
    config: ClientConfig,
    options: Options,
    task_status: trio.TaskStatus[str] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve metrics until cancelled; the task's value is the address of the first page.

    Raises ``BindError`` if the port is in use, or a library is missing.
    """
    async with open_admin(config, within=options.request_timeout) as admin:

        async def collect_text() -> bytes:
            return await trio.to_thread.run_sync(gauges_text, await collect(admin, options.limits))

        collector = Collector(collect_text, wait=options.wait, min_interval=options.min_interval)

        async def open_exchange(address: str) -> Exchange:
            await trio.lowlevel.checkpoint()
            return exchange_of(collector, local_only=is_loopback(address))

        port = HttpPort(
            open_exchange,
            before_answer=collector.refresh,
            exchange_seconds=options.wait + SEND_SECONDS,
        )
        await port.start(options.address, options.port)
        _LOG.info("metrics at %smetrics", port.url)
        task_status.started(port.url)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(collector.serve)
            nursery.start_soon(port.serve)
