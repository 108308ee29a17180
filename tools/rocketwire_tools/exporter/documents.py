"""The documents of the exporter's port by path."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rocketwire.serving.http.exchange import Document, Exchange, plain
from rocketwire_tools.exporter.exposition import content_type_for

if TYPE_CHECKING:
    from rocketwire_tools.exporter.collector import Collector

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
