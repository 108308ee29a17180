"""Users and policies: ``createUser``, ``listAcl``, etc."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.client.admin import Admin, acl_of
from rocketwire.client.admin.fanout import read_from_each
from rocketwire.messages.auth import AclInfo, UserInfo
from rocketwire_tools.admin import mqadmin_options as mq
from rocketwire_tools.cli.command import NotFoundError, Option, Table, UsageError, Value

if TYPE_CHECKING:
    from argparse import Namespace

    from rocketwire.client.admin.changes import Change
    from rocketwire.messages.auth import PolicyEntryInfo


async def _create_user(admin: Admin, args: Namespace) -> list[Change[UserInfo]]:
    user = UserInfo(username=args.username, password=args.password, user_type=args.user_type)
    return await admin.users.create(user, **mq.target(args))


def _no_user(args: Namespace) -> NotFoundError:
    return NotFoundError(f"no broker has a user {args.username}")


async def _update_user(admin: Admin, args: Namespace) -> list[Change[UserInfo]]:
    values = mq.select_given(args, "password", "user_type", "user_status")
    if not values:
        raise UsageError("--password, --user-type or --user-status is required")
    return await admin.users.update(UserInfo(username=args.username, **values), **mq.target(args))


def _user_table(users_by_broker: dict[str, tuple[UserInfo, ...]], searched: str) -> Table:
    rows = [
        (address, user.username, user.user_type, user.user_status)
        for address, users in users_by_broker.items()
        for user in users
    ]
    return Table("brokerAddr username userType userStatus", rows, searched=searched)


async def _list_users(admin: Admin, args: Namespace) -> Table:
    targets = await mq.addresses(admin, args)
    users = await read_from_each(targets, lambda broker: admin.users.list(broker, args.filter))
    return _user_table(users, f"no user{f' like {args.filter}' if args.filter else ''}")


async def _get_user(admin: Admin, args: Namespace) -> Table:
    targets = await mq.addresses(admin, args)
    by_broker = await read_from_each(targets, lambda broker: admin.users.get(broker, args.username))
    return _user_table(
        {address: (user,) for address, user in by_broker.items() if user is not None},
        f"no user {args.username}",
    )


def _acl_from(args: Namespace) -> AclInfo:
    return acl_of(args.subject, args.resources, args.actions, args.decision, args.source_ip)


async def _delete_acl(admin: Admin, args: Namespace) -> list[Change[PolicyEntryInfo]]:
    return [
        change
        for resource in args.resources or (None,)
        for change in await admin.acls.delete(args.subject, resource, **mq.target(args))
    ]


def _no_policy(args: Namespace) -> NotFoundError:
    resources = ", ".join(args.resources) or "any resource"
    return NotFoundError(f"{args.subject} has no policy for {resources}")


async def _copy_acls(admin: Admin, args: Namespace) -> list[Change[PolicyEntryInfo]]:
    by_subject = await admin.acls.copy(
        args.from_broker, args.to_broker, args.subjects, dry_run=args.dry_run
    )
    return [
        change._replace(name=f"{subject} {change.name}")
        for subject, of_subject in by_subject.items()
        for change in of_subject
    ]


def _policy_table(acls_by_broker: dict[str, tuple[AclInfo, ...]], searched: str) -> Table:
    rows: list[tuple[Value, ...]] = [
        (
            address, acl.subject, policy.policy_type, entry.resource, ",".join(entry.actions or ()),
            ",".join(entry.source_ips or ()), entry.decision,
        )
        for address, acls in acls_by_broker.items()
        for acl in acls
        for policy in acl.policies or ()
        for entry in policy.entries or ()
    ]  # fmt: skip
    headings = "brokerAddr subject policyType resource actions sourceIp decision"
    return Table(headings, rows, searched=searched)


async def _list_acls(admin: Admin, args: Namespace) -> Table:
    targets = await mq.addresses(admin, args)
    by_broker = await read_from_each(
        targets, lambda broker: admin.acls.list(broker, args.subject, args.resource)
    )
    criteria = "".join(f" like {text}" for text in (args.subject, args.resource) if text)
    return _policy_table(by_broker, f"no policy{criteria}")


async def _get_acl(admin: Admin, args: Namespace) -> Table:
    targets = await mq.addresses(admin, args)
    by_broker = await read_from_each(targets, lambda broker: admin.acls.get(broker, args.subject))
    return _policy_table(
        {address: (acl,) for address, acl in by_broker.items() if acl is not None},
        f"{args.subject} has no policy",
    )


_OF_USERS: Final = "brokerAddr username setting"
_OF_POLICIES: Final = "brokerAddr resource setting"
_USERNAME: Final = mq.option("-u --username", "name of the user", required=True)
_TYPE: Final = mq.option(
    "-t --userType", "type of the user; Super needs no policies", choices=("Super", "Normal")
)
_SUBJECT: Final = mq.option("-s --subject", "the user, such as User:name", required=True)
_RESOURCES: Final = mq.option(
    "-r --resources", "resources, such as Topic:orders*,Group:*", type=mq.words, required=True
)
_SOURCES: Final = mq.option(
    "-i --sourceIp", "client addresses and networks to which it applies", type=mq.words
)


def _policy(*, required: bool) -> tuple[Option, ...]:
    return (
        _SUBJECT,
        _RESOURCES,
        mq.option("-a --actions", "some of Pub,Sub,Create,Update,Delete,Get,List,All",
            type=mq.words, required=required),
        mq.option("-d --decision", "whether to allow or deny", choices=("Allow", "Deny"),
            required=required),
        _SOURCES,
    )  # fmt: skip


_FROM_TO: Final = (
    mq.broker_address("-f --fromBroker", "address of the source broker"),
    mq.broker_address("-t --toBroker", "address of the target broker"),
)

COMMANDS: Final = mq.group_commands(
    "users and policies",
    mq.broker_change("createUser", "create a user", _OF_USERS, _create_user, _USERNAME,
        mq.option("-p --password", "password", required=True), _TYPE),
    mq.broker_change("updateUser", "change password, type or status of a user", _OF_USERS,
        _update_user, _USERNAME, mq.option("-p --password", "new password"), _TYPE,
        mq.option("-s --userStatus", "whether the user may connect",
            choices=("enable", "disable"))),
    mq.broker_change("deleteUser", "delete a user", _OF_USERS,
        lambda admin, args: admin.users.delete(args.username, **mq.target(args)), _USERNAME,
        missing=_no_user),
    mq.broker_command("getUser", "show a user", _get_user, _USERNAME, collects=True),
    mq.broker_command("listUser", "list users", _list_users,
        mq.option("-f --filter", "only names that contain this text"), collects=True),
    mq.change_command("copyUser", "copy users from one broker to another", _OF_USERS,
        lambda admin, args: admin.users.copy(
            args.from_broker, args.to_broker, args.usernames, dry_run=args.dry_run), *_FROM_TO,
        mq.option("-u --usernames", "only these users (default all)", type=mq.words, default=())),
    mq.change_command("copyAcl", "copy policies from one broker to another", _OF_POLICIES,
        _copy_acls, *_FROM_TO,
        mq.option("-s --subjects", "only of these users (default all)", type=mq.words, default=())),
    mq.broker_change("createAcl", "add policies of a user", _OF_POLICIES,
        lambda admin, args: admin.acls.create(_acl_from(args), **mq.target(args)),
        *_policy(required=True)),
    mq.broker_change("updateAcl", "change policies of a user", _OF_POLICIES,
        lambda admin, args: admin.acls.update(_acl_from(args), **mq.target(args)),
        *_policy(required=False), epilog="What is not given stays as it is, by resource."),
    mq.broker_change("deleteAcl", "delete policies of a user", _OF_POLICIES, _delete_acl, _SUBJECT,
        mq.option("-r --resources", "only for these resources", type=mq.words, default=()),
        missing=_no_policy),
    mq.broker_command("getAcl", "show the policies of a user", _get_acl, _SUBJECT, collects=True),
    mq.broker_command("listAcl", "list policies", _list_acls,
        mq.option("-s --subject", "only of users whose name contains this text"),
        mq.option("-r --resource", "only for resources that contain this text"), collects=True),
)  # fmt: skip
