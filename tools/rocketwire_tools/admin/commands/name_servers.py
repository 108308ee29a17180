"""Name servers: ``getNamesrvConfig``, ``updateKvConfig``, ``wipeWritePerm`` and their kin; every one of them is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire_tools.admin.cli.mqadmin_options import admin_command, option
from rocketwire_tools.admin.command import Column, Kind, Record, Table

if TYPE_CHECKING:
    from argparse import Namespace

    from rocketwire.client.admin import Admin

_GROUP: Final = "name servers"


async def _config(admin: Admin, wanted: Namespace) -> Table:
    del wanted
    rows = [
        (address, key, value)
        for address, table in (await admin.name_servers.configs()).items()
        for key, value in sorted(table.items())
    ]
    return Table(("namesrvAddr", "key", "value"), rows)


async def _update_config(admin: Admin, wanted: Namespace) -> Record:
    await admin.name_servers.update_configs({wanted.key: wanted.value})
    return Record({"key": wanted.key, "value": wanted.value})


async def _put(admin: Admin, wanted: Namespace) -> Record:
    await admin.name_servers.put_kv(wanted.namespace, wanted.key, wanted.value)
    return Record({"namespace": wanted.namespace, "key": wanted.key, "value": wanted.value})


async def _delete(admin: Admin, wanted: Namespace) -> Record:
    await admin.name_servers.delete_kv(wanted.namespace, wanted.key)
    return Record({"namespace": wanted.namespace, "key": wanted.key, "value": None})


async def _wipe(admin: Admin, wanted: Namespace) -> Table:
    found = await admin.name_servers.wipe_write_perm(wanted.broker_name)
    return Table(("namesrvAddr", Column("wipeTopicCount", Kind.NUMBER)), list(found.items()))


async def _add(admin: Admin, wanted: Namespace) -> Table:
    found = await admin.name_servers.add_write_perm(wanted.broker_name)
    return Table(("namesrvAddr", Column("addTopicCount", Kind.NUMBER)), list(found.items()))


_NAMESPACE: Final = option("-s --namespace", "where it is kept", required=True)
_KEY: Final = option("-k --key", "its name", required=True)
_VALUE: Final = option("-v --value", "its value", required=True)
_BROKER_NAME: Final = option("-b --brokerName", "name of the broker group", required=True)

COMMANDS: Final = (
    admin_command("getNamesrvConfig", "tell the configuration of name servers", _config, group=_GROUP),
    admin_command(
        "updateNamesrvConfig", "change the configuration of name servers", _update_config, _KEY, _VALUE, group=_GROUP
    ),
    admin_command("updateKvConfig", "store a value", _put, _NAMESPACE, _KEY, _VALUE, group=_GROUP),
    admin_command("deleteKvConfig", "remove a value", _delete, _NAMESPACE, _KEY, group=_GROUP),
    admin_command("wipeWritePerm", "have nobody send to a broker any more: its topics lose their permission to be written", _wipe, _BROKER_NAME, group=_GROUP),
    admin_command("addWritePerm", "let everybody send to a broker again", _add, _BROKER_NAME, group=_GROUP),
)  # fmt: skip
