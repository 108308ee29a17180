"""Broker containers: ``addBroker``, ``removeBroker``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from rocketwire_tools.admin.cli import mqadmin_options as mq
from rocketwire_tools.admin.cli.arguments import host_and_port
from rocketwire_tools.admin.command import Record

if TYPE_CHECKING:
    from argparse import Namespace

    from rocketwire.client.admin import Admin


def identity(text: str) -> tuple[str, str, int]:
    """Read ``cluster:broker:id``; raises ``argparse.ArgumentTypeError`` if it is invalid."""
    cluster, _, replica = text.partition(":")
    name, _, number = replica.rpartition(":")
    if not (cluster and name and number.isascii() and number.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r}: must be CLUSTER:BROKER:ID")
    return cluster, name, int(number)


async def _add(admin: Admin, args: Namespace) -> Record:
    await admin.brokers.add_to_container(args.broker_container_addr, args.broker_config_path)
    return Record(
        {"containerAddr": args.broker_container_addr, "configPath": args.broker_config_path}
    )


async def _remove(admin: Admin, args: Namespace) -> Record:
    cluster, name, broker_id = args.broker_identity
    container: str = args.broker_container_addr
    await admin.brokers.remove_from_container(container, cluster, name, broker_id)
    return Record(
        {
            "containerAddr": container,
            "clusterName": cluster,
            "brokerName": name,
            "brokerId": broker_id,
        }
    )


_CONTAINER: Final = mq.option(
    "-c --brokerContainerAddr",
    "address of the container, host:port",
    type=host_and_port,
    required=True,
    metavar="ADDR",
)

COMMANDS: Final = mq.in_group(
    "clusters and brokers",
    mq.admin_command(
        "addBroker", "start a broker in a container", _add, _CONTAINER,
        mq.option(
            "-b --brokerConfigPath", "the broker's configuration file, on the container's machine",
            required=True, metavar="PATH",
        ),
    ),
    mq.admin_command(
        "removeBroker", "stop a broker in a container", _remove, _CONTAINER,
        mq.option(
            "-b --brokerIdentity", "the broker", type=identity, required=True,
            metavar="CLUSTER:BROKER:ID",
        ),
    ),
)  # fmt: skip
