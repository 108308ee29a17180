"""Brokers: ``brokerStatus``, ``getBrokerConfig``, ``haStatus``, ``cleanUnusedTopic``, etc."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.client.admin.fanout import of_each, told_by_each
from rocketwire.messages.message_queue import MessageQueue
from rocketwire_tools.admin.cli import mqadmin_options as mq
from rocketwire_tools.admin.cli.arguments import host_and_port
from rocketwire_tools.admin.command import Record, RefusedError, Table, UsageError, Value, columns
from rocketwire_tools.numbers import positive

if TYPE_CHECKING:
    from argparse import Namespace

    from rocketwire.client.admin import Admin


# ---------------------------------------------------------------------------- status


async def _status(admin: Admin, args: Namespace) -> Table:
    targets = await mq.addresses(admin, args, slaves=True)
    by_broker = await told_by_each(targets, admin.brokers.runtime_info)
    rows = [
        (address, key, value)
        for address, table in by_broker.items()
        for key, value in sorted(table.items())
    ]
    return Table(("brokerAddr", "key", "value"), rows)


async def _config(admin: Admin, args: Namespace) -> Table:
    targets = await mq.addresses(admin, args, slaves=True)
    by_broker = await told_by_each(targets, admin.brokers.config)
    rows = [
        (address, key, value)
        for address, table in by_broker.items()
        for key, value in sorted(table.items())
        if args.key in (None, key)
    ]
    return Table(("brokerAddr", "key", "value"), rows, failed=not rows)


async def _update_config(admin: Admin, args: Namespace) -> Table:
    targets = await mq.addresses(admin, args, slaves=args.update_all_broker)
    values = {args.key: args.value}
    await of_each(targets, lambda address: admin.brokers.update_config(address, values))
    rows = [(address, args.key, args.value) for address in targets]
    return Table(("brokerAddr", "key", "value"), rows)


async def _ha_status(admin: Admin, args: Namespace) -> Table:
    rows: list[tuple[Value, ...]] = []
    by_broker = await told_by_each(await mq.addresses(admin, args), admin.brokers.ha_status)
    for address, status in by_broker.items():
        if status.master:
            slaves = status.ha_connection_info or ()
            rows += [
                (
                    address, "master", status.master_commit_log_max_offset, connection.addr,
                    connection.slave_ack_offset, connection.diff, connection.in_sync,
                    connection.transferred_byte_in_second, connection.transfer_from_where, None,
                    None,
                )
                for connection in slaves
            ]  # fmt: skip
            if not slaves:
                rows.append((address, "master", status.master_commit_log_max_offset, *[None] * 8))
        elif (client := status.ha_client_runtime_info) is not None:
            rows.append((
                address, "slave", client.master_flush_offset, client.master_addr, client.max_offset,
                client.master_flush_offset - client.max_offset if client.master_flush_offset > 0
                else None, None, client.transferred_byte_in_second, None, client.last_read_timestamp,
                client.last_write_timestamp,
            ))  # fmt: skip
    headings = columns(
        "brokerAddr role masterOffset:number otherAddr slaveOffset:number "
        "diff:bytes inSync bytesPerSecond:bytes transferFromWhere:number "
        "lastRead:time lastWrite:time"
    )
    return Table(headings, rows)


async def _epochs(admin: Admin, args: Namespace) -> Table:
    if args.broker_name is not None:
        group = ((await admin.clusters.info()).broker_addr_table or {}).get(args.broker_name)
        targets = tuple(((group.broker_addrs if group else None) or {}).values())
        if not targets:
            raise UsageError(f"unknown broker {args.broker_name}")
    else:
        targets = await admin.clusters.replicas(args.cluster_name)
    by_broker = await told_by_each(targets, admin.brokers.epoch_cache)
    rows = [
        (
            cache.cluster_name, cache.broker_name, cache.broker_id, address, epoch.epoch,
            epoch.start_offset, min(epoch.end_offset, cache.max_offset),
        )
        for address, cache in by_broker.items()
        for epoch in cache.epoch_list or ()
    ]  # fmt: skip
    headings = columns(
        "clusterName brokerName brokerId:number brokerAddr epoch:number "
        "startOffset:number endOffset:number"
    )
    return Table(headings, rows)


async def _consume_stats(admin: Admin, args: Namespace) -> Table:
    if args.timeout_millis is not None:
        admin.brokers.within = args.timeout_millis / 1000
    broker_stats = await admin.brokers.consume_stats(args.broker_addr, order=args.order)
    rows: list[tuple[Value, ...]] = []
    for groups in broker_stats.consume_stats_list or ():
        for group, stats_list in groups.items():
            for stats in stats_list:
                for queue, offsets in (stats.offset_table or {}).items():
                    diff = offsets.broker_offset - offsets.consumer_offset
                    if diff >= args.level:
                        rows.append((
                            queue.topic, group, queue.broker_name, queue.queue_id,
                            offsets.broker_offset, offsets.consumer_offset, diff,
                            offsets.last_timestamp or None,
                        ))  # fmt: skip
    headings = columns(
        "topic group brokerName queueId:number brokerOffset:number "
        "consumerOffset:number diff:number lastTime:time"
    )
    return Table(headings, sorted(rows, key=str))


async def _consume_queue(admin: Admin, args: Namespace) -> Table:
    address: str = args.broker or next(iter((await admin.clusters.of_topic(args.topic)).values()))
    queue = MessageQueue(topic=args.topic, broker_name="", queue_id=args.queue)
    entries = await admin.brokers.consume_queue(
        address, queue, args.index, args.count, args.consumer
    )
    if entries is None:
        raise RefusedError(
            f"{address} has no entry {args.index} in queue {args.queue} of topic {args.topic}"
        )
    rows = [
        (
            args.index + position,
            entry.physic_offset,
            entry.physic_size,
            entry.tags_code,
            entry.eval,
            entry.msg,
        )
        for position, entry in enumerate(entries.queue_data or ())
    ]
    headings = columns(
        "index:number physicOffset:number physicSize:number tagsCode:number eval msg"
    )
    return Table(headings, rows)


# ---------------------------------------------------------------------------- cleaning up


async def _clean_topics(admin: Admin, args: Namespace) -> Table:
    return _cleaned(
        await admin.brokers.clean_unused_topics(broker=args.broker_addr, cluster=args.cluster)
    )


async def _clean_queues(admin: Admin, args: Namespace) -> Table:
    return _cleaned(
        await admin.brokers.clean_expired_queues(broker=args.broker_addr, cluster=args.cluster)
    )


async def _clean_log(admin: Admin, args: Namespace) -> Table:
    return _cleaned(
        await admin.brokers.delete_expired_commit_log(broker=args.broker_addr, cluster=args.cluster)
    )


def _cleaned(targets: tuple[str, ...]) -> Table:
    return Table(("brokerAddr",), [(address,) for address in targets], failed=not targets)


async def _flush_offset(admin: Admin, args: Namespace) -> Record:
    await admin.brokers.reset_master_flush_offset(args.broker_addr, args.offset)
    return Record({"brokerAddr": args.broker_addr, "masterFlushOffset": args.offset})


_CLEANED: Final = (
    mq.option(
        "-b --brokerAddr", "only the broker with this address", type=host_and_port, metavar="ADDR"
    ),
    mq.option("-c --cluster", "only brokers of this cluster", metavar="NAME"),
)
_KEY: Final = mq.option("-k --key", "name of the setting", required=True)
_SCOPE: Final = "Default: all brokers of all clusters."

COMMANDS: Final = mq.in_group(
    "clusters and brokers",
    mq.broker_command("brokerStatus", "show the status of brokers", _status, collects=True),
    mq.broker_command(
        "getBrokerConfig", "show the configuration of brokers", _config,
        mq.option("-k --key", "only this setting"), collects=True,
    ),
    mq.broker_command(
        "updateBrokerConfig", "change the configuration of brokers", _update_config, _KEY,
        mq.option("-v --value", "value of the setting", required=True),
        mq.option("-a --updateAllBroker", "with -c, also slaves", type=mq.boolean, default=False, ),
    ),
    mq.broker_command(
        "haStatus", "show the state of replication", _ha_status, collects=True, repeats=True,
    ),
    mq.admin_command(
        "getBrokerEpoch", "show the epochs of brokers", _epochs, mq.CLUSTER,
        mq.option("-b --brokerName", "name of the broker group", metavar="NAME"), collects=True,
        one_of=("broker_name", "cluster_name"), repeats=True,
    ),
    mq.admin_command(
        "brokerConsumeStats", "show the progress of all groups of a broker", _consume_stats,
        mq.option(
            "-b --brokerAddr", "address of the broker", type=host_and_port, required=True,
            metavar="ADDR",
        ),
        mq.option("-l --level", "only queues with at least this lag", type=int, default=0),
        mq.option("-o --order", "only ordered topics", type=mq.boolean, default=False),
        mq.option("-t --timeoutMillis", "timeout of the call in milliseconds", type=positive),
    ),
    mq.admin_command(
        "queryCq", "show entries of a consume queue", _consume_queue, mq.TOPIC,
        mq.option("-q --queue", "id of the queue", type=int, required=True),
        mq.option("-i --index", "index of the first entry", type=int, required=True),
        mq.option("-c --count", "number of entries", type=int, default=10),
        mq.option(
            "-b --broker", "address of the broker (default: the first one of the topic)",
            type=host_and_port, metavar="ADDR",
        ),
        mq.option("-g --consumer", "evaluate the filter of this group"),
    ),
    mq.admin_command(
        "cleanUnusedTopic", "remove the queues of deleted topics", _clean_topics, *_CLEANED,
        epilog=_SCOPE,
    ),
    mq.admin_command(
        "cleanExpiredCQ", "remove queues whose messages have expired", _clean_queues, *_CLEANED,
        epilog=_SCOPE,
    ),
    mq.admin_command(
        "deleteExpiredCommitLog", "delete expired commit log files now", _clean_log, *_CLEANED,
        epilog=_SCOPE,
    ),
    mq.admin_command(
        "resetMasterFlushOffset", "set the master's flush offset on a slave", _flush_offset,
        mq.option(
            "-b --brokerAddr", "address of the slave", type=host_and_port, required=True,
            metavar="ADDR",
        ),
        mq.option("-o --offset", "flush offset of the master", type=int, required=True),
    ),
)  # fmt: skip
