"""Brokers and their stores."""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Final, cast

import trio

from rocketwire.client.admin import Admin, RocksDBConfig, TimerEngine
from rocketwire.client.admin.fanout import call_each, read_from_each
from rocketwire.client.periodic import now_millis
from rocketwire.errors import BrokerNotFoundError, DecodeError
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.nearest import did_you_mean
from rocketwire.wire.json.fastjson import loads
from rocketwire.wire.message.lazy_reader import decode_stored_messages
from rocketwire_tools.admin import mqadmin_options as mq
from rocketwire_tools.admin.commands.messages import message_table
from rocketwire_tools.cli.arguments import host_and_port
from rocketwire_tools.cli.command import Command, Context, RefusedError, Table, UsageError, Value
from rocketwire_tools.values import positive

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Awaitable, Callable, Iterable, Iterator

    from rocketwire.client.admin.changes import Change
    from rocketwire.wire.message.stored import StoredMessage


async def _show_status(admin: Admin, args: Namespace) -> Table:
    targets = await mq.addresses(admin, args, slaves=True)
    return mq.key_table("brokerAddr", await read_from_each(targets, admin.brokers.runtime_info))


async def _show_config(admin: Admin, args: Namespace) -> Table:
    targets = await mq.addresses(admin, args, slaves=True)
    configs = await read_from_each(targets, admin.brokers.config)
    table = mq.key_table("brokerAddr", configs, args.key)
    hint = did_you_mean(args.key or "", chain.from_iterable(configs.values()))
    return replace(table, searched=f"no broker has a setting {args.key}{hint}")


async def _update_config(admin: Admin, args: Namespace) -> Iterable[Change[str]]:
    targets = await mq.addresses(admin, args, slaves=args.update_all_broker)
    values = {args.key: args.value}
    by_broker = await call_each(
        targets, lambda broker: admin.brokers.update_config(broker, values, dry_run=args.dry_run)
    )
    return chain.from_iterable(by_broker.values())


async def _show_ha_status(admin: Admin, args: Namespace) -> Table:
    rows: list[tuple[Value, ...]] = []
    by_broker = await read_from_each(await mq.addresses(admin, args), admin.brokers.ha_status)
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
            flushed = client.master_flush_offset
            rows.append((
                address, "slave", flushed, client.master_addr, client.max_offset,
                flushed - client.max_offset if flushed > 0 else None,
                None, client.transferred_byte_in_second, None, client.last_read_timestamp,
                client.last_write_timestamp,
            ))  # fmt: skip
    return Table(
        "brokerAddr role masterOffset:number otherAddr slaveOffset:number "
        "diff:bytes inSync bytesPerSecond:bytes transferFromWhere:number "
        "lastReadTimestamp:time lastWriteTimestamp:time",
        rows,
    )


async def _show_epochs(admin: Admin, args: Namespace) -> Table:
    if args.broker_name is not None:
        group = ((await admin.clusters.info()).broker_addr_table or {}).get(args.broker_name)
        targets = tuple(((group.broker_addrs if group else None) or {}).values())
        if not targets:
            raise BrokerNotFoundError(args.broker_name)
    else:
        targets = await admin.clusters.replicas(args.cluster_name)
    by_broker = await read_from_each(targets, admin.brokers.epoch_cache)
    rows = [
        (
            cache.cluster_name, cache.broker_name, cache.broker_id, address, epoch.epoch,
            epoch.start_offset, min(epoch.end_offset, cache.max_offset),
        )
        for address, cache in by_broker.items()
        for epoch in cache.epoch_list or ()
    ]  # fmt: skip
    return Table(
        "clusterName brokerName brokerId:number brokerAddr epoch:number "
        "startOffset:number endOffset:number",
        rows,
    )


async def _show_consume_stats(admin: Admin, args: Namespace) -> Table:
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
    return Table(
        "topic group brokerName queueId:number brokerOffset:number "
        "consumerOffset:number diff:number lastTimestamp:time",
        sorted(rows, key=lambda row: (-int(str(row[6])), str(row))),
        searched=f"{args.broker_addr} has no offsets of a group"
        + (f" with a lag of {args.level} or more" if args.level else ""),
    )


async def _show_consume_queue(admin: Admin, args: Namespace) -> Table:
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
            args.index + position, entry.physic_offset, entry.physic_size, entry.tags_code,
            entry.eval, entry.msg,
        )
        for position, entry in enumerate(entries.queue_data or ())
    ]  # fmt: skip
    return Table(
        "index:number physicOffset:number physicSize:number tagsCode:number eval msg", rows
    )


def _cleaning(
    name: str, text: str, method: Callable[[Admin], Callable[..., Awaitable[tuple[str, ...]]]]
) -> Command:
    async def clean(admin: Admin, args: Namespace) -> Table:
        targets = await method(admin)(
            broker=args.broker_addr, cluster=args.cluster, dry_run=args.dry_run
        )
        return Table("brokerAddr", [(address,) for address in targets], failed=not targets)

    scope = "Default: all brokers of all clusters."
    return mq.admin_command(name, text, clean, *_CLEANED, epilog=scope, changes=True)


async def _show_cold_data_limits(admin: Admin, args: Namespace) -> Table:
    targets = await mq.addresses(admin, args, slaves=True)
    by_broker = await read_from_each(targets, admin.brokers.cold_data_info)
    rows = [(each, cast("Value", loads(info.encode()))) for each, info in by_broker.items()]
    return Table("brokerAddr info:value", rows)


async def _limit_cold_data(admin: Admin, args: Namespace) -> Iterable[Change[int]]:
    limit: int | None = getattr(args, "threshold", None)
    by_broker = await call_each(
        await mq.addresses(admin, args),
        lambda broker: admin.brokers.set_cold_data_limit(
            broker, args.consumer_group, limit, dry_run=args.dry_run
        ),
    )
    return chain.from_iterable(by_broker.values())


async def _set_read_ahead(admin: Admin, args: Namespace, broker: str) -> tuple[Value]:
    return (await admin.brokers.set_read_ahead_mode(broker, args.commit_log_read_ahead_mode),)


def identity(text: str) -> tuple[str, str, int]:
    cluster, _, replica = text.partition(":")
    name, _, number = replica.rpartition(":")
    if not (cluster and name and number.isascii() and number.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r}: must be CLUSTER:BROKER:ID")
    return cluster, name, int(number)


_CONTAINER: Final = mq.broker_address(
    "-c --brokerContainerAddr", "address of the container, host:port"
)
_CLEANED: Final = (
    mq.option("-b --brokerAddr", "only the broker with this address", type=host_and_port),
    mq.option("-c --cluster", "only brokers of this cluster", metavar="NAME"),
)
_KEY: Final = mq.option("-k --key", "name of the setting", required=True)

_BROKERS: Final = mq.group_commands(
    "clusters and brokers",
    mq.broker_command("brokerStatus", "show the status of brokers", _show_status, collects=True),
    mq.broker_command("getBrokerConfig", "show the configuration of brokers", _show_config,
        mq.option("-k --key", "only this setting"), collects=True),
    mq.broker_change("updateBrokerConfig", "change the configuration of brokers", "brokerAddr key",
        _update_config, _KEY, mq.option("-v --value", "value of the setting", required=True),
        mq.boolean_option("-a --updateAllBroker", "with -c, also slaves")),
    mq.broker_command("haStatus", "show the state of replication", _show_ha_status, collects=True,
        repeats=True),
    mq.admin_command("getBrokerEpoch", "show the epochs of brokers", _show_epochs, mq.CLUSTER,
        mq.option("-b --brokerName", "name of the broker group"), collects=True,
        one_of=("broker_name", "cluster_name"), repeats=True),
    mq.admin_command("brokerConsumeStats", "show the progress of all groups of a broker",
        _show_consume_stats, mq.broker_address("-b --brokerAddr", "address of the broker"),
        mq.option("-l --level", "only queues with at least this lag", type=int, default=0),
        mq.boolean_option("-o --order", "only ordered topics"),
        mq.option("-t --timeoutMillis", "timeout of the call in milliseconds", type=positive)),
    mq.admin_command("queryCq", "show entries of a consume queue", _show_consume_queue, mq.TOPIC,
        mq.option("-q --queue", "id of the queue", type=int, required=True),
        mq.option("-i --index", "index of the first entry", type=int, required=True),
        mq.option("-c --count", "number of entries", type=int, default=10),
        mq.option("-b --broker", "address of the broker (default: the first one of the topic)",
            type=host_and_port, metavar="ADDR"),
        mq.option("-g --consumer", "evaluate the filter of this group")),
    _cleaning("cleanUnusedTopic", "remove the queues of deleted topics",
        lambda admin: admin.brokers.clean_unused_topics),
    _cleaning("cleanExpiredCQ", "remove queues whose messages have expired",
        lambda admin: admin.brokers.clean_expired_queues),
    _cleaning("deleteExpiredCommitLog", "delete expired commit log files now",
        lambda admin: admin.brokers.delete_expired_commit_log),
    mq.order_command("resetMasterFlushOffset", "set the master's flush offset on a slave",
        "brokerAddr masterFlushOffset:number", "broker_addr",
        lambda admin, args, broker: admin.brokers.reset_master_flush_offset(broker, args.offset),
        mq.broker_address("-b --brokerAddr", "address of the slave"),
        mq.option("-o --offset", "flush offset of the master", type=int, required=True),
        told=lambda args: (args.offset,)),
    mq.broker_command("getColdDataFlowCtrInfo", "show the limits for reads of old messages",
        _show_cold_data_limits, collects=True),
    mq.broker_change("updateColdDataFlowCtrGroupConfig", "limit reads of old messages by a group",
        "brokerAddr group", _limit_cold_data, mq.CONSUMER_GROUP,
        mq.option("-v --threshold", "bytes per second", type=positive, required=True)),
    mq.broker_change("removeColdDataFlowCtrGroupConfig", "remove the limit of a group",
        "brokerAddr group", _limit_cold_data, mq.CONSUMER_GROUP),
    mq.order_command("setCommitLogReadAheadMode",
        "enable or disable read-ahead for a broker's files", "brokerAddr answer",
        partial(mq.addresses, slaves=True), _set_read_ahead, mq.BROKER, mq.CLUSTER,
        mq.option("-m --commitLogReadAheadMode", "0 enables read-ahead, 1 disables it",
            choices=("0", "1"), required=True), one_of=mq.ONE_OF),
    mq.order_command("addBroker", "start a broker in a container", "containerAddr configPath",
        "broker_container_addr", lambda admin, args, container:
            admin.brokers.add_to_container(container, args.broker_config_path),
        _CONTAINER, mq.option("-b --brokerConfigPath",
            "the broker's configuration file, on the container's machine", required=True,
            metavar="PATH"), told=lambda args: (args.broker_config_path,)),
    mq.order_command("removeBroker", "stop a broker in a container",
        "containerAddr clusterName brokerName brokerId:number", "broker_container_addr",
        lambda admin, args, container:
            admin.brokers.remove_from_container(container, *args.broker_identity),
        _CONTAINER, mq.option("-b --brokerIdentity", "the broker", type=identity, required=True,
            metavar="CLUSTER:BROKER:ID"), told=lambda args: args.broker_identity),
)  # fmt: skip


_MONTH: Final = 30 * 86_400_000
_IN_PROGRESS: Final = 2
"""The check has started (Java: ``CheckRocksdbCqWriteResult.CheckStatus``)."""
_LOCAL: Final = (
    "needs the RocksDB files on the broker's machine, which this program cannot read; "
    "use rocksDBConfigToJson -b to make the broker write them as JSON"
)


async def _find_exporting(admin: Admin, args: Namespace) -> tuple[str, ...]:
    if args.config_path is not None:
        raise UsageError(f"rocksDBConfigToJson --config-path {_LOCAL}")
    if (args.broker_addr is None) == (args.cluster is None):
        raise UsageError("exactly one of --broker-addr, --cluster is required")
    return await admin.clusters.targets(args.broker_addr, args.cluster, slaves=True)


def rocksdb_configs(text: str) -> tuple[RocksDBConfig, ...]:
    """Read names separated by semicolons, in any case, as Java does."""
    by_name = {config.value.lower(): config for config in RocksDBConfig}
    try:
        return tuple(by_name[word.strip().lower()] for word in text.split(";") if word.strip())
    except KeyError as error:
        names = ", ".join(RocksDBConfig)
        raise argparse.ArgumentTypeError(f"{error.args[0]!r}: must be one of {names}") from error


async def _check(admin: Admin, args: Namespace) -> Table:
    since = now_millis() - _MONTH if args.check_from is None else args.check_from
    targets = await admin.clusters.masters(args.cluster)
    by_broker = await call_each(
        targets, lambda broker: admin.stores.check_rocksdb_queues(broker, args.topic, since=since)
    )
    rows = [
        (address, progress.check_status, progress.check_result)
        for address, progress in by_broker.items()
    ]
    failed = any(progress.check_status != _IN_PROGRESS for progress in by_broker.values())
    return Table("brokerAddr checkStatus:number checkResult", rows, failed=failed)


async def _refuse(context: Context) -> None:
    raise RefusedError(f"{context.arguments.command} {_LOCAL}")


async def _dump(context: Context) -> Table:
    name: str = context.arguments.file
    try:
        data = await trio.Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror or error}") from error
    try:
        return message_table(_messages_of(data), f"no message in {name}")
    except DecodeError as error:
        raise RefusedError(f"{name}: {error}") from error


def _messages_of(data: bytes) -> Iterator[StoredMessage]:
    position = 0
    while position + 4 <= len(data):
        size = int.from_bytes(data[position : position + 4], "big", signed=True)
        if size <= 0 or size > len(data) - position:
            return
        yield from decode_stored_messages(data[position : position + size])
        position += size


_STORES: Final = mq.group_commands(
    "stores",
    mq.order_command("switchTimerEngine", "change where brokers store timer messages",
        "brokerAddr engine", mq.addresses, lambda admin, args, broker:
            admin.stores.switch_timer_engine(broker, TimerEngine(args.engine_type)),
        mq.BROKER, mq.CLUSTER,
        mq.option("-e --engineType", "R for RocksDB, F for files", choices=("R", "F"),
            required=True),
        told=lambda args: (TimerEngine(args.engine_type).name,), one_of=mq.ONE_OF),
    mq.order_command("rocksDBConfigToJson",
        "make brokers export configuration from RocksDB to JSON files", "brokerAddr exported:value",
        _find_exporting, lambda admin, args, broker:
            admin.stores.export_rocksdb_config(broker, args.config_type),
        mq.BROKER,
        mq.option("-c --cluster", "all brokers of this cluster", metavar="NAME"),
        mq.option("-t --configType",
            "some of topics;subscriptionGroups;consumerOffsets (default all)", type=rocksdb_configs,
            metavar="KINDS", default=tuple(RocksDBConfig)),
        mq.option("-p --configPath", "rejected: needs access to the broker's files"),
        mq.option("-e --exportFile", "ignored: belongs to --configPath", metavar="FILE"),
        mq.option("-j --jsonEnable", "ignored: belongs to --configPath", metavar="BOOLEAN"),
        told=lambda args: ([config.value for config in args.config_type],)),
    mq.admin_command("checkRocksdbCqWriteProgress",
        "make brokers compare queues in RocksDB and in files", _check,
        mq.option("-c --cluster", "name of the cluster", required=True, metavar="NAME"),
        mq.option("-t --topic", "only this topic", default=""),
        mq.option("-cf --checkFrom", type=mq.moment,
            text="earliest store time (default 30d ago)"),
        epilog="Brokers log the result. Exit status 1 if a broker has not started the check."),
    Command(name="exportMetadataInRocksDB",
        help="not supported: needs RocksDB files on the broker's machine", run=_refuse,
        options=(
            mq.option("-p --path", "folder with the configuration"),
            mq.option("-t --configType", "topics or subscriptionGroups", metavar="CONFIGTYPE"),
            mq.option("-j --jsonEnable", "whether to export as JSON", metavar="JSONENABLE"),
        ),
        offline=True),
    Command(name="dumpCompactionLog", help="list the messages in a file of a compacted topic",
        run=_dump,
        options=(mq.option("-f --file", "a file of a compacted topic's log", required=True),),
        offline=True),
)  # fmt: skip

COMMANDS: Final = (*_BROKERS, *_STORES)
