"""Clusters, brokers and their stores."""

from __future__ import annotations

import argparse
import logging
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Final, cast

import trio

from rocketwire.client.admin import Admin, RocksDBConfig, TimerEngine
from rocketwire.client.admin.fanout import call_each, leave_out, read_from_each
from rocketwire.client.periodic import now_millis
from rocketwire.errors import (
    BrokerNotFoundError,
    ChannelError,
    ClusterNotFoundError,
    DecodeError,
    RocketWireError,
)
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.nearest import did_you_mean
from rocketwire.wire.json.fastjson import loads
from rocketwire.wire.message.lazy_reader import decode_stored_messages
from rocketwire_tools.admin import mqadmin_options as mq
from rocketwire_tools.admin.commands.exports import of_a_day
from rocketwire_tools.admin.commands.messages import message_table
from rocketwire_tools.cli.arguments import host_and_port
from rocketwire_tools.cli.command import (
    CellType,
    Column,
    Command,
    Context,
    RefusedError,
    Table,
    UsageError,
    Value,
    columns,
)
from rocketwire_tools.cli.exit_status import Denied, line_of, raise_if_denied
from rocketwire_tools.values import positive

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping

    from rocketwire.client.admin.changes import Change
    from rocketwire.messages.brokers import BrokerStatsData
    from rocketwire.wire.message.stored import StoredMessage

_LOG: Final = logging.getLogger("rocketwire.admin")

_NUMBER: Final = CellType.NUMBER

_LOAD: Final = {
    "inQueue": "sendThreadPoolQueueSize",
    "inWaitMillis": "sendThreadPoolQueueHeadWaitTimeMills",
    "outQueue": "pullThreadPoolQueueSize",
    "outWaitMillis": "pullThreadPoolQueueHeadWaitTimeMills",
    "ackQueue": "ackThreadPoolQueueSize",
    "ackWaitMillis": "ackThreadPoolQueueHeadWaitTimeMills",
    "timerReadBehind": "timerReadBehind",
    "timerOffsetBehind": "timerOffsetBehind",
    "timerCongestNum": "timerCongestNum",
    "timerEnqueueTps": "timerEnqueueTps",
    "timerDequeueTps": "timerDequeueTps",
}
"""Queued requests (send, pull, acknowledge) and timer messages of a broker."""
_RATES: Final[tuple[Column | str, ...]] = (
    "version", Column("inTps", _NUMBER), Column("outTps", _NUMBER), Column("pcWaitMillis", _NUMBER),
    Column("earliestMessage", CellType.TIME), Column("diskUsed", _NUMBER), "active",
    *(Column(name, _NUMBER) for name in _LOAD),
)  # fmt: skip
_TOTALS: Final = tuple(
    Column(name, _NUMBER)
    for name in ("inTotalYest", "outTotalYest", "inTotalToday", "outTotalToday")
)


async def _list_clusters(admin: Admin, args: Namespace) -> Table:
    info = await admin.clusters.info()
    rows: list[tuple[Value, ...]] = []
    failed = False
    for cluster, names in sorted((info.cluster_addr_table or {}).items()):
        if args.cluster_name not in (None, cluster):
            continue
        for name in sorted(broker_name for broker_name in names if broker_name is not None):
            group = (info.broker_addr_table or {}).get(name)
            for broker_id, address in sorted(
                ((group.broker_addrs if group else None) or {}).items()
            ):
                table: Mapping[str, str] = {}
                try:
                    table = await admin.brokers.runtime_info(address)
                except RocketWireError as error:
                    _LOG.warning("no status: %s", line_of(error))
                    failed = True
                figures = _totals(table) if args.more_stats else _rates(table)
                rows.append((cluster, name, broker_id, address, *figures))
    broker_columns = columns("clusterName brokerName brokerId:number addr")
    headings = (*broker_columns, *(_TOTALS if args.more_stats else _RATES))
    if not rows and args.cluster_name is not None:
        raise ClusterNotFoundError(args.cluster_name)
    return Table(headings, rows, failed=failed, searched="no broker is registered")


def _number(table: Mapping[str, str], key: str) -> float | None:
    try:
        text = table[key].split()[0]
        return int(text) if text.isdecimal() else round(float(text), 4)
    except (KeyError, IndexError, ValueError):
        return None


def _rates(table: Mapping[str, str]) -> tuple[Value, ...]:
    earliest = int(_number(table, "earliestMessageTimeStamp") or 0)
    return (
        table.get("brokerVersionDesc"),
        _number(table, "putTps"),
        _number(
            table, "getTransferredTps" if "getTransferredTps" in table else "getTransferedTps"
        ),  # until 4.9
        _number(table, "pageCacheLockTimeMills"),
        earliest if earliest > 0 else None,
        _number(table, "commitLogDiskRatio"),
        table.get("brokerActive"),
        *(_number(table, key) for key in _LOAD.values()),
    )


def _totals(table: Mapping[str, str]) -> tuple[Value, ...]:
    counts: list[Value] = []
    for end, start in (("TodayMorning", "YesterdayMorning"), ("TodayNow", "TodayMorning")):
        for operation in ("Put", "Get"):
            last = _number(table, f"msg{operation}Total{end}")
            first = _number(table, f"msg{operation}Total{start}")
            counts.append(None if last is None or first is None else int(last - first))
    return tuple(counts)


async def _sum_stats(
    admin: Admin, addresses: Mapping[str, str], name: str, key: str
) -> tuple[float, int]:
    tps, number = 0.0, 0

    async def ask(address: str) -> BrokerStatsData:
        return await admin.brokers.stats(address, name, key)

    for address in addresses.values():
        try:
            (data,) = (await read_from_each((address,), ask)).values()
        except ChannelError as error:
            leave_out(address, error)
            continue
        except RocketWireError as error:
            raise_if_denied(error)
            continue  # the broker has no statistics of it
        tps += data.stats_minute.tps if data.stats_minute else 0.0
        number += of_a_day(data)
    return round(tps, 2), number


async def _show_stats(admin: Admin, args: Namespace) -> Table:
    names = [args.topic] if args.topic is not None else sorted(await admin.topics.names())
    rows: list[tuple[Value, ...]] = []
    denied = Denied()
    for topic in names:
        if topic.startswith(("%RETRY%", "%DLQ%")) and args.topic is None:
            continue
        try:
            rows += await _stats_of(admin, topic, only_active=args.active_topic)
        except ChannelError as error:
            leave_out(topic, error)
        except RocketWireError as error:  # names of clusters and brokers are also topics
            denied.note(error)
    denied.report(is_empty=not rows)
    return Table(
        "topic consumerGroup accumulation:number inTps:number outTps:number "
        "inMsg24Hour:number outMsg24Hour:number",
        rows,
        searched="no topic" + (" has messages of the last 24 hours" if args.active_topic else ""),
    )


async def _stats_of(admin: Admin, topic: str, *, only_active: bool) -> list[tuple[Value, ...]]:
    rows: list[tuple[Value, ...]] = []
    addresses = await admin.clusters.of_topic(topic)
    groups = await admin.topics.consumer_groups(topic)
    in_tps, in_number = await _sum_stats(admin, addresses, "TOPIC_PUT_NUMS", topic)
    for group in groups or ("",):
        out_tps, out_number, lag = None, None, 0
        if group:
            out_tps, out_number = await _sum_stats(
                admin, addresses, "GROUP_GET_NUMS", f"{topic}@{group}"
            )
            lag = await _lag(admin, group, topic)
        if not only_active or in_number or out_number:
            rows.append((topic, group or None, lag, in_tps, out_tps, in_number, out_number))
    return rows


async def _lag(admin: Admin, group: str, topic: str) -> int:
    try:
        table = (await admin.consumers.stats(group, topic)).offset_table or {}
    except ChannelError:
        raise
    except RocketWireError as error:
        raise_if_denied(error)
        return 0
    return max(
        sum(offsets.broker_offset - offsets.consumer_offset for offsets in table.values()), 0
    )


_CLUSTER_COMMANDS: Final = mq.group_commands(
    "clusters and brokers",
    mq.admin_command("clusterList", "list clusters and brokers with their rates", _list_clusters,
        mq.CLUSTER,
        mq.option("-m --moreStats", "show messages of yesterday and today instead of rates",
            switch=True),
        epilog="Exit status 1 if a broker does not respond.", repeats=True),
    mq.admin_command("statsAll", "show rates and backlogs of all topics and groups", _show_stats,
        mq.option("-a --activeTopic",
            "only topics with messages sent or consumed in the last 24 hours", switch=True),
        mq.option("-t --topic", "only this topic"), collects=True),
)  # fmt: skip


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

COMMANDS: Final = (*_CLUSTER_COMMANDS, *_BROKERS, *_STORES)
