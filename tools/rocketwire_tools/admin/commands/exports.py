"""Exports: ``exportMetadata``, ``exportConfigs``, ``exportMetrics``, ``exportPopRecord``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.admin.fanout import read_from_each
from rocketwire.client.periodic import now_millis
from rocketwire_tools.admin import mqadmin_options as mq
from rocketwire_tools.admin.actions.export_documents import configs_of, metadata_of, metrics_of
from rocketwire_tools.cli.command import Record, RefusedError, Table, Value, record

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from rocketwire.client.admin import Admin


async def _export_metadata(admin: Admin, args: Namespace) -> Record:
    targets = await mq.addresses(admin, args)
    topics, groups = await metadata_of(admin, targets, special=args.special_topic)
    document: dict[str, Value] = {}
    if not args.subscription_group:
        document["topicConfigTable"] = topics
    if args.subscription_group or not args.topic:
        document["subscriptionGroupTable"] = groups
    document["exportTime"] = now_millis()
    default_name = "topic" if args.topic else "metadata"
    name = "subscriptionGroup" if args.subscription_group else default_name
    return await _write(document, args.file_path, f"{name}.json")


async def _export_configs(admin: Admin, args: Namespace) -> Record:
    document = await configs_of(admin, args.cluster_name)
    return await _write(document, args.file_path, "configs.json")


async def _export_metrics(admin: Admin, args: Namespace) -> Record:
    document = await metrics_of(admin, args.cluster_name)
    return await _write(document, args.file_path, "metrics.json")


async def _write(document: Mapping[str, Value], folder: str | None, name: str) -> Record:
    if folder is None:
        return Record(document)
    path = trio.Path(folder) / name
    try:
        await path.parent.mkdir(parents=True, exist_ok=True)
        await path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", "utf-8")
    except OSError as error:
        raise RefusedError(f"{path}: {error.strerror or error}") from error
    return record(exported=str(path))


async def _export_pop_records(admin: Admin, args: Namespace) -> Table:
    targets = await mq.addresses(admin, args, slaves=True)
    if not args.dry_run:
        targets = tuple(await read_from_each(targets, admin.lite.export_pop_records))
    return Table("brokerAddr dryRun", [(address, args.dry_run) for address in targets])


_NAME: Final = mq.option("-c --clusterName", "name of the cluster", required=True)
_FILE: Final = mq.option(
    "-f --filePath", "folder for mqadmin's file (default: stdout)", metavar="FOLDER"
)

COMMANDS: Final = mq.group_commands(
    "exports",
    mq.broker_command("exportMetadata", "export topics and groups of users as JSON",
        _export_metadata, _FILE, mq.option("-t --topic", "only topics", switch=True),
        mq.option("-g --subscriptionGroup", "only groups", switch=True),
        mq.option("-s --specialTopic", "include retry and dead-letter topics", switch=True),
        collects=True),
    mq.admin_command("exportConfigs", "export main settings of brokers as JSON", _export_configs,
        _NAME, _FILE, collects=True),
    mq.admin_command("exportMetrics", "export metrics of a cluster's brokers as JSON",
        _export_metrics, _NAME, _FILE, collects=True),
    mq.broker_command("exportPopRecord", "make brokers store their pop records",
        _export_pop_records, mq.boolean_option("-d --dryRun", "only list the brokers"),
        collects=True),
)  # fmt: skip
