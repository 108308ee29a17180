"""Name servers: ``getNamesrvConfig``, ``updateKvConfig``, ``wipeWritePerm`` and similar commands.

Each command is sent to all name servers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.nearest import did_you_mean
from rocketwire_tools.admin import mqadmin_options as mq
from rocketwire_tools.cli.command import NotFoundError, Table

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Awaitable, Callable

    from rocketwire.client.admin import Admin
    from rocketwire.client.admin.changes import Change
    from rocketwire_tools.cli.command import Command


async def _show_config(admin: Admin, args: Namespace) -> Table:
    del args
    return mq.key_table("namesrvAddr", await admin.name_servers.configs())


async def _delete(admin: Admin, args: Namespace) -> list[Change[str]]:
    changes = await admin.name_servers.delete_kv(args.namespace, args.key, dry_run=args.dry_run)
    if all(change.before is None for change in changes):
        known = await admin.name_servers.kv_namespace(args.namespace)
        raise NotFoundError(
            f"no name server has a key {args.key} in {args.namespace}"
            + did_you_mean(args.key, known)
        )
    return changes


def _write_perm_command(
    name: str, text: str, heading: str, change: Callable[[Admin, str], Awaitable[dict[str, int]]]
) -> Command:
    async def call(admin: Admin, args: Namespace) -> Table:
        broker: str = args.broker_name
        if args.dry_run:
            topics = await admin.topics.configs(await admin.clusters.master(broker))
            counts = {each.address: len(topics) for each in admin.client.name_servers.each()}
        else:
            counts = await change(admin, broker)
        if not any(counts.values()):
            await admin.clusters.master(broker)  # raises an error if there is no such broker
        return Table(f"namesrvAddr {heading}:number", list(counts.items()))

    return mq.admin_command(name, text, call, _BROKER_NAME, changes=True)


_HEADINGS: Final = "namesrvAddr key"
_NAMESPACE: Final = mq.option("-s --namespace", "namespace of the key", required=True)
_KEY: Final = mq.option("-k --key", "the key", required=True)
_VALUE: Final = mq.option("-v --value", "the value", required=True)
_BROKER_NAME: Final = mq.option("-b --brokerName", "name of the broker group", required=True)

COMMANDS: Final = mq.group_commands(
    "name servers",
    mq.admin_command("getNamesrvConfig", "show the configuration of name servers", _show_config),
    mq.change_command("updateNamesrvConfig", "change the configuration of name servers", _HEADINGS,
        lambda admin, args: admin.name_servers.update_configs(
            {args.key: args.value}, dry_run=args.dry_run), _KEY, _VALUE),
    mq.change_command("updateKvConfig", "store a value", _HEADINGS,
        lambda admin, args: admin.name_servers.put_kv(
            args.namespace, args.key, args.value, dry_run=args.dry_run), _NAMESPACE, _KEY, _VALUE),
    mq.change_command("deleteKvConfig", "remove a value", _HEADINGS, _delete, _NAMESPACE, _KEY),
    _write_perm_command("wipeWritePerm",
        "stop sends to a broker: remove the write permission of its topics", "wipeTopicCount",
        lambda admin, broker: admin.name_servers.wipe_write_perm(broker)),
    _write_perm_command("addWritePerm", "allow sends to a broker again", "addTopicCount",
        lambda admin, broker: admin.name_servers.add_write_perm(broker)),
)  # fmt: skip
