"""Stores: ``switchTimerEngine``, ``rocksDBConfigToJson``, ``checkRocksdbCqWriteProgress``, ``dumpCompactionLog``."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.admin import RocksDBConfig, TimerEngine
from rocketwire.client.admin.fanout import call_each
from rocketwire.errors import DecodeError
from rocketwire.wire.message.stored import decode_stored_messages
from rocketwire_tools.admin.cli.mqadmin_options import (
    BROKER,
    CLUSTER,
    ONE_OF,
    addresses,
    admin_command,
    moment,
    option,
)
from rocketwire_tools.admin.command import (
    Column,
    Command,
    Kind,
    RefusedError,
    Table,
    UsageError,
)
from rocketwire_tools.admin.commands.messages import listed

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from rocketwire.client.admin import Admin
    from rocketwire.wire.message.stored import StoredMessage
    from rocketwire_tools.admin.command import Context

_GROUP: Final = "stores"
_MONTH: Final = 30 * 86_400_000
_IN_PROGRESS: Final = 2
"""The broker has begun (Java: ``CheckRocksdbCqWriteResult.CheckStatus``)."""
_LOCAL: Final = (
    "reads the RocksDB files of a broker on its own machine, which this program cannot; "
    "rocksDBConfigToJson -b has the broker write them as JSON"
)


async def _switch(admin: Admin, wanted: Namespace) -> Table:
    engine = TimerEngine(wanted.engine_type)
    targets = await addresses(admin, wanted)
    await call_each(targets, lambda one: admin.stores.switch_timer_engine(one, engine))
    return Table(("brokerAddr", "engine"), [(address, engine.name) for address in targets])


async def _to_json(admin: Admin, wanted: Namespace) -> Table:
    if wanted.config_path is not None:
        raise UsageError(f"rocksDBConfigToJson --config-path {_LOCAL}")
    kinds = wanted.config_type or tuple(RocksDBConfig)
    if (wanted.broker_addr is None) == (wanted.cluster is None):
        raise UsageError("exactly one of --broker-addr, --cluster is needed")
    targets = await admin.clusters.targets(wanted.broker_addr, wanted.cluster, slaves=True)
    await call_each(targets, lambda one: admin.stores.export_rocksdb_config(one, kinds))
    rows = [(address, [kind.value for kind in kinds]) for address in targets]
    return Table(("brokerAddr", Column("exported", Kind.VALUE)), rows)


def rocksdb_configs(text: str) -> tuple[RocksDBConfig, ...]:
    """Read names with semicolons between, in any case, as Java does.

    Raises:
        argparse.ArgumentTypeError: one of them is none.
    """
    by_name = {kind.value.lower(): kind for kind in RocksDBConfig}
    try:
        return tuple(by_name[one.strip().lower()] for one in text.split(";") if one.strip())
    except KeyError as error:
        known = ", ".join(RocksDBConfig)
        raise argparse.ArgumentTypeError(f"{error.args[0]!r} is not one of {known}") from error


async def _check(admin: Admin, wanted: Namespace) -> Table:
    since = time.time_ns() // 1_000_000 - _MONTH if wanted.check_from is None else wanted.check_from
    targets = await admin.clusters.masters(wanted.cluster)
    each = await call_each(
        targets, lambda one: admin.stores.check_rocksdb_queues(one, wanted.topic, since=since)
    )
    rows = [(address, one.check_status, one.check_result) for address, one in each.items()]
    failed = any(one.check_status != _IN_PROGRESS for one in each.values())
    columns = ("brokerAddr", Column("checkStatus", Kind.NUMBER), "checkResult")
    return Table(columns, rows, failed=failed)


async def _not_here(context: Context) -> None:
    raise RefusedError(f"{context.arguments.command} {_LOCAL}")


def _path_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-p", "--path", help="folder with the configuration")
    parser.add_argument("-t", "--configType", "--config-type", help="topics or subscriptionGroups")
    parser.add_argument("-j", "--jsonEnable", "--json-enable", help="as JSON")


async def _dump(context: Context) -> Table:
    name: str = context.arguments.file
    try:
        data = await trio.Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror or error}") from error
    try:
        return listed(_messages_of(data))
    except DecodeError as error:
        raise RefusedError(f"{name}: {error}") from error


def _messages_of(data: bytes) -> Iterator[StoredMessage]:
    """The messages in a file of a compacted topic, whose end may be zeros."""
    at = 0
    while at + 4 <= len(data):
        size = int.from_bytes(data[at : at + 4], "big", signed=True)
        if size <= 0 or size > len(data) - at:
            return
        yield from decode_stored_messages(data[at : at + size])
        at += size


def _file_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-f", "--file", required=True, help="a file of a compacted topic's log")


COMMANDS: Final = (
    admin_command(
        "switchTimerEngine", "have brokers keep timed messages elsewhere", _switch, BROKER, CLUSTER,
        option("-e --engineType", "R for RocksDB, F for files", choices=("R", "F"), required=True),
        group=_GROUP, one_of=ONE_OF,
    ),
    admin_command(
        "rocksDBConfigToJson", "have brokers write configuration out of RocksDB as JSON files", _to_json, BROKER,
        option("-c --cluster", "of all brokers of this cluster", metavar="NAME"),
        option(
            "-t --configType", "topics;subscriptionGroups;consumerOffsets, or some of them; all otherwise",
            type=rocksdb_configs, metavar="KINDS",
        ),
        option("-p --configPath", "refused: files of a broker can only be read where they are"),
        option("-e --exportFile", "of mqadmin's --configPath", metavar="FILE"),
        option("-j --jsonEnable", "of mqadmin's --configPath", metavar="BOOLEAN"),
        group=_GROUP,
    ),
    admin_command(
        "checkRocksdbCqWriteProgress", "have brokers compare queues in RocksDB with those in files", _check,
        option("-c --cluster", "name of the cluster", required=True, metavar="NAME"),
        option("-t --topic", "only of this topic", default=""),
        option("-cf --checkFrom", "messages stored not before this; 30 days otherwise", type=moment),
        group=_GROUP, epilog="What they find is in their logs. Exit status 1 if one has not begun.",
    ),
    Command(
        name="exportMetadataInRocksDB", help="not here: reads RocksDB files of a broker on its own machine",
        run=_not_here, add_arguments=_path_arguments, group=_GROUP, offline=True,
    ),
    Command(
        name="dumpCompactionLog", help="list the messages in a file of a compacted topic", run=_dump,
        add_arguments=_file_argument, group=_GROUP, offline=True,
    ),
)  # fmt: skip
