"""Connected clients and their progress: ``consumerProgress``, ``consumerConnection``, etc."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from rocketwire.client.admin.fanout import call_each, leave_out
from rocketwire.errors import BrokerError, ChannelError, RocketWireError, TopicRouteNotFoundError
from rocketwire.messages import to_json
from rocketwire.policy.resource_names import RETRY_PREFIX
from rocketwire.versions import MQVersion
from rocketwire_tools.admin import mqadmin_options as mq
from rocketwire_tools.cli.arguments import host_and_port
from rocketwire_tools.cli.command import CellType, Column, Record, Table, Value, record
from rocketwire_tools.cli.exit_status import Denied, raise_if_denied

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from rocketwire.client.admin import Admin
    from rocketwire.messages.callbacks import ConsumerRunningInfo
    from rocketwire.messages.connections import Connection, ConsumerConnection
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.messages.queries import ConsumeStats, OffsetWrapper

_NUMBER: Final = CellType.NUMBER


async def _show_progress(admin: Admin, args: Namespace) -> Table:
    if args.group_name is None:
        return await _show_all_progress(admin)
    group: str = args.group_name
    stats = await admin.consumers.stats(group, args.topic_name, by=args.cluster)
    owners = await admin.consumers.queue_owners(group) if args.show_client_ip else {}
    table = stats.offset_table or {}
    oldest = await _find_oldest(admin, table)
    rows: list[list[Value]] = [
        [
            queue.topic, queue.broker_name, queue.queue_id, offsets.broker_offset,
            offsets.consumer_offset, *([owners.get(queue)] if args.show_client_ip else []),
            offsets.broker_offset - offsets.consumer_offset, _in_flight(offsets),
            offsets.last_timestamp or None, oldest.get(queue),
        ]
        for queue, offsets in sorted(table.items(), key=lambda item: _by_lag(*item))
    ]  # fmt: skip
    client = " clientId" if args.show_client_ip else ""
    age = time.time() - min(oldest.values(), default=0) / 1000
    of_topic = f" in topic {args.topic_name}" if args.topic_name else ""
    return Table(
        f"topic brokerName queueId:number brokerOffset:number consumerOffset:number{client} "
        "diff:number inflight:number lastTimestamp:time oldestWaiting:time",
        rows,
        searched=f"no offsets of group {group}{of_topic}: it has not consumed yet",
        footer=f"{_lag(stats):,} messages behind" + (f", oldest {age:,.0f} s" if oldest else ""),
    )


def _by_lag(queue: MessageQueue, offsets: OffsetWrapper) -> tuple[int, str, str, int]:
    lag = offsets.broker_offset - offsets.consumer_offset
    return -lag, queue.topic or "", queue.broker_name or "", queue.queue_id


async def _find_oldest(
    admin: Admin, table: Mapping[MessageQueue, OffsetWrapper]
) -> dict[MessageQueue, int]:
    async def ask(queue: MessageQueue) -> int | None:
        try:
            message = await admin.messages.at(queue, table[queue].consumer_offset)
        except RocketWireError:  # the user may not pull, or the queue has no route of its own
            return None
        return message.store_timestamp if message else None

    behind = [queue for queue, each in table.items() if each.broker_offset > each.consumer_offset]
    times = await call_each(behind, ask)
    return {queue: millis for queue, millis in times.items() if millis is not None}


def _in_flight(offsets: OffsetWrapper) -> int | None:
    # Messages pulled but not consumed; None before 5.0: brokers report no pull offset
    pulled = offsets.pull_offset - offsets.consumer_offset
    return pulled if pulled >= 0 else None


def _lag(stats: ConsumeStats) -> int:
    table = stats.offset_table or {}
    return sum(offsets.broker_offset - offsets.consumer_offset for offsets in table.values())


async def _show_all_progress(admin: Admin) -> Table:
    rows: list[tuple[Value, ...]] = []
    denied = Denied()
    for name in sorted(await admin.topics.names()):
        if not name.startswith(RETRY_PREFIX):
            continue
        group = name.removeprefix(RETRY_PREFIX)
        try:
            stats = await admin.consumers.stats(group)
            members, count = await _find_members(admin, group)
        except ChannelError as error:
            leave_out(group, error)
            continue
        except (BrokerError, TopicRouteNotFoundError) as error:
            denied.note(error)
            continue
        connections = (members.connection_set if members else None) or ()
        version = (
            MQVersion(min(connection.version for connection in connections)).name
            if connections
            else None
        )
        consume_type = members.consume_type if members else None
        model = members.message_model if members else None
        rows.append(
            (group, count, version, consume_type, model, round(stats.consume_tps, 2), _lag(stats))
        )
    denied.report(is_empty=not rows)
    rows.sort(key=lambda row: (-int(str(row[-1])), row[0]))
    return Table(
        "group count:number version type model tps:number diffTotal:number",
        rows,
        searched="no group has ever had a member",
        footer=f"{sum(int(str(row[-1])) for row in rows):,} messages behind in {len(rows)} groups",
    )


async def _find_members(admin: Admin, group: str) -> tuple[ConsumerConnection | None, int | None]:
    try:
        connections = await admin.consumers.connection(group)
    except ChannelError as error:
        leave_out(group, error)
        return None, None
    except BrokerError as error:
        raise_if_denied(error)
        return None, 0
    return connections, len(connections.connection_set or ())


def _member(connection: Connection) -> dict[str, Value]:
    return {
        "clientId": connection.client_id,
        "clientAddr": connection.client_addr,
        "language": mq.language_name(connection.language),
        "version": MQVersion(connection.version).name,
    }


async def _show_consumer(admin: Admin, args: Namespace) -> Record:
    consumer = await admin.consumers.connection(args.consumer_group, broker=args.broker_addr)
    return record(
        connections=[_member(connection) for connection in consumer.connection_set or ()],
        subscriptions={
            topic: subscription.sub_string
            for topic, subscription in (consumer.subscription_table or {}).items()
        },
        consumeType=consumer.consume_type,
        messageModel=consumer.message_model,
        consumeFromWhere=consumer.consume_from_where,
    )


async def _show_producer(admin: Admin, args: Namespace) -> Table:
    producer = await admin.consumers.producer_connection(args.producer_group, args.topic)
    rows = [tuple(_member(connection).values()) for connection in producer.connection_set or ()]
    searched = f"no producer of group {args.producer_group} is connected"
    return Table("clientId clientAddr language version", rows, searched=searched)


async def _list_producers(admin: Admin, args: Namespace) -> Table:
    rows = [
        (
            group, producer.client_id, producer.remote_ip, mq.language_name(producer.language),
            MQVersion(producer.version).name, producer.last_update_timestamp,
        )
        for group, members in sorted((await admin.consumers.producers_of(args.broker)).items())
        for producer in members
    ]  # fmt: skip
    headings = "group clientId remoteIP language version lastUpdateTimestamp:time"
    return Table(headings, rows, searched=f"no producer is connected to {args.broker}")


def _describe_member(info: ConsumerRunningInfo) -> Table:
    queues: dict[str, Any] = {
        f"{queue.topic}/{queue.broker_name}/{queue.queue_id}": to_json(process)
        for queue, process in (info.mq_table or {}).items()
    }
    names = list(dict.fromkeys(name for process in queues.values() for name in process))
    return Table(
        ("queue", *(Column(name, CellType.VALUE) for name in names)),
        [(queue, *(process.get(name) for name in names)) for queue, process in queues.items()],
        footer=f"\n{info.jstack}" if info.jstack else None,
        document={
            "properties": dict(info.properties or {}),
            "subscriptions": {s.topic or "": s.sub_string for s in info.subscription_set or ()},
            "queues": queues,
            "rates": {topic: to_json(rate) for topic, rate in (info.status_table or {}).items()},
            "jstack": info.jstack,
        },
    )


async def _show_status(admin: Admin, args: Namespace) -> Table:
    group: str = args.consumer_group
    if args.client_id is not None:
        info = await admin.consumers.running_info(
            group, args.client_id, stack=args.jstack, broker=args.broker_addr
        )
        return _describe_member(info)
    members = await admin.consumers.connection(group, broker=args.broker_addr)
    infos = await admin.consumers.running_infos(group, stack=args.jstack)
    rows: list[list[Value]] = []
    for member in members.connection_set or ():
        running = infos.get(member.client_id or "")
        subscriptions = (running.subscription_set or ()) if running else ()
        rows.append([
            member.client_id, MQVersion(member.version).name,
            len(running.mq_table or {}) if running else None,
            [f"{s.topic} {s.sub_string}" for s in subscriptions] if running else None,
            *([running.jstack if running else None] if args.jstack else []),
        ])  # fmt: skip
    variants = {str(row[3]) for row in rows if row[3] is not None}
    stack = " jstack" if args.jstack else ""
    table = Table(
        f"clientId version queues:number subscriptions:value{stack}", rows, failed=len(variants) > 1
    )
    if not args.jstack:
        return table
    return replace(
        table,
        columns=table.typed[:-1],
        rows=[row[:-1] for row in rows],
        footer="".join(f"\n{row[0]}\n{row[-1]}" for row in rows),
        document=[dict(zip((c.name for c in table.typed), row, strict=True)) for row in rows],
    )


_JSTACK: Final = mq.option("-s --jstack", "show stack traces of the threads", switch=True)

COMMANDS: Final = mq.group_commands(
    "consumers and producers",
    mq.admin_command("consumerProgress", "show the progress of a group or of all groups",
        _show_progress, mq.option("-g --groupName", "name of the consumer group (default all)"),
        mq.option("-t --topicName", "only this topic"),
        mq.boolean_option("-s --showClientIP", "show the owner of each queue"), mq.VIA,
        collects=True),
    mq.admin_command("consumerConnection", "show the members of a group and their subscriptions",
        _show_consumer, mq.CONSUMER_GROUP, mq.BROKER, collects=True),
    mq.admin_command("consumerStatus", "show the state of the members of a group", _show_status,
        mq.CONSUMER_GROUP, mq.BROKER, _JSTACK,
        mq.option("-i --clientId", "only this member, with all details"), collects=True,
        epilog="Exit status 1 if the subscriptions of the members differ."),
    mq.admin_command("producerConnection", "show the producers of a topic", _show_producer,
        mq.TOPIC, mq.option("-g --producerGroup", "name of the producer group", required=True),
        collects=True),
    mq.admin_command("producer", "list all producers of a broker", _list_producers,
        mq.option("-b --broker", "address of the broker, host:port", type=host_and_port,
            required=True)),
)  # fmt: skip
