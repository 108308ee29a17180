"""Broker containers: ``addBroker``, ``removeBroker``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from rocketwire_tools.admin.cli.arguments import host_and_port
from rocketwire_tools.admin.cli.mqadmin_options import admin_command, option
from rocketwire_tools.admin.command import Record

if TYPE_CHECKING:
    from argparse import Namespace

    from rocketwire.client.admin import Admin

_GROUP: Final = "clusters and brokers"


def identity(text: str) -> tuple[str, str, int]:
    """Read ``cluster:broker:id``.

    Raises:
        argparse.ArgumentTypeError: it is something else.
    """
    cluster, _, rest = text.partition(":")
    name, _, number = rest.rpartition(":")
    if not (cluster and name and number.isascii() and number.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is not CLUSTER:BROKER:ID")
    return cluster, name, int(number)


async def _add(admin: Admin, wanted: Namespace) -> Record:
    await admin.brokers.add_to_container(wanted.broker_container_addr, wanted.broker_config_path)
    return Record(
        {"containerAddr": wanted.broker_container_addr, "configPath": wanted.broker_config_path}
    )


async def _remove(admin: Admin, wanted: Namespace) -> Record:
    cluster, name, broker_id = wanted.broker_identity
    container: str = wanted.broker_container_addr
    await admin.brokers.remove_from_container(container, cluster, name, broker_id)
    return Record(
        {
            "containerAddr": container,
            "clusterName": cluster,
            "brokerName": name,
            "brokerId": broker_id,
        }
    )


_CONTAINER: Final = option(
    "-c --brokerContainerAddr",
    "address of the container, host:port",
    type=host_and_port,
    required=True,
    metavar="ADDR",
)

COMMANDS: Final = (
    admin_command(
        "addBroker", "have a container start a broker", _add, _CONTAINER,
        option(
            "-b --brokerConfigPath", "the broker's configuration file, on the container's machine",
            required=True, metavar="PATH",
        ),
        group=_GROUP,
    ),
    admin_command(
        "removeBroker", "have a container stop a broker", _remove, _CONTAINER,
        option(
            "-b --brokerIdentity", "which broker", type=identity, required=True,
            metavar="CLUSTER:BROKER:ID",
        ),
        group=_GROUP,
    ),
)  # fmt: skip
