"""Users and access control lists."""

from __future__ import annotations

from typing import ClassVar

from rocketwire.messages._codec.fields import STRING, ext, listing, member, record
from rocketwire.wire.values.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class UserInfo:
    """A user."""

    password: str | None = member(STRING)
    user_status: str | None = member(STRING)
    user_type: str | None = member(STRING)
    username: str | None = member(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateUserRequestHeader:
    """Creates a user (code 3001)."""

    username: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateUserRequestHeader:
    """Changes a user (code 3002)."""

    username: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteUserRequestHeader:
    """Removes a user (code 3003)."""

    username: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetUserRequestHeader:
    """Asks for a user (code 3004)."""

    username: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListUsersRequestHeader:
    """Asks for the users whose names contain a text (code 3005)."""

    filter: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyEntryInfo:
    """The actions and the decision of a policy for one resource.
    Java: ``remoting.protocol.body.AclInfo.PolicyEntryInfo``."""

    java_name: ClassVar[str] = "AclInfo.PolicyEntryInfo"

    actions: tuple[str, ...] | None = member(listing(STRING))
    decision: str | None = member(STRING)
    resource: str | None = member(STRING)
    source_ips: tuple[str, ...] | None = member(listing(STRING))


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyInfo:
    """A policy of a subject: entries for several resources.
    Java: ``remoting.protocol.body.AclInfo.PolicyInfo``."""

    java_name: ClassVar[str] = "AclInfo.PolicyInfo"

    entries: tuple[PolicyEntryInfo, ...] | None = member(listing(record(PolicyEntryInfo)))
    policy_type: str | None = member(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class AclInfo:
    """The permissions of a subject."""

    policies: tuple[PolicyInfo, ...] | None = member(listing(record(PolicyInfo)))
    subject: str | None = member(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateAclRequestHeader:
    """Creates policies of a subject (code 3006)."""

    subject: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateAclRequestHeader:
    """Changes a subject's policies (code 3007)."""

    subject: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteAclRequestHeader:
    """Removes policies of a subject (code 3008)."""

    subject: str | None = ext(STRING)
    policy_type: str | None = ext(STRING)
    resource: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetAclRequestHeader:
    """Asks for the permissions of a subject (code 3009)."""

    subject: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListAclsRequestHeader:
    """Asks for the subjects and resources whose names contain a text (code 3010)."""

    subject_filter: str | None = ext(STRING)
    resource_filter: str | None = ext(STRING)
