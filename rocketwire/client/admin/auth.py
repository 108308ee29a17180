"""Users and what they may do, on brokers that authenticate and authorise.

Rules of this file: brokers keep users and policies each for itself, so a cluster's masters are all
told; one of them is asked.

Java: ``DefaultMQAdminExtImpl``, ``org.apache.rocketmq.tools.command.auth``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.client.admin.fanout import Asking, of_each
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

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rocketwire.client.admin.clusters import Clusters
    from rocketwire.client.instance.instance import ClientInstance


class _Told(Asking):
    """Calls that go to one broker or to all masters of a cluster.

    ``broker`` and ``cluster`` are meant as in ``Topics``.
    """

    def __init__(self, client: ClientInstance, clusters: Clusters, within: float) -> None:
        """Nothing is sent yet."""
        super().__init__(client, within)
        self._clusters = clusters

    async def _tell(
        self,
        broker: str | None,
        cluster: str | None,
        code: Code,
        header: object,
        body: object | None = None,
    ) -> tuple[str, ...]:
        addresses = await self._clusters.targets(broker, cluster)
        await of_each(addresses, lambda address: self.ask(address, code, header, body))
        return addresses


class Users(_Told):
    """Calls about users; all of them raise what ``Asking.ask`` raises.

    The caller has to be a user of type ``Super``, or ``BrokerError`` 16 is raised.  Secrets travel
    as they are: use TLS.
    """

    async def create(
        self, user: UserInfo, *, broker: str | None = None, cluster: str | None = None
    ) -> tuple[str, ...]:
        """Create a user, or give one another password (code 3001; Java: ``createUser``).

        Returns the addresses.

        Args:
            user: with name and password; type ``Super`` or ``Normal``, the default.
            broker: address of one broker.
            cluster: in its place, all masters of a cluster.

        Raises:
            BrokerError: 1, name or password is missing, or the type is neither.
        """
        header = CreateUserRequestHeader(username=user.username)
        return await self._tell(broker, cluster, Code.AUTH_CREATE_USER, header, user)

    async def update(
        self, user: UserInfo, *, broker: str | None = None, cluster: str | None = None
    ) -> tuple[str, ...]:
        """Change what is set of ``user``: password, type, or status ``enable`` or ``disable`` (3002; Java: ``updateUser``).

        Raises:
            BrokerError: 1, there is no such user.
        """
        header = UpdateUserRequestHeader(username=user.username)
        return await self._tell(broker, cluster, Code.AUTH_UPDATE_USER, header, user)

    async def delete(
        self, username: str, *, broker: str | None = None, cluster: str | None = None
    ) -> tuple[str, ...]:
        """Delete a user with its policies (code 3003; Java: ``deleteUser``).

        One that is not there is no error.
        """
        header = DeleteUserRequestHeader(username=username)
        return await self._tell(broker, cluster, Code.AUTH_DELETE_USER, header)

    async def get(self, address: str, username: str) -> UserInfo | None:
        """A user as one broker has it, password included (code 3004; Java: ``getUser``).

        None where there is none.
        """
        found: UserInfo | None = await self.body_of(
            address, Code.AUTH_GET_USER, GetUserRequestHeader(username=username)
        )
        return found

    async def list(self, address: str, text: str | None = None) -> tuple[UserInfo, ...]:
        """Users of a broker whose names hold a text (code 3005; Java: ``listUser``)."""
        header = ListUsersRequestHeader(filter=text)
        return await self.body_of(address, Code.AUTH_LIST_USER, header) or ()

    async def copy(
        self, source: str, target: str, usernames: Iterable[str] = ()
    ) -> tuple[str, ...]:
        """Give one broker the users of another, passwords included.

        Returns their names (3004, 3005, 3001, 3002).

        Java: ``CopyUsersSubCommand``.

        Args:
            source: address of the broker that has them.
            target: address of the broker to have them.
            usernames: only these, where they exist; all where there are none.
        """
        named = tuple(usernames)
        found = [await self.get(source, name) for name in named] or await self.list(source)
        users = [user for user in found if user is not None]
        for user in users:
            known = await self.get(target, user.username or "") is not None
            await (self.update if known else self.create)(user, broker=target)
        return tuple(user.username or "" for user in users)


class Acls(_Told):
    """Calls about policies; all of them raise what ``Asking.ask`` raises.

    Subjects are ``User:name``; resources ``Topic:name``, ``Group:name``, ``Cluster:name`` or ``*``,
    a name may end with ``*``.
    """

    async def create(
        self, acl: AclInfo, *, broker: str | None = None, cluster: str | None = None
    ) -> tuple[str, ...]:
        """Add policies to a subject (code 3006; Java: ``createAcl``); returns the addresses.

        Raises:
            BrokerError: 1, there is no such subject, or a policy makes no sense.
        """
        header = CreateAclRequestHeader(subject=acl.subject)
        return await self._tell(broker, cluster, Code.AUTH_CREATE_ACL, header, acl)

    async def update(
        self, acl: AclInfo, *, broker: str | None = None, cluster: str | None = None
    ) -> tuple[str, ...]:
        """Change policies of a subject, resource by resource (code 3007; Java: ``updateAcl``).

        Returns the addresses.
        """
        header = UpdateAclRequestHeader(subject=acl.subject)
        return await self._tell(broker, cluster, Code.AUTH_UPDATE_ACL, header, acl)

    async def delete(
        self,
        subject: str,
        resource: str | None = None,
        *,
        broker: str | None = None,
        cluster: str | None = None,
    ) -> tuple[str, ...]:
        """Take a subject's policies, or those about one resource (code 3008; Java: ``deleteAcl``).

        Returns the addresses.
        """
        header = DeleteAclRequestHeader(subject=subject, resource=resource)
        return await self._tell(broker, cluster, Code.AUTH_DELETE_ACL, header)

    async def get(self, address: str, subject: str) -> AclInfo | None:
        """The policies of a subject (code 3009; Java: ``getAcl``); None where it has none."""
        found: AclInfo | None = await self.body_of(
            address, Code.AUTH_GET_ACL, GetAclRequestHeader(subject=subject)
        )
        return found

    async def list(
        self, address: str, subject: str | None = None, resource: str | None = None
    ) -> tuple[AclInfo, ...]:
        """The policies whose subjects and resources hold these texts (code 3010.

        Java: ``listAcl``).
        """
        header = ListAclsRequestHeader(subject_filter=subject, resource_filter=resource)
        return await self.body_of(address, Code.AUTH_LIST_ACL, header) or ()

    async def copy(self, source: str, target: str, subjects: Iterable[str] = ()) -> tuple[str, ...]:
        """Give one broker the policies of another; returns whose (3009, 3010, 3006, 3007).

        The subjects have to be there.  Java: ``CopyAclsSubCommand``.

        Args:
            source: address of the broker that has them.
            target: address of the broker to have them.
            subjects: only of these, where they have any; of all where there are none.
        """
        named = tuple(subjects)
        found = [await self.get(source, name) for name in named] or await self.list(source)
        acls = [acl for acl in found if acl is not None]
        for acl in acls:
            known = await self.get(target, acl.subject or "") is not None
            await (self.update if known else self.create)(acl, broker=target)
        return tuple(acl.subject or "" for acl in acls)


def acl_of(
    subject: str,
    resources: Sequence[str],
    actions: Sequence[str],
    decision: str,
    source_ips: Sequence[str] = (),
) -> AclInfo:
    """One policy for each resource, all alike (Java: ``AclInfo.of``).

    Args:
        subject: ``User:name``.
        resources: such as ``Topic:orders*``.
        actions: of ``Pub``, ``Sub``, ``Create``, ``Update``, ``Delete``, ``Get``, ``List``,
            ``All``.
        decision: ``Allow`` or ``Deny``.
        source_ips: addresses and networks that it holds for; all where there are none.

    Raises:
        LocalProtocolError: no resource, or no action.
    """
    if not resources or not actions:
        raise LocalProtocolError("a policy without resources or without actions")
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
