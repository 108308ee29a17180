"""``doctor``: look at everything, and tell what is wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client import open_pool
from rocketwire.client.addresses import split_address
from rocketwire.client.net.broker_api import BrokerCalls
from rocketwire.client.net.nameservers import NameServers
from rocketwire.codes import RequestCode
from rocketwire.errors import (
    BrokerError,
    ChannelError,
    LocalProtocolError,
    NoNameServerError,
    RocketWireError,
)
from rocketwire.messages.config_text import read_config
from rocketwire_tools.admin.actions.doctor import (
    MASTER_ID,
    OK,
    PROBLEM,
    WARNING,
    Identity,
    Probe,
    broker_groups,
    findings,
)
from rocketwire_tools.admin.actions.snapshot import AT_ONCE, Snapshot, take_snapshot
from rocketwire_tools.admin.command import Command, Table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Sequence

    from rocketwire.messages.ha import HARuntimeInfo
    from rocketwire.messages.kvconfig import KVTable
    from rocketwire_tools.admin.command import Context

_EPILOG: Final = """\
Checks that every name server answers and knows the same brokers and topics; that there is a broker; that every registered address
answers, with the broker that is registered there; that every broker group has a master whose replicas keep up; that disks are not
nearly full; that releases go together; that every topic has a route, an address and a queue to write and to read.
docs/guide/rocketwire-admin.md lists every check with its id.

Exit status 0: nothing found; 1: a problem; 4: warnings only; 3: no name server answers.
"""


_DISKS: Final = ("commitLogDiskRatio", "consumeQueueDiskRatio")


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-t", "--topic", action="append", help="look at this topic's route only; repeatable"
    )
    parser.add_argument(
        "-q", "--quiet", action="store_true", help="show problems and warnings only"
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
    shown = [(*row, row.advice) for row in rows if not (wanted.quiet and row.status == OK)]
    columns = ("status", "id", "kind", "name", "finding", "advice")
    statuses = {row.status for row in rows}
    return Table(columns, shown, failed=PROBLEM in statuses, warned=WARNING in statuses)


async def probe_brokers(calls: BrokerCalls, snapshots: Sequence[Snapshot]) -> dict[str, Probe]:
    """Ask every broker at every address that is registered with one of the name servers."""
    found: dict[str, Probe] = {}
    hosts = {split_address(one.address)[0] for one in snapshots}
    limit = trio.CapacityLimiter(AT_ONCE)

    async def ask(name: str, id_: int, address: str) -> None:
        async with limit:
            probe = await _probe(calls, id_, address)
            if probe.error is not None:
                probe = replace(probe, elsewhere=await _elsewhere(calls, name, id_, address, hosts))
            found[address] = probe

    async with trio.open_nursery() as nursery:
        for name, addresses in broker_groups(snapshots).items():
            for id_, address in addresses.items():
                nursery.start_soon(ask, name, id_, address)
    return found


async def _probe(calls: BrokerCalls, id_: int, address: str) -> Probe:
    try:
        answer = await calls.call(address, RequestCode.GET_BROKER_RUNTIME_INFO)
    except RocketWireError as error:
        return Probe(error=str(error))
    told: KVTable | None = answer.body
    facts = (told.table if told else None) or {}
    replication: HARuntimeInfo | None = None
    if id_ == MASTER_ID:
        try:
            replication = (await calls.call(address, RequestCode.GET_BROKER_HA_STATUS)).body
        except (BrokerError, ChannelError):  # brokers before 5.0 do not know the request
            replication = None
    return Probe(
        version=facts.get("brokerVersionDesc"),
        replication=replication,
        disk=max(filter(None, map(_ratio, map(facts.get, _DISKS))), default=None),
        identity=await _identity(calls, address),
    )


async def _identity(calls: BrokerCalls, address: str) -> Identity | None:
    """What the broker at an address says of itself; None if it does not say, or this user may not ask."""
    try:
        values = read_config((await calls.call(address, RequestCode.GET_BROKER_CONFIG)).body or b"")
        host, port = values["brokerIP1"], values["listenPort"]
        own = (
            f"[{host}]:{port}" if ":" in host.strip("[]") and host[:1] != "[" else f"{host}:{port}"
        )
        return Identity(values["brokerName"], int(values["brokerId"]), own)
    except (RocketWireError, KeyError, ValueError):
        return None


async def _elsewhere(
    calls: BrokerCalls, name: str, id_: int, address: str, hosts: Collection[str]
) -> str | None:
    """Where a broker answers that does not answer where it is registered: the same port at the hosts of name servers."""
    try:
        registered, port = split_address(address)
    except LocalProtocolError:  # a broker may register any text
        return None
    for host in sorted({*hosts} - {registered}):
        other = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        own = await _identity(calls, other)
        if own is not None and (own.name, own.id) == (name, id_):
            return other
    return None


def _ratio(text: str | None) -> float | None:
    """A share of a disk; None if the broker does not say one (it says -1)."""
    try:
        share = float(text or "")
    except ValueError:
        return None
    return share if 0 <= share <= 1 else None


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
