"""Reads of old messages: ``getColdDataFlowCtrInfo``, ``updateColdDataFlowCtrGroupConfig`` and their kin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.client.admin.fanout import call_each, read_from_each
from rocketwire_tools.admin.cli.mqadmin_options import (
    BROKER,
    CLUSTER,
    CONSUMER_GROUP,
    ONE_OF,
    addresses,
    admin_command,
    option,
)
from rocketwire_tools.admin.command import Column, Kind, Table
from rocketwire_tools.numbers import positive

if TYPE_CHECKING:
    from argparse import Namespace

    from rocketwire.client.admin import Admin

_GROUP: Final = "clusters and brokers"


async def _info(admin: Admin, wanted: Namespace) -> Table:
    targets = await addresses(admin, wanted, slaves=True)
    each = await read_from_each(targets, admin.brokers.cold_data_info)
    return Table(("brokerAddr", "info"), list(each.items()))


async def _update(admin: Admin, wanted: Namespace) -> Table:
    targets = await addresses(admin, wanted)
    values = {wanted.consumer_group: str(wanted.threshold)}
    await call_each(targets, lambda one: admin.brokers.update_cold_data_config(one, values))
    rows = [(address, wanted.consumer_group, wanted.threshold) for address in targets]
    return Table(("brokerAddr", "group", Column("threshold", Kind.BYTES)), rows)


async def _remove(admin: Admin, wanted: Namespace) -> Table:
    targets = await addresses(admin, wanted)
    group: str = wanted.consumer_group
    await call_each(targets, lambda one: admin.brokers.remove_cold_data_config(one, group))
    return Table(("brokerAddr", "group"), [(address, group) for address in targets])


async def _read_ahead(admin: Admin, wanted: Namespace) -> Table:
    targets = await addresses(admin, wanted, slaves=True)
    mode: str = wanted.commit_log_read_ahead_mode
    each = await call_each(targets, lambda one: admin.brokers.set_read_ahead_mode(one, mode))
    return Table(("brokerAddr", "answer"), list(each.items()))


COMMANDS: Final = (
    admin_command(
        "getColdDataFlowCtrInfo", "tell what brokers do against reads of old messages", _info, BROKER, CLUSTER,
        group=_GROUP, collects=True, one_of=ONE_OF,
    ),
    admin_command(
        "updateColdDataFlowCtrGroupConfig", "limit what a group may read of old messages", _update, BROKER, CLUSTER,
        CONSUMER_GROUP, option("-v --threshold", "bytes in a second", type=positive, required=True),
        group=_GROUP, one_of=ONE_OF,
    ),
    admin_command(
        "removeColdDataFlowCtrGroupConfig", "take back a group's limit on old messages", _remove, BROKER, CLUSTER,
        CONSUMER_GROUP, group=_GROUP, one_of=ONE_OF,
    ),
    admin_command(
        "setCommitLogReadAheadMode", "have the system read a broker's files ahead, or not", _read_ahead, BROKER, CLUSTER,
        option("-m --commitLogReadAheadMode", "0 ahead, 1 not", choices=("0", "1"), required=True),
        group=_GROUP, one_of=ONE_OF,
    ),
)  # fmt: skip
