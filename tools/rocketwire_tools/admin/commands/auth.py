"""Users and policies: ``createUser``, ``listAcl`` and their kin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.client.admin import acl_of
from rocketwire.client.admin.fanout import read_from_each
from rocketwire.messages.auth import UserInfo
from rocketwire_tools.admin.cli.arguments import host_and_port
from rocketwire_tools.admin.cli.mqadmin_options import (
    BROKER,
    CLUSTER,
    ONE_OF,
    addresses,
    admin_command,
    option,
    words,
)
from rocketwire_tools.admin.command import Table, UsageError, Value

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable

    from rocketwire.client.admin import Admin
    from rocketwire.messages.auth import AclInfo

_GROUP: Final = "users and policies"


def _told(what: str, name: str, done: Iterable[str]) -> Table:
    return Table((what, "brokerAddr"), [(name, address) for address in done])


async def _create_user(admin: Admin, wanted: Namespace) -> Table:
    user = UserInfo(username=wanted.username, password=wanted.password, user_type=wanted.user_type)
    done = await admin.users.create(user, broker=wanted.broker_addr, cluster=wanted.cluster_name)
    return _told("username", wanted.username, done)


async def _update_user(admin: Admin, wanted: Namespace) -> Table:
    if not (wanted.password or wanted.user_type or wanted.user_status):
        raise UsageError("one of --password, --user-type, --user-status is needed")
    user = UserInfo(
        username=wanted.username,
        password=wanted.password,
        user_type=wanted.user_type,
        user_status=wanted.user_status,
    )
    done = await admin.users.update(user, broker=wanted.broker_addr, cluster=wanted.cluster_name)
    return _told("username", wanted.username, done)


async def _delete_user(admin: Admin, wanted: Namespace) -> Table:
    done = await admin.users.delete(
        wanted.username, broker=wanted.broker_addr, cluster=wanted.cluster_name
    )
    return _told("username", wanted.username, done)


def _users(each: dict[str, tuple[UserInfo, ...]]) -> Table:
    """Users without their passwords, which brokers tell too."""
    rows = [
        (address, one.username, one.user_type, one.user_status)
        for address, users in each.items()
        for one in users
    ]
    return Table(("brokerAddr", "username", "userType", "userStatus"), rows)


async def _list_users(admin: Admin, wanted: Namespace) -> Table:
    targets = await addresses(admin, wanted)
    return _users(await read_from_each(targets, lambda one: admin.users.list(one, wanted.filter)))


async def _get_user(admin: Admin, wanted: Namespace) -> Table:
    targets = await addresses(admin, wanted)
    each = await read_from_each(targets, lambda one: admin.users.get(one, wanted.username))
    table = _users({address: (user,) for address, user in each.items() if user is not None})
    return Table(table.columns, table.rows, failed=not table.rows)


async def _create_acl(admin: Admin, wanted: Namespace) -> Table:
    done = await admin.acls.create(
        _acl(wanted), broker=wanted.broker_addr, cluster=wanted.cluster_name
    )
    return _told("subject", wanted.subject, done)


async def _update_acl(admin: Admin, wanted: Namespace) -> Table:
    done = await admin.acls.update(
        _acl(wanted), broker=wanted.broker_addr, cluster=wanted.cluster_name
    )
    return _told("subject", wanted.subject, done)


def _acl(wanted: Namespace) -> AclInfo:
    return acl_of(
        wanted.subject, wanted.resources, wanted.actions, wanted.decision, wanted.source_ip
    )


async def _delete_acl(admin: Admin, wanted: Namespace) -> Table:
    done: tuple[str, ...] = ()
    for resource in wanted.resources or (None,):
        done = await admin.acls.delete(
            wanted.subject, resource, broker=wanted.broker_addr, cluster=wanted.cluster_name
        )
    return _told("subject", wanted.subject, done)


async def _copy_users(admin: Admin, wanted: Namespace) -> Table:
    done = await admin.users.copy(wanted.from_broker, wanted.to_broker, wanted.usernames)
    return Table(("username", "brokerAddr"), [(name, wanted.to_broker) for name in done])


async def _copy_acls(admin: Admin, wanted: Namespace) -> Table:
    done = await admin.acls.copy(wanted.from_broker, wanted.to_broker, wanted.subjects)
    return Table(("subject", "brokerAddr"), [(subject, wanted.to_broker) for subject in done])


def _policies(each: dict[str, tuple[AclInfo, ...]]) -> Table:
    rows: list[tuple[Value, ...]] = [
        (
            address, acl.subject, policy.policy_type, entry.resource, ",".join(entry.actions or ()),
            ",".join(entry.source_ips or ()), entry.decision,
        )
        for address, acls in each.items()
        for acl in acls
        for policy in acl.policies or ()
        for entry in policy.entries or ()
    ]  # fmt: skip
    columns = ("brokerAddr", "subject", "policyType", "resource", "actions", "sourceIp", "decision")
    return Table(columns, rows)


async def _list_acls(admin: Admin, wanted: Namespace) -> Table:
    targets = await addresses(admin, wanted)
    each = await read_from_each(
        targets, lambda one: admin.acls.list(one, wanted.subject, wanted.resource)
    )
    return _policies(each)


async def _get_acl(admin: Admin, wanted: Namespace) -> Table:
    targets = await addresses(admin, wanted)
    each = await read_from_each(targets, lambda one: admin.acls.get(one, wanted.subject))
    table = _policies({address: (acl,) for address, acl in each.items() if acl is not None})
    return Table(table.columns, table.rows, failed=not table.rows)


_USERNAME: Final = option("-u --username", "name of the user", required=True)
_TYPE: Final = option("-t --userType", "what kind of user", choices=("Super", "Normal"))
_SUBJECT: Final = option("-s --subject", "who, as User:name", required=True)
_POLICY: Final = (
    _SUBJECT,
    option("-r --resources", "such as Topic:orders*,Group:*", type=words, required=True),
    option(
        "-a --actions", "of Pub,Sub,Create,Update,Delete,Get,List,All", type=words, required=True
    ),
    option("-d --decision", "may it, or not", choices=("Allow", "Deny"), required=True),
    option("-i --sourceIp", "addresses and networks it holds for", type=words, default=()),
)

_FROM_TO: Final = (
    option(
        "-f --fromBroker",
        "address of the broker that has them",
        type=host_and_port,
        required=True,
        metavar="ADDR",
    ),
    option(
        "-t --toBroker",
        "address of the broker to have them",
        type=host_and_port,
        required=True,
        metavar="ADDR",
    ),
)

COMMANDS: Final = (
    admin_command(
        "createUser", "create a user", _create_user, BROKER, CLUSTER, _USERNAME,
        option("-p --password", "its password", required=True), _TYPE, group=_GROUP, one_of=ONE_OF,
    ),
    admin_command(
        "updateUser", "change password, type or status of a user", _update_user, BROKER, CLUSTER, _USERNAME,
        option("-p --password", "a new password"), _TYPE,
        option("-s --userStatus", "whether it may connect", choices=("enable", "disable")),
        group=_GROUP, one_of=ONE_OF,
    ),
    admin_command(
        "deleteUser", "delete a user", _delete_user, BROKER, CLUSTER, _USERNAME, group=_GROUP, one_of=ONE_OF
    ),
    admin_command(
        "getUser", "tell of a user", _get_user, BROKER, CLUSTER, _USERNAME, group=_GROUP, collects=True, one_of=ONE_OF
    ),
    admin_command(
        "listUser", "list users", _list_users, BROKER, CLUSTER,
        option("-f --filter", "only names with this text"), group=_GROUP, collects=True, one_of=ONE_OF,
    ),
    admin_command(
        "copyUser", "give one broker the users of another", _copy_users, *_FROM_TO,
        option("-u --usernames", "only these; all otherwise", type=words, default=()), group=_GROUP,
    ),
    admin_command(
        "copyAcl", "give one broker the policies of another", _copy_acls, *_FROM_TO,
        option("-s --subjects", "only of these; of all otherwise", type=words, default=()), group=_GROUP,
    ),
    admin_command(
        "createAcl", "give a user policies", _create_acl, BROKER, CLUSTER, *_POLICY, group=_GROUP, one_of=ONE_OF
    ),
    admin_command(
        "updateAcl", "change policies of a user", _update_acl, BROKER, CLUSTER, *_POLICY, group=_GROUP, one_of=ONE_OF
    ),
    admin_command(
        "deleteAcl", "take policies from a user", _delete_acl, BROKER, CLUSTER, _SUBJECT,
        option("-r --resources", "only those about these resources", type=words, default=()),
        group=_GROUP, one_of=ONE_OF,
    ),
    admin_command(
        "getAcl", "tell the policies of a user", _get_acl, BROKER, CLUSTER, _SUBJECT, group=_GROUP, collects=True, one_of=ONE_OF
    ),
    admin_command(
        "listAcl", "list policies", _list_acls, BROKER, CLUSTER,
        option("-s --subject", "only of users with this text"),
        option("-r --resource", "only about resources with this text"), group=_GROUP, collects=True, one_of=ONE_OF,
    ),
)  # fmt: skip
