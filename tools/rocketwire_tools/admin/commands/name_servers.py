"""Name servers, each command for all of them, and controllers."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from rocketwire.nearest import did_you_mean
from rocketwire_tools.admin import mqadmin_options as mq
from rocketwire_tools.cli.arguments import host_and_port, hosts_and_ports
from rocketwire_tools.cli.command import NotFoundError, Record, Table, Value, record

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

_NAME_SERVERS: Final = mq.group_commands(
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


async def _show_metadata(admin: Admin, args: Namespace) -> Record:
    metadata = await admin.controllers.metadata(args.controller_address)
    return record(
        group=metadata.group,
        controllerLeaderId=metadata.controller_leader_id,
        controllerLeaderAddress=metadata.controller_leader_address,
        peers=metadata.peers,
    )


async def _show_sync_state(admin: Admin, args: Namespace) -> Table:
    if args.broker_name is not None:
        names: tuple[str, ...] = (args.broker_name,)
    else:
        names = await admin.clusters.broker_names(args.cluster_name)
    state = await admin.controllers.sync_state(args.controller_address, names)
    rows: list[tuple[Value, ...]] = []
    for name, group in sorted((state.replicas_info_table or {}).items()):
        for in_sync, replicas in (
            (True, group.in_sync_replicas),
            (False, group.not_in_sync_replicas),
        ):
            rows += [
                (
                    name, group.master_broker_id, group.master_epoch, group.sync_state_set_epoch,
                    replica.broker_id, replica.broker_address, in_sync, replica.alive,
                )
                for replica in replicas or ()
            ]  # fmt: skip
    return Table(
        "brokerName masterBrokerId:number masterEpoch:number "
        "syncStateSetEpoch:number brokerId:number brokerAddr inSync alive",
        rows,
    )


async def _elect(admin: Admin, args: Namespace, broker: str) -> tuple[Value, ...]:
    election = await admin.controllers.elect_master(
        args.controller_address, args.cluster_name, broker, args.broker_id
    )
    return election.master_address, election.master_epoch, election.sync_state_set_epoch


def _parse_numbers(text: str) -> list[int]:
    words = [word.strip() for word in text.split(";") if word.strip()]
    if not all(word.isascii() and word.isdecimal() for word in words):
        raise argparse.ArgumentTypeError(f"{text!r}: must be numbers separated by semicolons")
    return [int(word) for word in words]


async def _clean(admin: Admin, args: Namespace, broker: str) -> None:
    await admin.controllers.clean_broker(
        args.controller_address, broker, cluster=args.cluster_name,
        broker_ids=args.broker_controller_ids_to_clean, clean_living=args.clean_living_broker,
    )  # fmt: skip


async def _show_settings(admin: Admin, args: Namespace) -> Table:
    configs = {
        address: await admin.controllers.config(address) for address in args.controller_address
    }
    return mq.key_table("controllerAddr", configs)


async def _update_config(admin: Admin, args: Namespace) -> list[Change[str]]:
    values = {args.key: args.value}
    return [
        change
        for address in args.controller_address
        for change in await admin.controllers.update_config(address, values, dry_run=args.dry_run)
    ]


_ADDRESS: Final = mq.option(
    "-a --controllerAddress", "address of a controller", type=host_and_port, required=True
)
_ADDRESSES: Final = mq.option("-a --controllerAddress", "addresses separated by semicolons",
    type=hosts_and_ports, required=True)  # fmt: skip
_NAME: Final = mq.option("-bn --brokerName", "name of the broker group", required=True)

_CONTROLLERS: Final = mq.group_commands(
    "controllers",
    mq.admin_command("getControllerMetaData", "show the leader of the controllers", _show_metadata,
        _ADDRESS),
    mq.admin_command("getSyncStateSet", "show masters and replicas and which are in sync",
        _show_sync_state, _ADDRESS, mq.CLUSTER,
        mq.option("-b --brokerName", "name of the broker group"),
        one_of=("broker_name", "cluster_name"), repeats=True),
    mq.order_command("electMaster", "make a broker the master of its group",
        "brokerName masterBrokerId:number masterAddress masterEpoch:number "
        "syncStateSetEpoch:number", "broker_name", _elect, _ADDRESS, _NAME,
        mq.option("-b --brokerId", "id of the broker", type=int, required=True),
        mq.option("-c --clusterName", "name of the cluster", required=True),
        told=lambda args: (args.broker_id,)),
    mq.order_command("cleanBrokerMetadata", "remove brokers from the controllers' metadata",
        "brokerName cleaned:value", "broker_name", _clean, _ADDRESS, _NAME, mq.CLUSTER,
        mq.option("-b --brokerControllerIdsToClean", "ids, such as 1;2 (default all)",
            type=_parse_numbers, default=[]),
        mq.option("-l --cleanLivingBroker", "also brokers that are alive", switch=True),
        told=lambda args: (args.broker_controller_ids_to_clean,)),
    mq.admin_command("getControllerConfig", "show the configuration of controllers", _show_settings,
        _ADDRESSES),
    mq.change_command("updateControllerConfig", "change the configuration of controllers",
        "controllerAddr key", _update_config, _ADDRESSES,
        mq.option("-k --key", "name of the setting", required=True),
        mq.option("-v --value", "value of the setting", required=True)),
)  # fmt: skip

COMMANDS: Final = (*_NAME_SERVERS, *_CONTROLLERS)
