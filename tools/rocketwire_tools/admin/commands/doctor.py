"""Checks of a cluster: ``doctor``, ``diff`` of two name servers, and ``startMonitoring``."""

from __future__ import annotations

import sys
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client import ChannelPool, ClientConfig, open_pool
from rocketwire.client.addresses import join_address, parse_name_servers, split_address
from rocketwire.client.admin import Admin, open_admin
from rocketwire.client.admin.fanout import call_each, try_each
from rocketwire.client.admin.topics import find_unrouted_queues
from rocketwire.client.net.broker_api import BrokerCalls
from rocketwire.client.net.nameservers import NameServers, SingleNameServer
from rocketwire.client.periodic import now_millis
from rocketwire.codes import RequestCode
from rocketwire.errors import (
    BrokerError,
    ChannelError,
    LocalProtocolError,
    NoNameServerError,
    RocketWireError,
)
from rocketwire.messages.config_text import read_config
from rocketwire.policy.resource_names import RETRY_PREFIX, is_retry_topic, is_system_topic
from rocketwire_tools.admin import mqadmin_options as mq
from rocketwire_tools.admin.findings import (
    MASTER_ID,
    MAX_CONCURRENT_REQUESTS,
    OK,
    PROBLEM,
    WARNING,
    Identity,
    Probe,
    Snapshot,
    broker_groups,
    differences,
    findings,
    merge_routes,
    take_snapshot,
)
from rocketwire_tools.cli.arguments import seconds
from rocketwire_tools.cli.command import (
    CellType,
    Column,
    Command,
    Context,
    Table,
    UsageError,
    Value,
    columns,
)
from rocketwire_tools.cli.stdio import JsonLines, stopping
from rocketwire_tools.values import positive

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection, Iterator, Mapping, Sequence

    from rocketwire.messages.callbacks import ConsumerRunningInfo, ProcessQueueInfo
    from rocketwire.messages.ha import HARuntimeInfo
    from rocketwire.messages.kvconfig import KVTable
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.messages.queries import OffsetWrapper

_EPILOG: Final = """\
Checks that all name servers respond and have the same brokers and topics; that a broker exists;
that the registered broker responds at each registered address; that each broker group has a master
and its replicas keep up; that disks are not nearly full; that releases are compatible; that each
topic has a route, an address, a writable queue and a readable queue, and no messages in other
queues.
docs/guide/rocketwire-admin.md lists all checks with their ids.

Exit status 0: no findings; 1: problems; 4: warnings only; 3: no name server responds.
"""


_DISKS: Final = ("commitLogDiskRatio", "consumeQueueDiskRatio")


async def _run(context: Context) -> Table:
    args = context.arguments
    async with open_pool(context.config) as pool:
        servers = NameServers(pool, context.config)
        await servers.refresh()
        by_address = {server.address: server for server in servers.each()}
        snapshots_by_address, failures = await try_each(
            by_address, lambda address: take_snapshot(by_address[address], args.topic)
        )
        snapshots = [snapshots_by_address[address] for address in sorted(snapshots_by_address)]
        if not snapshots:
            raise next(iter(failures.values()), NoNameServerError("none"))
        errors = {address: _reason(address, failures[address]) for address in sorted(failures)}
        probes = await _probe_brokers(pool, context.config, snapshots)
        unread = await _find_unread(BrokerCalls(pool, context.config), snapshots, probes)
    rows = findings(snapshots, errors, probes, unread)
    visible = [(*row, row.advice) for row in rows if not (args.quiet and row.status == OK)]
    headings = ("status", "id", "kind", "name", "finding", "advice")
    statuses = {row.status for row in rows}
    return Table(headings, visible, failed=PROBLEM in statuses, warned=WARNING in statuses)


async def _probe_brokers(
    pool: ChannelPool, config: ClientConfig, snapshots: Sequence[Snapshot]
) -> dict[str, Probe]:
    # Query all brokers at all addresses that are registered with any name server. An address that
    # is mapped to another one is also queried without the map.
    calls = BrokerCalls(pool, config)
    hosts = {split_address(snapshot.address)[0] for snapshot in snapshots}

    async def ask(target: tuple[str, int, str]) -> Probe:
        name, id_, address = target
        probe = await _probe(calls, id_, address)
        if probe.error is not None and not probe.is_refused:
            other = await _other_address(calls, name, id_, address, hosts)
            probe = replace(probe, reachable_at=other)
        mapped_to = pool.remap(address)
        if mapped_to != address:
            unmapped = await _probe(BrokerCalls(plain_pool, config), id_, address)
            probe = replace(probe, mapped_to=mapped_to, unmapped=unmapped)
        return probe

    targets = [
        (name, id_, address)
        for name, addresses in broker_groups(snapshots).items()
        for id_, address in addresses.items()
    ]
    async with open_pool(replace(config, address_remap={})) as plain_pool:
        probes = await call_each(targets, ask)
    return {address: probe for (_, _, address), probe in probes.items()}


async def _find_unread(
    calls: BrokerCalls, snapshots: Sequence[Snapshot], probes: Mapping[str, Probe]
) -> dict[tuple[str, str], dict[int, int]]:
    masters = {
        name: addresses[MASTER_ID]
        for name, addresses in broker_groups(snapshots).items()
        if MASTER_ID in addresses and probes[addresses[MASTER_ID]].error is None
    }
    queues = [
        (topic, data.broker_name, data.read_queue_nums)
        for topic, route in merge_routes(snapshots).items()
        if route is not None and not route.topic_queue_mapping_by_broker
        if is_retry_topic(topic) or not is_system_topic(topic)
        for data in route.queue_datas or ()
        if data.broker_name in masters
    ]
    found, _ = await try_each(  # this user may not read a topic, or a broker is new
        queues,
        lambda queue: find_unrouted_queues(calls, masters[queue[1]], *queue),
        max_calls=MAX_CONCURRENT_REQUESTS,
    )
    return {
        (topic, name): {
            queue.queue_id: offsets.max_offset - offsets.min_offset
            for queue, offsets in queues.items()
        }
        for (topic, name, _), queues in found.items()
        if queues
    }


async def _probe(calls: BrokerCalls, id_: int, address: str) -> Probe:
    try:
        response = await calls.call(address, RequestCode.GET_BROKER_RUNTIME_INFO)
    except RocketWireError as error:
        return Probe(error=_reason(address, error), is_refused=isinstance(error, BrokerError))
    table: KVTable | None = response.body
    facts = (table.table if table else None) or {}
    replication: HARuntimeInfo | None = None
    if id_ == MASTER_ID:
        try:
            replication = (await calls.call(address, RequestCode.GET_BROKER_HA_STATUS)).body
        except (BrokerError, ChannelError):  # brokers before 5.0 do not support the request
            replication = None
    return Probe(
        version=facts.get("brokerVersionDesc"),
        replication=replication,
        disk=max(filter(None, map(_ratio, map(facts.get, _DISKS))), default=None),
        identity=await _identity(calls, address),
    )


def _reason(address: str, error: RocketWireError) -> str:
    return str(error).removeprefix(f"{address}: ")


async def _identity(calls: BrokerCalls, address: str) -> Identity | None:
    try:
        values = read_config((await calls.call(address, RequestCode.GET_BROKER_CONFIG)).body or b"")
        own_address = join_address(values["brokerIP1"].strip("[]"), int(values["listenPort"]))
        return Identity(values["brokerName"], int(values["brokerId"]), own_address)
    except (RocketWireError, KeyError, ValueError):
        return None


async def _other_address(
    calls: BrokerCalls, name: str, id_: int, address: str, hosts: Collection[str]
) -> str | None:
    try:
        registered, port = split_address(address)
    except LocalProtocolError:  # a broker may register any text
        return None
    for host in sorted({*hosts} - {registered}):
        candidate = join_address(host, port)
        identity = await _identity(calls, candidate)
        if identity is not None and (identity.name, identity.id) == (name, id_):
            return candidate
    return None


def _ratio(text: str | None) -> float | None:
    try:
        share = float(text or "")
    except ValueError:
        return None
    return share if 0 <= share <= 1 else None


_DIFF_EPILOG: Final = """\
One row for each difference; a cell is empty if a server does not have the item. Exit status 1 if
there are differences.

example:
  rocketwire-admin diff old:9876 new:9876 -o json
"""


async def _run_diff(context: Context) -> Table:
    args = context.arguments
    addresses: list[str] = []
    for text in args.servers:
        try:
            (address,) = parse_name_servers(text)
        except (LocalProtocolError, ValueError) as error:
            raise UsageError(f"{text!r}: must be HOST:PORT") from error
        addresses.append(address)
    async with open_pool(context.config) as pool:
        servers = [SingleNameServer(pool, context.config, address) for address in addresses]
        snapshots = await call_each(range(2), lambda n: take_snapshot(servers[n], args.topic))
    rows = differences(snapshots[0], snapshots[1])
    names = addresses if addresses[0] != addresses[1] else ["first", "second"]
    headings = (*columns("kind name"), *(Column(name, CellType.VALUE) for name in names))
    return Table(headings, rows, failed=bool(rows))


_BLOCKED_MILLIS: Final = 60_000
"""Idle time of a queue that is reported (Java: ``ConsumerRunningInfo.analyzeProcessQueue``)."""

_Line = dict[str, "Value"]


async def _monitor(context: Context) -> None:
    args = context.arguments
    output = JsonLines(sys.stdout.fileno())
    async with (
        stopping() as stop,
        open_admin(context.config, within=context.request_timeout) as admin,
        stop.cancel_when_stopped(),
    ):
        number = 0
        while args.rounds is None or number < args.rounds:
            if number:
                await trio.sleep(args.interval)
            number += 1
            async with aclosing(_findings(admin)) as findings:
                async for line in findings:
                    await output.write({"round": number, "time": now_millis(), **line})


async def _findings(admin: Admin) -> AsyncGenerator[_Line]:
    # Findings of one round; groups without connected members are skipped, as in Java
    for name in sorted(await admin.topics.names()):
        if not is_retry_topic(name):
            continue
        group = name.removeprefix(RETRY_PREFIX)
        try:
            await admin.consumers.connection(group)
            table = (await admin.consumers.stats(group)).offset_table or {}
            infos = await admin.consumers.running_infos(group)
        except RocketWireError:
            continue
        for topic in sorted({queue.topic or "" for queue in table}):
            of_topic = {queue: offsets for queue, offsets in table.items() if queue.topic == topic}
            yield {"kind": "undone", "group": group, "topic": topic, **await _lag(admin, of_topic)}
        for line in find_member_problems(infos):
            yield {**line, "group": group}


async def _lag(admin: Admin, table: Mapping[MessageQueue, OffsetWrapper]) -> _Line:
    lags = [offsets.broker_offset - offsets.consumer_offset for offsets in table.values()]
    delay = 0
    for queue, offsets in table.items():
        if offsets.last_timestamp > 0 and offsets.broker_offset > 0:
            try:
                newest = await admin.messages.at(queue, offsets.broker_offset - 1)
            except RocketWireError:
                continue
            if newest is not None:
                delay = max(delay, newest.store_timestamp - offsets.last_timestamp)
    return {
        "total": sum(lag for lag in lags if lag > 0),
        "singleQueue": max(0, *lags),
        "delayMillis": delay,
    }


def find_member_problems(infos: Mapping[str, ConsumerRunningInfo]) -> Iterator[_Line]:
    subscriptions = {
        tuple(
            sorted(
                (subscription.topic or "", subscription.sub_string or "")
                for subscription in info.subscription_set or ()
            )
        )
        for info in infos.values()
    }
    if len(subscriptions) > 1:
        yield {"kind": "subscriptions", "finding": "members have different subscriptions"}
    for client_id, info in infos.items():
        orderly = (info.properties or {}).get("PROP_CONSUMEORDERLY") == "true"
        for queue, process in (info.mq_table or {}).items():
            finding = _find_queue_problem(process, orderly=orderly)
            if finding is not None:
                queue_name = f"{queue.topic}/{queue.broker_name}/{queue.queue_id}"
                yield {
                    "kind": "queue",
                    "clientId": client_id,
                    "queue": queue_name,
                    "finding": finding,
                }


def _find_queue_problem(process: ProcessQueueInfo, *, orderly: bool) -> str | None:
    now = now_millis()
    if orderly:
        if not process.locked:
            return f"not locked for {now - process.last_lock_timestamp} ms"
        if process.droped and process.try_unlock_times > 0:
            return f"failed to unlock {process.try_unlock_times} times"
        return None
    waited = now - process.last_consume_timestamp
    if waited > _BLOCKED_MILLIS and process.cached_msg_count > 0:
        return f"{process.cached_msg_count} messages wait; none was consumed for {waited} ms"
    return None


COMMANDS: Final = (
    Command(name="doctor", help="check name servers, brokers, replicas and routes for faults",
        options=(
            mq.option("-t --topic", "check only the route of this topic; repeatable",
                action="append"),
            mq.option("-q --quiet", "show only problems and warnings", switch=True)),
        run=_run, epilog=_EPILOG, group="looking around"),
    Command(name="diff", help="compare the responses of two name servers",
        options=(
            mq.argument("servers", "the two name servers", nargs=2, metavar="HOST:PORT"),
            mq.option("-t --topic", "compare only the route of this topic; repeatable",
                action="append")),
        run=_run_diff, epilog=_DIFF_EPILOG, group="looking around"),
    Command(name="startMonitoring", help="report lags of groups and faults of members at intervals",
        run=_monitor,
        options=(
            mq.option("-i --interval", "seconds between rounds (default 60)", type=seconds,
                default=60.0),
            mq.option("--rounds", "number of rounds (default: unlimited)", type=positive),
        ),
        group="consumers and producers", streams=True,
        epilog="SIGINT and SIGTERM end it (exit status 0)."),
)  # fmt: skip
