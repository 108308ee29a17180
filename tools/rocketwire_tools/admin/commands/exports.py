"""Taking things along: ``exportMetadata``, ``exportConfigs``, ``exportMetrics``, ``exportPopRecord``."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.admin.fanout import read_from_each
from rocketwire_tools.admin.actions.export_documents import configs_of, metadata_of, metrics_of
from rocketwire_tools.admin.cli.mqadmin_options import (
    BROKER,
    CLUSTER,
    ONE_OF,
    addresses,
    admin_command,
    boolean,
    option,
)
from rocketwire_tools.admin.command import Record, RefusedError, Table

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from rocketwire.client.admin import Admin
    from rocketwire_tools.admin.command import Value

_GROUP: Final = "exports"


async def _metadata(admin: Admin, wanted: Namespace) -> Record:
    targets = await addresses(admin, wanted)
    topics, groups = await metadata_of(admin, targets, special=wanted.special_topic)
    found: dict[str, Value] = {}
    if not wanted.subscription_group:
        found["topicConfigTable"] = topics
    if wanted.subscription_group or not wanted.topic:
        found["subscriptionGroupTable"] = groups
    found["exportTime"] = time.time_ns() // 1_000_000
    kind = "topic" if wanted.topic else "metadata"
    name = "subscriptionGroup" if wanted.subscription_group else kind
    return await _written(found, wanted.file_path, f"{name}.json")


async def _configs(admin: Admin, wanted: Namespace) -> Record:
    found = await configs_of(admin, wanted.cluster_name)
    return await _written(found, wanted.file_path, "configs.json")


async def _metrics(admin: Admin, wanted: Namespace) -> Record:
    found = await metrics_of(admin, wanted.cluster_name)
    return await _written(found, wanted.file_path, "metrics.json")


async def _written(found: Mapping[str, Value], folder: str | None, name: str) -> Record:
    """What was found; or, with a folder, what file has it now.

    Raises:
        RefusedError: the file cannot be written.
    """
    if folder is None:
        return Record(found)
    path = trio.Path(folder) / name
    try:
        await path.parent.mkdir(parents=True, exist_ok=True)
        await path.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", "utf-8")
    except OSError as error:
        raise RefusedError(f"{path}: {error.strerror or error}") from error
    return Record({"exported": str(path)})


async def _pop_records(admin: Admin, wanted: Namespace) -> Table:
    targets = await addresses(admin, wanted, slaves=True)
    if not wanted.dry_run:
        targets = tuple(await read_from_each(targets, admin.lite.export_pop_records))
    return Table(("brokerAddr", "dryRun"), [(address, wanted.dry_run) for address in targets])


_NAME: Final = option("-c --clusterName", "name of the cluster", required=True, metavar="NAME")
_FILE: Final = option(
    "-f --filePath", "folder for the file that mqadmin writes; stdout otherwise", metavar="FOLDER"
)

COMMANDS: Final = (
    admin_command(
        "exportMetadata", "write topics and groups that users made into a JSON document", _metadata, BROKER, CLUSTER, _FILE,
        option("-t --topic", "only topics", switch=True),
        option("-g --subscriptionGroup", "only groups", switch=True),
        option("-s --specialTopic", "with topics of retries and dead letters", switch=True),
        group=_GROUP, one_of=ONE_OF, collects=True,
    ),
    admin_command(
        "exportConfigs", "write what matters of brokers' configurations into a JSON document", _configs, _NAME, _FILE, group=_GROUP, collects=True,
    ),
    admin_command(
        "exportMetrics", "write figures of a cluster's brokers into a JSON document", _metrics, _NAME, _FILE, group=_GROUP, collects=True,
    ),
    admin_command(
        "exportPopRecord", "have brokers write back what they know of pops", _pop_records, BROKER, CLUSTER,
        option("-d --dryRun", "only tell which brokers", type=boolean, default=False),
        group=_GROUP, one_of=ONE_OF, collects=True,
    ),
)  # fmt: skip
