"""One collection: all brokers of all clusters at once, bounded in time, requests and series."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.errors import RocketWireError
from rocketwire.policy.routing import MASTER_ID
from rocketwire_tools.exporter.families import MAX_SERIES, Samples
from rocketwire_tools.exporter.parts import (
    MAX_CLIENTS,
    GroupMembers,
    add_counts,
    collect_clients,
    collect_groups,
    collect_producers,
    collect_runtime,
    collect_topics,
)
from rocketwire_tools.exporter.scrape import CONCURRENT_REQUESTS, Broker, BrokerScrape

if TYPE_CHECKING:
    from rocketwire.client.admin import Admin
    from rocketwire.messages.route import ClusterInfo

_LOG: Final = logging.getLogger("rocketwire.exporter")

DEADLINE: Final = 30.0  # default limit of a collection in seconds

WAIT: Final = 8.0
"""Default seconds that a scrape waits for a collection; Prometheus itself waits 10 s."""
MIN_INTERVAL: Final = 1.0  # default seconds after a collection in which no other begins

Part = Callable[[BrokerScrape], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    deadline: float = DEADLINE  # seconds, after which parts that have not ended are incomplete
    series: int = MAX_SERIES  # maximum number of series
    concurrent: int = CONCURRENT_REQUESTS  # maximum number of concurrent requests to one broker
    # maximum number of members that are asked for their state; 0 for none
    clients: int = MAX_CLIENTS


async def collect(admin: Admin, limits: Limits) -> Samples:
    """Collect the metrics of all clusters; failures are metrics, too."""
    samples = Samples(limits.series)
    began = trio.current_time()
    scrapes: list[BrokerScrape] = []
    with trio.move_on_after(limits.deadline):
        try:
            info = await admin.clusters.info()
        except RocketWireError as error:
            _LOG.warning("no name server answers: %s", error)
        else:
            samples.set("rocketmq_exporter_up", (), 1)
            scrapes += [
                BrokerScrape(admin, broker, samples, concurrent=limits.concurrent)
                for broker in list_brokers(info)
            ]
            await _collect_all(scrapes, limits)
    _report(samples, scrapes)
    samples.set("rocketmq_exporter_collection_seconds", (), trio.current_time() - began)
    return samples


def list_brokers(info: ClusterInfo) -> Iterator[Broker]:
    """Yield all brokers; a broker group belongs to the first cluster that lists it."""
    clusters: dict[str, str] = {}
    for cluster, names in (info.cluster_addr_table or {}).items():
        for name in names:
            clusters.setdefault(name or "", cluster)
    for name, group in (info.broker_addr_table or {}).items():
        addresses = group.broker_addrs or {}
        primary = MASTER_ID if MASTER_ID in addresses else min(addresses, default=MASTER_ID)
        for broker_id, address in addresses.items():
            cluster = clusters.get(name, "")
            yield Broker(cluster, name, address, broker_id, broker_id == primary)


async def _collect_all(scrapes: list[BrokerScrape], limits: Limits) -> None:
    members = GroupMembers()
    for scrape in scrapes:
        scrape.incomplete["clients"] = None
    async with trio.open_nursery() as nursery:
        for scrape in scrapes:
            nursery.start_soon(_collect_broker, scrape, members)
    for scrape in scrapes:
        _add_commit_log_diff(scrape.samples, scrape.broker, scrapes)
    if scrapes:
        add_counts(scrapes[0].samples, members)
    for scrape in scrapes:
        del scrape.incomplete["clients"]
    await collect_clients(members, limits.clients)


async def _collect_broker(scrape: BrokerScrape, members: GroupMembers) -> None:
    parts: dict[str, Part] = {"runtime": collect_runtime}
    if scrape.broker.is_primary:
        parts |= {
            "producers": collect_producers,
            "topics": collect_topics,
            "groups": partial(collect_groups, members),
        }
    scrape.incomplete |= dict.fromkeys(parts)
    for part, call in parts.items():
        await scrape.run(part, call)


def _add_commit_log_diff(samples: Samples, broker: Broker, scrapes: list[BrokerScrape]) -> None:
    if broker.broker_id == MASTER_ID:
        return
    offsets = samples.values["rocketmq_brokeruntime_commitlog_maxoffset"]
    for other in (scrape.broker for scrape in scrapes):
        if other.name == broker.name and other.broker_id == MASTER_ID:
            master, slave = offsets.get(other.labels), offsets.get(broker.labels)
            if master is not None and slave is not None:
                samples.set("rocketmq_broker_commitlog_diff", broker.labels, master - slave)


def _report(samples: Samples, scrapes: list[BrokerScrape]) -> None:
    samples.add("rocketmq_exporter_up", (), 0)
    for scrape in scrapes:
        broker = scrape.broker
        is_up = scrape.incomplete.keys() <= {"clients"}
        samples.set("rocketmq_exporter_broker_up", broker.labels, is_up)
        for part in ("runtime", "producers", "topics", "groups", "clients"):
            if broker.is_primary or part == "runtime":
                family = "rocketmq_exporter_part_complete"
                samples.set(family, (*broker.labels, part), part not in scrape.incomplete)
        for (part, error), count in scrape.failures.items():
            samples.set("rocketmq_exporter_failures", (*broker.labels, part, error), count)
    samples.set("rocketmq_exporter_requests", (), sum(scrape.requests for scrape in scrapes))
    samples.set("rocketmq_exporter_dropped_series", (), samples.dropped)
    samples.set("rocketmq_exporter_series", (), len(samples))
