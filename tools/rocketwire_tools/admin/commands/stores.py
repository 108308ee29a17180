"""Storage engines: ``switchTimerEngine``, ``rocksDBConfigToJson``, ``dumpCompactionLog``, etc."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.admin import Admin, RocksDBConfig, TimerEngine
from rocketwire.client.admin.fanout import call_each
from rocketwire.client.periodic import now_millis
from rocketwire.errors import DecodeError
from rocketwire.wire.message.lazy_reader import decode_stored_messages
from rocketwire_tools.admin import mqadmin_options as mq
from rocketwire_tools.admin.commands.messages import message_table
from rocketwire_tools.cli.command import Command, Context, RefusedError, Table, UsageError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from rocketwire.wire.message.stored import StoredMessage

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


COMMANDS: Final = mq.group_commands(
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
