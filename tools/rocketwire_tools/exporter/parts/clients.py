"""Members of consumer groups: their number, and their own reports (307)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

import trio

from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError

if TYPE_CHECKING:
    from rocketwire.messages.callbacks import ConsumeStatus
    from rocketwire_tools.exporter.parts.groups import GroupMembers
    from rocketwire_tools.exporter.samples import Samples
    from rocketwire_tools.exporter.scrape import BrokerScrape

MAX_CLIENTS: Final = 500
"""Default limit of the members that are asked in a collection."""

_LEFT: Final = frozenset({ResponseCode.CONSUMER_NOT_ONLINE, ResponseCode.CONSUME_MSG_TIMEOUT})
"""The member has left, or does not answer the broker."""


class Member(NamedTuple):
    cluster: str  # of its brokers
    group: str
    client_id: str  # its id
    address: str  # of its connection


def add_counts(samples: Samples, members: GroupMembers) -> None:
    for labels, clients in members.clients.items():
        samples.set("rocketmq_group_count", labels, len(clients))


async def collect_clients(members: GroupMembers, max_clients: int) -> None:
    """Ask members for their state, each through one broker; at most ``max_clients`` of them."""
    by_broker: dict[BrokerScrape, list[Member]] = {}
    for scrape, member in islice(_all(members), max_clients):
        by_broker.setdefault(scrape, []).append(member)
    async with trio.open_nursery() as nursery:
        for scrape, clients in by_broker.items():
            nursery.start_soon(scrape.run, "clients", partial(_collect, clients))


def _all(members: GroupMembers) -> Iterator[tuple[BrokerScrape, Member]]:
    for (cluster, group), clients in members.clients.items():
        for client_id, (scrape, address) in clients.items():
            yield scrape, Member(cluster, group, client_id, address)


async def _collect(clients: Iterable[Member], scrape: BrokerScrape) -> None:
    async def add(member: Member) -> None:
        consumers = scrape.admin.consumers
        ask = partial(
            consumers.running_info, member.group, member.client_id, broker=scrape.broker.address
        )
        try:
            info = await scrape.ask(ask)
        except BrokerError as error:
            if error.code not in _LEFT:
                raise
            return
        for topic, status in (info.status_table or {}).items():
            _add_status(scrape.samples, member, topic, status)

    await scrape.call_each("clients", clients, add)


def _add_status(samples: Samples, member: Member, topic: str, status: ConsumeStatus) -> None:
    labels = (member.cluster, member.address, member.client_id, member.group, topic)
    for family, value in (
        ("rocketmq_client_consume_fail_msg_count", status.consume_failed_msgs),
        ("rocketmq_client_consume_fail_msg_tps", status.consume_failed_tps),
        ("rocketmq_client_consume_ok_msg_tps", status.consume_oktps),
        ("rocketmq_client_consume_rt", status.consume_rt),
        ("rocketmq_client_consumer_pull_rt", status.pull_rt),
        ("rocketmq_client_consumer_pull_tps", status.pull_tps),
    ):
        samples.set(family, labels, value)
