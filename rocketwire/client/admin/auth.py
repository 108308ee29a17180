"""Users and policies of brokers that authenticate and authorise.

Each broker has its own users and policies: changes go to all masters of a cluster, reads to one
broker.

Java: ``DefaultMQAdminExtImpl``, ``org.apache.rocketmq.tools.command.auth``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Final, TypeVar, Unpack

from rocketwire.client.admin.changes import Change, Target, change_each, delete_value, name_target
from rocketwire.client.admin.clusters import ClusterCalls
from rocketwire.client.admin.fanout import call_each
from rocketwire.codes import RequestCode as Code
from rocketwire.errors import LocalProtocolError
from rocketwire.messages.auth import (
    AclInfo,
    DeleteAclRequestHeader,
    DeleteUserRequestHeader,
    GetAclRequestHeader,
    GetUserRequestHeader,
    ListAclsRequestHeader,
    ListUsersRequestHeader,
    PolicyEntryInfo,
    PolicyInfo,
    UpdateAclRequestHeader,
    UpdateUserRequestHeader,
    UserInfo,
)

Frozen = TypeVar("Frozen", UserInfo, PolicyEntryInfo)

_CUSTOM: Final = "Custom"  # type of the policies that requests change (Java: ``PolicyType``)


class Users(ClusterCalls):
    """Requests for users.

    The caller must be a user of type ``Super``, otherwise ``BrokerError`` 16 is raised. Passwords
    are sent unencrypted: use TLS. Changes return the user of each broker before and after.
    """

    @name_target
    async def create(self, user: UserInfo, **target: Unpack[Target]) -> list[Change[UserInfo]]:
        """Create a user with name and password (codes 3004, 3001; Java: ``createUser``).

        Its type is ``Super`` or ``Normal``, the default.

        Raises:
            BrokerError: 1, name or password is missing, or the type is invalid; 16, it exists.
        """
        return await self._put((user,), Code.AUTH_CREATE_USER, **target)

    @name_target
    async def update(self, user: UserInfo, **target: Unpack[Target]) -> list[Change[UserInfo]]:
        """Change password, type or status (``enable``, ``disable``) of a user (codes 3004, 3002).

        None keeps a value. Java: ``updateUser``.

        Raises:
            BrokerError: 1, the user does not exist.
        """
        return await self._put((user,), Code.AUTH_UPDATE_USER, **target)

    async def _put(
        self, users: Iterable[UserInfo], code: Code | None = None, **target: Unpack[Target]
    ) -> list[Change[UserInfo]]:
        # create or change users; without code those that exist are changed
        by_name = {user.username or "": user for user in users}

        async def write(address: str, changes: Sequence[Change[UserInfo]]) -> None:
            for _, name, before, _ in changes:
                create = code is None and before is None
                code_sent = code or (Code.AUTH_CREATE_USER if create else Code.AUTH_UPDATE_USER)
                header = UpdateUserRequestHeader(username=name)
                await self.ask(address, code_sent, header, by_name[name])

        edits = {name: partial(keep_absent, user) for name, user in by_name.items()}
        return await self._change_each(partial(self._find, by_name), edits, write, **target)

    async def _find(self, names: Iterable[str], address: str) -> dict[str, UserInfo]:
        found = {name: await self.get(address, name) for name in names}
        return {name: user for name, user in found.items() if user is not None}

    @name_target
    async def delete(self, username: str, **target: Unpack[Target]) -> list[Change[UserInfo]]:
        """Delete a user with its policies (codes 3004, 3003; Java: ``deleteUser``).

        It is not an error if the user does not exist.
        """
        header = DeleteUserRequestHeader(username=username)
        return await self._change_each(
            partial(self._find, (username,)),
            {username: delete_value},
            lambda address, _: self.ask(address, Code.AUTH_DELETE_USER, header),
            **target,
        )

    async def get(self, address: str, username: str) -> UserInfo | None:
        """Fetch a user of a broker, with password, or None (code 3004; Java: ``getUser``)."""
        header = GetUserRequestHeader(username=username)
        return await self.body_of(address, Code.AUTH_GET_USER, header) or None

    async def copy(
        self, source: str, target: str, usernames: Iterable[str] = (), *, dry_run: bool = False
    ) -> list[Change[UserInfo]]:
        """Copy users, by default all, with passwords between brokers (3004, 3005, 3001, 3002).

        ``source`` and ``target`` are addresses. Java: ``CopyUsersSubCommand``.
        """
        named = tuple(usernames)
        users = [await self.get(source, name) for name in named] or await self.list(source)
        found = (user for user in users if user)
        return await self._put(found, broker=target, dry_run=dry_run)

    async def list(self, address: str, text: str | None = None) -> tuple[UserInfo, ...]:
        """Fetch a broker's users whose names contain a text (code 3005; Java: ``listUser``)."""
        header = ListUsersRequestHeader(filter=text)
        return await self.body_of(address, Code.AUTH_LIST_USER, header) or ()


class Acls(ClusterCalls):
    """Requests for policies.

    Subjects are ``User:name``; resources ``Topic:name``, ``Group:name``, ``Cluster:name`` or ``*``,
    and a name may end with ``*``. Changes return the policy of each broker and resource before and
    after.
    """

    @name_target
    async def create(self, acl: AclInfo, **target: Unpack[Target]) -> list[Change[PolicyEntryInfo]]:
        """Add policies to a subject (codes 3009, 3006; Java: ``createAcl``).

        A policy that it has for the same resource is changed as by ``update``.

        Raises:
            BrokerError: 16, the subject does not exist; 1, a policy is invalid.
        """
        return await self._put(acl, Code.AUTH_CREATE_ACL, **target)

    @name_target
    async def update(self, acl: AclInfo, **target: Unpack[Target]) -> list[Change[PolicyEntryInfo]]:
        """Change the policies of a subject by resource (codes 3009, 3007; Java: ``updateAcl``).

        None keeps actions, decision or addresses that the subject has for the resource; Java's
        mqadmin removes the addresses.
        """
        return await self._put(acl, Code.AUTH_UPDATE_ACL, **target)

    async def _put(
        self, acl: AclInfo, code: Code, **target: Unpack[Target]
    ) -> list[Change[PolicyEntryInfo]]:
        subject = acl.subject or ""

        async def write(address: str, changes: Sequence[Change[PolicyEntryInfo]]) -> None:
            entries = tuple(each.after for each in changes if each.after is not None)
            body = AclInfo(subject=subject, policies=(PolicyInfo(entries=entries),))
            await self.ask(address, code, UpdateAclRequestHeader(subject=subject), body)

        return await self._change_each(
            lambda address: self._entries(address, subject),
            {
                entry.resource or "": partial(keep_absent, entry)
                for policy in acl.policies or ()
                for entry in policy.entries or ()
            },
            write,
            **target,
        )

    async def _entries(self, address: str, subject: str) -> dict[str, PolicyEntryInfo]:
        acl = await self.get(address, subject)
        return {
            entry.resource or "": entry
            for policy in (acl.policies if acl else None) or ()
            if policy.policy_type in (None, _CUSTOM)
            for entry in policy.entries or ()
        }

    @name_target
    async def delete(
        self, subject: str, resource: str | None = None, **target: Unpack[Target]
    ) -> list[Change[PolicyEntryInfo]]:
        """Delete the policies of a subject, or those for one resource (codes 3009, 3008).

        Java: ``deleteAcl``.
        """
        header = DeleteAclRequestHeader(subject=subject, resource=resource)
        addresses = await self._clusters.targets(target.get("broker"), target.get("cluster"))
        present = await call_each(addresses, lambda address: self._entries(address, subject))
        names = {name for entries in present.values() for name in entries}
        return await change_each(
            addresses,
            lambda address: self._entries(address, subject),
            dict.fromkeys(sorted(names) if resource is None else (resource,), delete_value),
            lambda address, _: self.ask(address, Code.AUTH_DELETE_ACL, header),
            dry_run=target.get("dry_run", False),
        )

    async def get(self, address: str, subject: str) -> AclInfo | None:
        """Fetch the policies of a subject (code 3009; Java: ``getAcl``); None if it has none."""
        header = GetAclRequestHeader(subject=subject)
        return await self.body_of(address, Code.AUTH_GET_ACL, header) or None

    async def copy(
        self, source: str, target: str, subjects: Iterable[str] = (), *, dry_run: bool = False
    ) -> dict[str, list[Change[PolicyEntryInfo]]]:
        """Copy policies, by default all, from a broker to another (3009, 3010, 3006), by subject.

        The subjects must exist. Java: ``CopyAclsSubCommand``.
        """
        named = tuple(subjects)
        acls = [await self.get(source, name) for name in named] or await self.list(source)
        return {
            acl.subject or "": await self.create(acl, broker=target, dry_run=dry_run)
            for acl in acls
            if acl is not None
        }

    async def list(
        self, address: str, subject: str | None = None, resource: str | None = None
    ) -> tuple[AclInfo, ...]:
        """Fetch the policies whose subjects and resources contain texts (code 3010).

        Java: ``listAcl``.
        """
        header = ListAclsRequestHeader(subject_filter=subject, resource_filter=resource)
        return await self.body_of(address, Code.AUTH_LIST_ACL, header) or ()


def keep_absent(given: Frozen, present: Frozen | None) -> Frozen:
    if present is None:
        return given
    values = {each.name: getattr(given, each.name) for each in fields(given)}
    return replace(present, **{name: value for name, value in values.items() if value is not None})


def acl_of(
    subject: str,
    resources: Sequence[str],
    actions: Sequence[str] | None,
    decision: str | None,
    source_ips: Sequence[str] | None = None,
) -> AclInfo:
    """Create the same policy for several resources (Java: ``AclInfo.of``).

    Args:
        subject: ``User:name``.
        resources: for example ``Topic:orders*``.
        actions: of ``Pub``, ``Sub``, ``Create``, ``Update``, ``Delete``, ``Get``, ``List``,
            ``All``; None keeps those of a policy that is changed.
        decision: ``Allow`` or ``Deny``; None as above.
        source_ips: addresses and networks of the policy; empty for all; None as above.

    Raises:
        LocalProtocolError: ``resources`` or ``actions`` is empty.
    """
    if not resources or (actions is not None and not actions):
        raise LocalProtocolError("a policy needs at least one resource and one action")
    entries = tuple(
        PolicyEntryInfo(
            resource=resource,
            actions=None if actions is None else tuple(actions),
            decision=decision,
            source_ips=None if source_ips is None else tuple(source_ips),
        )
        for resource in resources
    )
    return AclInfo(subject=subject, policies=(PolicyInfo(entries=entries),))
