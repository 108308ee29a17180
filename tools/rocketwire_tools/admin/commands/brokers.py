"""Brokers: ``brokerStatus``, ``getBrokerConfig``, ``haStatus``, ``cleanUnusedTopic`` and their kin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.client.admin.fanout import call_each, read_from_each
from rocketwire.messages.message_queue import MessageQueue
from rocketwire_tools.admin.cli.arguments import host_and_port
from rocketwire_tools.admin.cli.mqadmin_options import (
    BROKER,
    CLUSTER,
    ONE_OF,
    TOPIC,
    addresses,
    admin_command,
    boolean,
    option,
)
from rocketwire_tools.admin.command import (
    Column,
    Kind,
    Record,
    RefusedError,
    Table,
    UsageError,
    Value,
)
from rocketwire_tools.numbers import positive

if TYPE_CHECKING:
    from argparse import Namespace

    from rocketwire.client.admin import Admin

_GROUP: Final = "clusters and brokers"
_NUMBER: Final = Kind.NUMBER


# ---------------------------------------------------------------------------- one broker's word


async def _status(admin: Admin, wanted: Namespace) -> Table:
    targets = await addresses(admin, wanted, slaves=True)
    each = await read_from_each(targets, admin.brokers.runtime_info)
    rows = [
        (address, key, value)
        for address, table in each.items()
        for key, value in sorted(table.items())
    ]
    return Table(("brokerAddr", "key", "value"), rows)


async def _config(admin: Admin, wanted: Namespace) -> Table:
    targets = await addresses(admin, wanted, slaves=True)
    each = await read_from_each(targets, admin.brokers.config)
    rows = [
        (address, key, value)
        for address, table in each.items()
        for key, value in sorted(table.items())
        if wanted.key in (None, key)
    ]
    return Table(("brokerAddr", "key", "value"), rows, failed=not rows)


async def _update_config(admin: Admin, wanted: Namespace) -> Table:
    targets = await addresses(admin, wanted, slaves=wanted.update_all_broker)
    values = {wanted.key: wanted.value}
    await call_each(targets, lambda address: admin.brokers.update_config(address, values))
    rows = [(address, wanted.key, wanted.value) for address in targets]
    return Table(("brokerAddr", "key", "value"), rows)


async def _ha_status(admin: Admin, wanted: Namespace) -> Table:
    rows: list[tuple[Value, ...]] = []
    each = await read_from_each(await addresses(admin, wanted), admin.brokers.ha_status)
    for address, status in each.items():
        if status.master:
            slaves = status.ha_connection_info or ()
            rows += [
                (
                    address, "master", status.master_commit_log_max_offset, one.addr, one.slave_ack_offset, one.diff,
                    one.in_sync, one.transferred_byte_in_second, one.transfer_from_where, None, None,
                )
                for one in slaves
            ]  # fmt: skip
            if not slaves:
                rows.append((address, "master", status.master_commit_log_max_offset, *[None] * 8))
        elif (one_ := status.ha_client_runtime_info) is not None:
            rows.append((
                address, "slave", one_.master_flush_offset, one_.master_addr, one_.max_offset,
                one_.master_flush_offset - one_.max_offset if one_.master_flush_offset > 0 else None, None,
                one_.transferred_byte_in_second, None, one_.last_read_timestamp, one_.last_write_timestamp,
            ))  # fmt: skip
    columns = (
        "brokerAddr", "role", Column("masterOffset", _NUMBER), "otherAddr", Column("slaveOffset", _NUMBER),
        Column("diff", Kind.BYTES), "inSync", Column("bytesPerSecond", Kind.BYTES),
        Column("transferFromWhere", _NUMBER), Column("lastRead", Kind.TIME), Column("lastWrite", Kind.TIME),
    )  # fmt: skip
    return Table(columns, rows)


async def _epochs(admin: Admin, wanted: Namespace) -> Table:
    if wanted.broker_name is not None:
        group = ((await admin.clusters.info()).broker_addr_table or {}).get(wanted.broker_name)
        targets = tuple(((group.broker_addrs if group else None) or {}).values())
        if not targets:
            raise UsageError(f"no broker is called {wanted.broker_name}")
    else:
        targets = await admin.clusters.replicas(wanted.cluster_name)
    each = await read_from_each(targets, admin.brokers.epoch_cache)
    rows = [
        (found.cluster_name, found.broker_name, found.broker_id, address, one.epoch, one.start_offset,
         min(one.end_offset, found.max_offset))
        for address, found in each.items()
        for one in found.epoch_list or ()
    ]  # fmt: skip
    columns = (
        "clusterName", "brokerName", Column("brokerId", _NUMBER), "brokerAddr", Column("epoch", _NUMBER),
        Column("startOffset", _NUMBER), Column("endOffset", _NUMBER),
    )  # fmt: skip
    return Table(columns, rows)


async def _consume_stats(admin: Admin, wanted: Namespace) -> Table:
    if wanted.timeout_millis is not None:
        admin.brokers.within = wanted.timeout_millis / 1000
    found = await admin.brokers.consume_stats(wanted.broker_addr, order=wanted.order)
    rows: list[tuple[Value, ...]] = []
    for groups in found.consume_stats_list or ():
        for group, each in groups.items():
            for stats in each:
                for queue, one in (stats.offset_table or {}).items():
                    diff = one.broker_offset - one.consumer_offset
                    if diff >= wanted.level:
                        rows.append((
                            queue.topic, group, queue.broker_name, queue.queue_id, one.broker_offset, one.consumer_offset,
                            diff, one.last_timestamp or None,
                        ))  # fmt: skip
    columns = (
        "topic", "group", "brokerName", Column("queueId", _NUMBER), Column("brokerOffset", _NUMBER),
        Column("consumerOffset", _NUMBER), Column("diff", _NUMBER), Column("lastTime", Kind.TIME),
    )  # fmt: skip
    return Table(columns, sorted(rows, key=str))


async def _consume_queue(admin: Admin, wanted: Namespace) -> Table:
    address: str = wanted.broker or next(
        iter((await admin.clusters.of_topic(wanted.topic)).values())
    )
    queue = MessageQueue(topic=wanted.topic, broker_name="", queue_id=wanted.queue)
    found = await admin.brokers.consume_queue(
        address, queue, wanted.index, wanted.count, wanted.consumer
    )
    if found is None:
        raise RefusedError(
            f"{address} has nothing at {wanted.index} of queue {wanted.queue} of topic {wanted.topic}"
        )
    rows = [
        (wanted.index + at, one.physic_offset, one.physic_size, one.tags_code, one.eval, one.msg)
        for at, one in enumerate(found.queue_data or ())
    ]
    columns = (
        Column("index", _NUMBER), Column("physicOffset", _NUMBER), Column("physicSize", _NUMBER),
        Column("tagsCode", _NUMBER), "eval", "msg",
    )  # fmt: skip
    return Table(columns, rows)


# ---------------------------------------------------------------------------- cleaning up


async def _clean_topics(admin: Admin, wanted: Namespace) -> Table:
    return _done(
        await admin.brokers.clean_unused_topics(broker=wanted.broker_addr, cluster=wanted.cluster)
    )


async def _clean_queues(admin: Admin, wanted: Namespace) -> Table:
    return _done(
        await admin.brokers.clean_expired_queues(broker=wanted.broker_addr, cluster=wanted.cluster)
    )


async def _clean_log(admin: Admin, wanted: Namespace) -> Table:
    return _done(
        await admin.brokers.delete_expired_commit_log(
            broker=wanted.broker_addr, cluster=wanted.cluster
        )
    )


def _done(targets: tuple[str, ...]) -> Table:
    return Table(("brokerAddr",), [(address,) for address in targets], failed=not targets)


async def _flush_offset(admin: Admin, wanted: Namespace) -> Record:
    await admin.brokers.reset_master_flush_offset(wanted.broker_addr, wanted.offset)
    return Record({"brokerAddr": wanted.broker_addr, "masterFlushOffset": wanted.offset})


_CLEANED: Final = (
    option(
        "-b --brokerAddr", "only the broker of this address", type=host_and_port, metavar="ADDR"
    ),
    option("-c --cluster", "only brokers of this cluster", metavar="NAME"),
)
_KEY: Final = option("-k --key", "name of the setting", required=True)
_EACH: Final = "Without options all brokers of all clusters are told."

COMMANDS: Final = (
    admin_command(
        "brokerStatus", "tell facts and figures of brokers", _status, BROKER, CLUSTER, group=_GROUP, collects=True, one_of=ONE_OF
    ),
    admin_command(
        "getBrokerConfig", "tell the configuration of brokers", _config, BROKER, CLUSTER,
        option("-k --key", "only this one"), group=_GROUP, collects=True, one_of=ONE_OF,
    ),
    admin_command(
        "updateBrokerConfig", "change the configuration of brokers", _update_config, BROKER, CLUSTER, _KEY,
        option("-v --value", "its value", required=True),
        option("-a --updateAllBroker", "of a cluster, slaves too", type=boolean, default=False),
        group=_GROUP, one_of=ONE_OF,
    ),
    admin_command(
        "haStatus", "tell how replication goes", _ha_status, BROKER, CLUSTER, group=_GROUP, collects=True, one_of=ONE_OF,
        repeats=True,
    ),
    admin_command(
        "getBrokerEpoch", "tell the epochs that brokers know", _epochs, CLUSTER,
        option("-b --brokerName", "name of the broker group", metavar="NAME"),
        group=_GROUP, collects=True, one_of=("broker_name", "cluster_name"), repeats=True,
    ),
    admin_command(
        "brokerConsumeStats", "tell how far all groups of a broker are", _consume_stats,
        option("-b --brokerAddr", "address of the broker", type=host_and_port, required=True, metavar="ADDR"),
        option("-l --level", "only what is so far behind", type=int, default=0),
        option("-o --order", "of ordered topics only", type=boolean, default=False),
        option("-t --timeoutMillis", "milliseconds for the call", type=positive),
        group=_GROUP,
    ),
    admin_command(
        "queryCq", "tell entries of a consume queue", _consume_queue, TOPIC,
        option("-q --queue", "which queue", type=int, required=True),
        option("-i --index", "the first entry", type=int, required=True),
        option("-c --count", "how many", type=int, default=10),
        option("-b --broker", "address of the broker; the topic's first one otherwise", type=host_and_port, metavar="ADDR"),
        option("-g --consumer", "what this group's filter makes of them"),
        group=_GROUP,
    ),
    admin_command(
        "cleanUnusedTopic", "have queues removed of topics that are gone", _clean_topics, *_CLEANED,
        group=_GROUP, epilog=_EACH,
    ),
    admin_command(
        "cleanExpiredCQ", "have queues removed whose messages are gone", _clean_queues, *_CLEANED,
        group=_GROUP, epilog=_EACH,
    ),
    admin_command(
        "deleteExpiredCommitLog", "have old files deleted now", _clean_log, *_CLEANED, group=_GROUP, epilog=_EACH
    ),
    admin_command(
        "resetMasterFlushOffset", "tell a slave how far its master has flushed", _flush_offset,
        option("-b --brokerAddr", "address of the slave", type=host_and_port, required=True, metavar="ADDR"),
        option("-o --offset", "how far", type=int, required=True), group=_GROUP,
    ),
)  # fmt: skip
