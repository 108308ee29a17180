"""The faults of servers and connections, one after the other."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import trio

from bench.faults.disks import NOTICED_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bench.faults.disks import SmallDisk
    from rocketwire_tools.pytest_plugin.faults import FaultProxy
    from tests.support.java.cluster import JavaCluster
    from tests.support.java.peers import JavaBroker


class Trouble(NamedTuple):
    """Something that goes wrong for a while."""

    name: str
    begin: Callable[[], object]
    end: Callable[[], object]
    seconds: float
    times: int = 1


def nothing() -> None:
    """It is over by itself."""


def troubles(
    cluster: JavaCluster,
    busy_broker: JavaBroker,
    proxies: Sequence[FaultProxy],
    disk: SmallDisk | None,
) -> list[Trouble]:
    """All of them, in order; connections first, a full disk last, for its broker looks at it after
    a minute."""

    def on_all(change: Callable[[FaultProxy], object]) -> Callable[[], object]:
        return lambda: [change(proxy) for proxy in proxies]

    def delay(proxy: FaultProxy) -> None:
        proxy.to_server.delay = proxy.to_client.delay = 0.02

    def cut(proxy: FaultProxy) -> None:
        proxy.to_server.slice_size = proxy.to_client.slice_size = 50

    def refuse(proxy: FaultProxy) -> None:
        proxy.refusing = True
        proxy.reset()

    heal = on_all(lambda proxy: proxy.heal())
    full = [] if disk is None else [Trouble("a disk full", disk.fill, disk.empty, NOTICED_SECONDS)]
    return [
        Trouble("every piece 20 ms late", on_all(delay), heal, 4),
        Trouble("pieces of 50 bytes", on_all(cut), heal, 4),
        Trouble("connections reset", on_all(lambda proxy: proxy.reset()), nothing, 0.5, 6),
        Trouble(
            "reset inside answers",
            on_all(lambda fault_proxy: fault_proxy.to_client.reset_after(777)),
            nothing,
            1,
            4,
        ),
        Trouble("answers of one broker stall", proxies[0].to_client.stall, heal, 7),
        Trouble("no connection to be had", on_all(refuse), heal, 4),
        Trouble("name server killed", cluster.name_server.kill, cluster.name_server.start, 6),
        Trouble("a broker killed", busy_broker.kill, busy_broker.start, 5),
        Trouble("a master killed, its slave there", cluster.master.kill, cluster.master.start, 10),
        *full,
    ]


async def undergo(
    all_of_them: Sequence[Trouble], enough: Callable[[], bool], tell: Callable[[str], None]
) -> None:
    """One after the other with a breath between, all of them once, and then again until there was
    enough."""
    for number, trouble in enumerate(itertools.cycle(all_of_them)):
        if number >= len(all_of_them) and enough():
            return
        for _ in range(trouble.times):
            await trio.to_thread.run_sync(trouble.begin)
            await trio.sleep(trouble.seconds)
            await trio.to_thread.run_sync(trouble.end)
        tell(trouble.name)
        await trio.sleep(2)
