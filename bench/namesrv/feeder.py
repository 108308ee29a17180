"""The process that plays the brokers of all candidates: one line of JSON in, one out.

It is a separate process so that its work is on another core than the measured server, and it runs
during the whole benchmark: a name server removes a broker whose connection ends.  ``python -m
bench.namesrv.feeder`` ends with its standard input.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from typing import TYPE_CHECKING, Any

from bench.namesrv import routes
from bench.namesrv.links import FeedError, Link, feed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Answer = dict[str, Any]


class Feeder:
    """All simulated brokers, by their server."""

    def __init__(self) -> None:
        self._links: dict[str, list[Link]] = {}

    def connect(self, server: str, port: int, *, narrow: bool, wide: int, topics: int) -> Answer:
        """Register brokers at a server: those of ``routes.NARROW``, and ``wide`` others with
        ``topics`` topics each."""
        start = time.monotonic()
        links = self._links.setdefault(server, [])
        if narrow:
            for number, broker in enumerate(routes.narrow_brokers()):
                link = Link(port, broker)
                links.append(link)
                link.register(routes.narrow_body(number))
        for broker in routes.wide_brokers(wide):
            link = Link(port, broker)
            links.append(link)
            link.register(routes.wide_bodies("same", "zip", topics)[0])
        return {"brokers": len(links), "seconds": time.monotonic() - start}

    def beat(self) -> Answer:
        """Send a heartbeat of every broker; drop those whose server has closed the connection."""
        lost: list[str] = []
        for server, links in self._links.items():
            for link in links[:]:
                try:
                    link.beat()
                except (OSError, FeedError) as error:
                    lost.append(f"{server}: {error}")
                    links.remove(link)
                    link.close()
        return {"lost": lost}

    def feed(
        self, server: str, *, change: str, form: str, rate: float, seconds: float, brokers: int
    ) -> Answer:
        """Let ``brokers`` brokers of ``routes.WIDE`` register again and again (``links.feed``)."""
        bodies = routes.wide_bodies(change, form)
        return feed(self._wide(server, brokers), bodies, rate=rate, seconds=seconds)._asdict()

    def prime(self, server: str, *, change: str, form: str, brokers: int) -> Answer:
        """Register what a feed's first registrations differ from."""
        for link in self._wide(server, brokers):
            link.register(routes.wide_bodies(change, form)[0])
        return {}

    def _wide(self, server: str, brokers: int) -> list[Link]:
        links = [link for link in self._links[server] if link.broker.name.startswith("wide")]
        if len(links) < brokers:
            raise FeedError(f"of {brokers} brokers {server} has {len(links)}")
        return links[:brokers]

    def close(self, server: str) -> Answer:
        """Close the connections to a server."""
        for link in self._links.pop(server, []):
            link.close()
        return {}


def main() -> None:
    """Run the commands on stdin until it ends."""
    feeder = Feeder()
    gc.disable()  # there are no cycles, and a collection would show in the latencies
    doing: Mapping[str, Callable[..., Answer]] = {
        "connect": feeder.connect,
        "beat": feeder.beat,
        "feed": feeder.feed,
        "prime": feeder.prime,
        "close": feeder.close,
    }
    for line in sys.stdin:
        order: dict[str, Any] = json.loads(line)
        try:
            answer = doing[order.pop("do")](**order)
        except (OSError, FeedError) as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
