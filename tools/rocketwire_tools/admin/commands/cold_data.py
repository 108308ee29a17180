"""Reads of old messages: ``getColdDataFlowCtrInfo``, ``updateColdDataFlowCtrGroupConfig``, etc."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.client.admin.fanout import of_each, told_by_each
from rocketwire_tools.admin.cli import mqadmin_options as mq
from rocketwire_tools.admin.command import Table, columns
from rocketwire_tools.numbers import positive

if TYPE_CHECKING:
    from argparse import Namespace

    from rocketwire.client.admin import Admin

_GROUP: Final = "clusters and brokers"


async def _info(admin: Admin, args: Namespace) -> Table:
    targets = await mq.addresses(admin, args, slaves=True)
    by_broker = await told_by_each(targets, admin.brokers.cold_data_info)
    return Table(("brokerAddr", "info"), list(by_broker.items()))


async def _update(admin: Admin, args: Namespace) -> Table:
    targets = await mq.addresses(admin, args)
    values = {args.consumer_group: str(args.threshold)}
    await of_each(targets, lambda broker: admin.brokers.update_cold_data_config(broker, values))
    rows = [(address, args.consumer_group, args.threshold) for address in targets]
    return Table(columns("brokerAddr group threshold:bytes"), rows)


async def _remove(admin: Admin, args: Namespace) -> Table:
    targets = await mq.addresses(admin, args)
    group: str = args.consumer_group
    await of_each(targets, lambda broker: admin.brokers.remove_cold_data_config(broker, group))
    return Table(("brokerAddr", "group"), [(address, group) for address in targets])


async def _read_ahead(admin: Admin, args: Namespace) -> Table:
    targets = await mq.addresses(admin, args, slaves=True)
    mode: str = args.commit_log_read_ahead_mode
    by_broker = await of_each(
        targets, lambda broker: admin.brokers.set_read_ahead_mode(broker, mode)
    )
    return Table(("brokerAddr", "answer"), list(by_broker.items()))


COMMANDS: Final = mq.in_group(
    "clusters and brokers",
    mq.broker_command(
        "getColdDataFlowCtrInfo", "show the limits for reads of old messages", _info, collects=True,
    ),
    mq.broker_command(
        "updateColdDataFlowCtrGroupConfig", "limit reads of old messages by a group", _update,
        mq.CONSUMER_GROUP,
        mq.option("-v --threshold", "bytes per second", type=positive, required=True),
    ),
    mq.broker_command(
        "removeColdDataFlowCtrGroupConfig", "remove the limit of a group", _remove,
        mq.CONSUMER_GROUP,
    ),
    mq.broker_command(
        "setCommitLogReadAheadMode", "enable or disable read-ahead for a broker's files",
        _read_ahead,
        mq.option(
            "-m --commitLogReadAheadMode", "0 enables read-ahead, 1 disables it",
            choices=("0", "1"), required=True,
        ),
    ),
)  # fmt: skip
