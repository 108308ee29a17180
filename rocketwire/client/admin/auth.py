"""Users and policies of brokers that authenticate and authorise.

Each broker has its own users and policies: changes go to all masters of a cluster, reads to one
broker.

Java: ``DefaultMQAdminExtImpl``, ``org.apache.rocketmq.tools.command.auth``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rocketwire.client.admin.clusters import ClusterCalls
from rocketwire.codes import RequestCode as Code
from rocketwire.errors import LocalProtocolError
from rocketwire.messages.auth import (
    AclInfo,
    CreateAclRequestHeader,
    CreateUserRequestHeader,
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


class Users(ClusterCalls):
    """Requests for users; for errors see ``AdminCalls.ask``.

    The caller must be a user of type ``Super``, otherwise ``BrokerError`` 16 is raised. Passwords
    are sent unencrypted: use TLS.
    """

    async def create(
        self, user: UserInfo, *, broker: str | None = None, cluster: str | None = None
    ) -> tuple[str, ...]:
        """Create a user, or change its password (code 3001; Java: ``createUser``).

        Returns the addresses.

        Args:
            user: with name and password; type ``Super`` or ``Normal``, the default.
            cluster: instead, all masters of this cluster.

        Raises:
            BrokerError: 1, name or password is missing, or the type is invalid.
        """
        header = CreateUserRequestHeader(username=user.username)
        return await self.change(broker, cluster, Code.AUTH_CREATE_USER, header, user)

    async def update(
        self, user: UserInfo, *, broker: str | None = None, cluster: str | None = None
    ) -> tuple[str, ...]:
        """Change password, type or status (``enable``, ``disable``) of a user (code 3002).

        Java: ``updateUser``.

        Raises:
            BrokerError: 1, the user does not exist.
        """
        header = UpdateUserRequestHeader(username=user.username)
        return await self.change(broker, cluster, Code.AUTH_UPDATE_USER, header, user)

    async def delete(
        self, username: str, *, broker: str | None = None, cluster: str | None = None
    ) -> tuple[str, ...]:
        """Delete a user with its policies (code 3003; Java: ``deleteUser``).

        It is not an error if the user does not exist.
        """
        header = DeleteUserRequestHeader(username=username)
        return await self.change(broker, cluster, Code.AUTH_DELETE_USER, header)

    async def get(self, address: str, username: str) -> UserInfo | None:
        """Fetch a user of a broker, with password (code 3004; Java: ``getUser``).

        None if there is none.
        """
        header = GetUserRequestHeader(username=username)
        return await self.body_of(address, Code.AUTH_GET_USER, header) or None

    async def list(self, address: str, text: str | None = None) -> tuple[UserInfo, ...]:
        """Fetch the users of a broker whose names contain a text (code 3005).

        Java: ``listUser``.
        """
        header = ListUsersRequestHeader(filter=text)
        return await self.body_of(address, Code.AUTH_LIST_USER, header) or ()

    async def copy(
        self, source: str, target: str, usernames: Iterable[str] = ()
    ) -> tuple[str, ...]:
        """Copy users from one broker to another, with passwords.

        Returns their names (3004, 3005, 3001, 3002). Java: ``CopyUsersSubCommand``.

        Args:
            source: address of the broker to copy from.
            target: address of the broker to copy to.
            usernames: users to copy, if they exist; empty for all.
        """
        named = tuple(usernames)
        source_users = [await self.get(source, name) for name in named] or await self.list(source)
        users = [user for user in source_users if user is not None]
        for user in users:
            exists = await self.get(target, user.username or "") is not None
            await (self.update if exists else self.create)(user, broker=target)
        return tuple(user.username or "" for user in users)


class Acls(ClusterCalls):
    """Requests for policies; for errors see ``AdminCalls.ask``.

    Subjects are ``User:name``; resources ``Topic:name``, ``Group:name``, ``Cluster:name`` or ``*``,
    and a name may end with ``*``.
    """

    async def create(
        self, acl: AclInfo, *, broker: str | None = None, cluster: str | None = None
    ) -> tuple[str, ...]:
        """Add policies to a subject (code 3006; Java: ``createAcl``); returns the addresses.

        Raises:
            BrokerError: 1, the subject does not exist, or a policy is invalid.
        """
        header = CreateAclRequestHeader(subject=acl.subject)
        return await self.change(broker, cluster, Code.AUTH_CREATE_ACL, header, acl)

    async def update(
        self, acl: AclInfo, *, broker: str | None = None, cluster: str | None = None
    ) -> tuple[str, ...]:
        """Update the policies of a subject by resource (code 3007; Java: ``updateAcl``).

        Returns the addresses.
        """
        header = UpdateAclRequestHeader(subject=acl.subject)
        return await self.change(broker, cluster, Code.AUTH_UPDATE_ACL, header, acl)

    async def delete(
        self,
        subject: str,
        resource: str | None = None,
        *,
        broker: str | None = None,
        cluster: str | None = None,
    ) -> tuple[str, ...]:
        """Delete the policies of a subject, or those for one resource (code 3008).

        Returns the addresses. Java: ``deleteAcl``.
        """
        header = DeleteAclRequestHeader(subject=subject, resource=resource)
        return await self.change(broker, cluster, Code.AUTH_DELETE_ACL, header)

    async def get(self, address: str, subject: str) -> AclInfo | None:
        """Fetch the policies of a subject (code 3009; Java: ``getAcl``); None if it has none."""
        header = GetAclRequestHeader(subject=subject)
        return await self.body_of(address, Code.AUTH_GET_ACL, header) or None

    async def list(
        self, address: str, subject: str | None = None, resource: str | None = None
    ) -> tuple[AclInfo, ...]:
        """Fetch the policies whose subjects and resources contain texts (code 3010).

        Java: ``listAcl``.
        """
        header = ListAclsRequestHeader(subject_filter=subject, resource_filter=resource)
        return await self.body_of(address, Code.AUTH_LIST_ACL, header) or ()

    async def copy(self, source: str, target: str, subjects: Iterable[str] = ()) -> tuple[str, ...]:
        """Copy policies from one broker to another; returns the subjects (3009, 3010, 3006, 3007).

        The subjects must exist. Java: ``CopyAclsSubCommand``.

        Args:
            source: address of the broker to copy from.
            target: address of the broker to copy to.
            subjects: subjects to copy, if they have policies; empty for all.
        """
        named = tuple(subjects)
        source_acls = [await self.get(source, name) for name in named] or await self.list(source)
        acls = [acl for acl in source_acls if acl is not None]
        for acl in acls:
            exists = await self.get(target, acl.subject or "") is not None
            await (self.update if exists else self.create)(acl, broker=target)
        return tuple(acl.subject or "" for acl in acls)


def acl_of(
    subject: str,
    resources: Sequence[str],
    actions: Sequence[str],
    decision: str,
    source_ips: Sequence[str] = (),
) -> AclInfo:
    """Create the same policy for several resources (Java: ``AclInfo.of``).

    Args:
        subject: ``User:name``.
        resources: for example ``Topic:orders*``.
        actions: of ``Pub``, ``Sub``, ``Create``, ``Update``, ``Delete``, ``Get``, ``List``,
            ``All``.
        decision: ``Allow`` or ``Deny``.
        source_ips: addresses and networks of the policy; empty for all.

    Raises:
        LocalProtocolError: ``resources`` or ``actions`` is empty.
    """
    if not resources or not actions:
        raise LocalProtocolError("a policy needs at least one resource and one action")
    entries = tuple(
        PolicyEntryInfo(
            resource=resource,
            actions=tuple(actions),
            decision=decision,
            source_ips=tuple(source_ips) or None,
        )
        for resource in resources
    )
    return AclInfo(subject=subject, policies=(PolicyInfo(entries=entries),))
