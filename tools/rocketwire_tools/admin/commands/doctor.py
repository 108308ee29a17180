"""``doctor``: look at everything, and tell what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client import open_pool
from rocketwire.client.broker import BrokerCalls
from rocketwire.client.nameserver import NameServers
from rocketwire.codes import RequestCode
from rocketwire.errors import BrokerError, ChannelError, NoNameServerError, RocketWireError
from rocketwire_tools.admin.command import Command, Table
from rocketwire_tools.admin.diagnosing import (
    MASTER_ID,
    OK,
    PROBLEM,
    Probe,
    broker_groups,
    findings,
)
from rocketwire_tools.admin.snapshots import AT_ONCE, Snapshot, take_snapshot

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from rocketwire.messages.ha import HARuntimeInfo
    from rocketwire.messages.kvconfig import KVTable
    from rocketwire_tools.admin.command import Context

_EPILOG: Final = """\
It asks every name server for clusters, brokers, topics and routes, every advertised address of a broker for its version, and
every master for its replicas.  Told as problems: a name server that does not answer or says something else than the first one,
an address that does not answer, a broker group without master, replicas that are registered and do not fetch or are far behind,
topics without route or with queues at brokers that have no address.  As warnings: several versions, addresses that only this
machine can reach, topics that nobody can write or read.

Exit status 1 if there is a problem.
"""


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-t", "--topic", action="append", help="look at this topic's route only; repeatable"
    )
    parser.add_argument(
        "-q", "--quiet", action="store_true", help="leave out what is as it should be"
    )


async def _run(context: Context) -> Table:
    wanted = context.arguments
    async with open_pool(context.config) as pool:
        servers = NameServers(pool, context.config)
        await servers.refresh()
        failures: dict[str, RocketWireError] = {}
        taken: dict[str, Snapshot] = {}

        async with trio.open_nursery() as nursery:

            async def look(at: int) -> None:
                server = servers.each()[at]
                try:
                    taken[server.address] = await take_snapshot(server, wanted.topic)
                except RocketWireError as error:
                    failures[server.address] = error

            for at in range(len(servers.addresses)):
                nursery.start_soon(look, at)
        snapshots = [taken[address] for address in sorted(taken)]
        if not snapshots:
            raise next(iter(failures.values()), NoNameServerError("none"))
        told = {address: str(error) for address, error in sorted(failures.items())}
        probes = await probe_brokers(BrokerCalls(pool, context.config), snapshots)
    rows = findings(snapshots, told, probes)
    shown = [row for row in rows if not (wanted.quiet and row.status == OK)]
    columns = ("status", "kind", "name", "finding")
    return Table(columns, shown, failed=any(row.status == PROBLEM for row in rows))


async def probe_brokers(calls: BrokerCalls, snapshots: Sequence[Snapshot]) -> dict[str, Probe]:
    """Ask every address that one of the name servers tells of."""
    found: dict[str, Probe] = {}
    limit = trio.CapacityLimiter(AT_ONCE)

    async def ask(id_: int, address: str) -> None:
        async with limit:
            found[address] = await _probe(calls, id_, address)

    async with trio.open_nursery() as nursery:
        for addresses in broker_groups(snapshots).values():
            for id_, address in addresses.items():
                nursery.start_soon(ask, id_, address)
    return found


async def _probe(calls: BrokerCalls, id_: int, address: str) -> Probe:
    try:
        answer = await calls.call(address, RequestCode.GET_BROKER_RUNTIME_INFO)
    except RocketWireError as error:
        return Probe(error=str(error))
    told: KVTable | None = answer.body
    version = ((told.table if told else None) or {}).get("brokerVersionDesc")
    replication: HARuntimeInfo | None = None
    if id_ == MASTER_ID:
        try:
            replication = (await calls.call(address, RequestCode.GET_BROKER_HA_STATUS)).body
        except (BrokerError, ChannelError):  # brokers before 5.0 do not know the request
            replication = None
    return Probe(version=version, replication=replication)


COMMANDS: Final = (
    Command(
        name="doctor",
        help="look at name servers, brokers, replicas and routes, and tell what is wrong",
        add_arguments=_arguments,
        run=_run,
        epilog=_EPILOG,
        group="looking around",
    ),
)
