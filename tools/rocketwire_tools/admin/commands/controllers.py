"""Controllers: ``getControllerMetaData``, ``getSyncStateSet``, ``electMaster`` and their kin."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from rocketwire_tools.admin.cli.arguments import host_and_port, hosts_and_ports
from rocketwire_tools.admin.cli.mqadmin_options import CLUSTER, admin_command, option
from rocketwire_tools.admin.command import Column, Kind, Record, Table, Value

if TYPE_CHECKING:
    from argparse import Namespace

    from rocketwire.client.admin import Admin

_GROUP: Final = "controllers"
_NUMBER: Final = Kind.NUMBER


async def _metadata(admin: Admin, wanted: Namespace) -> Record:
    found = await admin.controllers.metadata(wanted.controller_address)
    return Record(
        {
            "group": found.group,
            "controllerLeaderId": found.controller_leader_id,
            "controllerLeaderAddress": found.controller_leader_address,
            "peers": found.peers,
        }
    )


async def _sync_state(admin: Admin, wanted: Namespace) -> Table:
    if wanted.broker_name is not None:
        names: tuple[str, ...] = (wanted.broker_name,)
    else:
        names = await admin.clusters.broker_names(wanted.cluster_name)
    found = await admin.controllers.sync_state(wanted.controller_address, names)
    rows: list[tuple[Value, ...]] = []
    for name, group in sorted((found.replicas_info_table or {}).items()):
        for in_sync, replicas in (
            (True, group.in_sync_replicas),
            (False, group.not_in_sync_replicas),
        ):
            rows += [
                (
                    name, group.master_broker_id, group.master_epoch, group.sync_state_set_epoch, one.broker_id,
                    one.broker_address, in_sync, one.alive,
                )
                for one in replicas or ()
            ]  # fmt: skip
    columns = (
        "brokerName", Column("masterBrokerId", _NUMBER), Column("masterEpoch", _NUMBER),
        Column("syncStateSetEpoch", _NUMBER), Column("brokerId", _NUMBER), "brokerAddr", "inSync", "alive",
    )  # fmt: skip
    return Table(columns, rows)


async def _elect(admin: Admin, wanted: Namespace) -> Record:
    found = await admin.controllers.elect_master(
        wanted.controller_address, wanted.cluster_name, wanted.broker_name, wanted.broker_id
    )
    return Record(
        {
            "brokerName": wanted.broker_name,
            "masterBrokerId": found.master_broker_id,
            "masterAddress": found.master_address,
            "masterEpoch": found.master_epoch,
            "syncStateSetEpoch": found.sync_state_set_epoch,
        }
    )


def _numbers(text: str) -> list[int]:
    words = [one.strip() for one in text.split(";") if one.strip()]
    if not all(one.isascii() and one.isdecimal() for one in words):
        raise argparse.ArgumentTypeError(f"{text!r} is no list of numbers with semicolons between")
    return [int(one) for one in words]


async def _clean(admin: Admin, wanted: Namespace) -> Record:
    ids: list[int] = wanted.broker_controller_ids_to_clean or []
    await admin.controllers.clean_broker(
        wanted.controller_address,
        wanted.broker_name,
        cluster=wanted.cluster_name,
        broker_ids=ids,
        clean_living=wanted.clean_living_broker,
    )
    return Record({"brokerName": wanted.broker_name, "cleaned": list(ids)})


async def _config(admin: Admin, wanted: Namespace) -> Table:
    rows = [
        (address, key, value)
        for address in wanted.controller_address
        for key, value in sorted((await admin.controllers.config(address)).items())
    ]
    return Table(("controllerAddr", "key", "value"), rows)


async def _update_config(admin: Admin, wanted: Namespace) -> Table:
    addresses: tuple[str, ...] = wanted.controller_address
    for address in addresses:
        await admin.controllers.update_config(address, {wanted.key: wanted.value})
    rows = [(address, wanted.key, wanted.value) for address in addresses]
    return Table(("controllerAddr", "key", "value"), rows)


_ADDRESS: Final = option(
    "-a --controllerAddress", "address of a controller", type=host_and_port, required=True
)
_NAME: Final = option("-bn --brokerName", "name of the broker group", required=True)

COMMANDS: Final = (
    admin_command("getControllerMetaData", "tell who leads the controllers", _metadata, _ADDRESS, group=_GROUP),
    admin_command(
        "getSyncStateSet", "tell masters and replicas, and who is in sync", _sync_state, _ADDRESS, CLUSTER,
        option("-b --brokerName", "name of the broker group"),
        group=_GROUP, one_of=("broker_name", "cluster_name"), repeats=True,
    ),
    admin_command(
        "electMaster", "make a broker its group's master", _elect, _ADDRESS, _NAME,
        option("-b --brokerId", "which broker", type=int, required=True),
        option("-c --clusterName", "name of the cluster", required=True), group=_GROUP,
    ),
    admin_command(
        "cleanBrokerMetadata", "have controllers forget brokers", _clean, _ADDRESS, _NAME, CLUSTER,
        option("-b --brokerControllerIdsToClean", "which, as 1;2; all otherwise", type=_numbers),
        option("-l --cleanLivingBroker", "also those that are alive", switch=True), group=_GROUP,
    ),
    admin_command(
        "getControllerConfig", "tell the configuration of controllers", _config,
        option("-a --controllerAddress", "addresses, with semicolons between", type=hosts_and_ports, required=True), group=_GROUP,
    ),
    admin_command(
        "updateControllerConfig", "change the configuration of controllers", _update_config,
        option("-a --controllerAddress", "addresses, with semicolons between", type=hosts_and_ports, required=True),
        option("-k --key", "name of the setting", required=True),
        option("-v --value", "its value", required=True), group=_GROUP,
    ),
)  # fmt: skip
