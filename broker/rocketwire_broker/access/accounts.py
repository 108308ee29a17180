"""Accounts, as a file has them: keys, secrets, permissions by topic and group, trusted addresses.

A file has the members of Java's ``plain_acl.yml`` of 4.x, in TOML or YAML.

Java (4.9.4): ``PlainPermissionManager``, ``PlainAccessResource``,
``RemoteAddressStrategyFactory``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Flag
from typing import Any, Final, cast

from rocketwire.errors import IllegalValueError


class Permission(Flag):
    DENY = 0
    PUB = 1
    SUB = 2


_PERMISSIONS: Final = {
    "DENY": Permission.DENY,
    "PUB": Permission.PUB,
    "SUB": Permission.SUB,
    "PUB|SUB": Permission.PUB | Permission.SUB,
    "SUB|PUB": Permission.PUB | Permission.SUB,
    "ANY": Permission.PUB | Permission.SUB,
}
_OCTET: Final = re.compile(r"[0-9]{1,3}")
_RANGE: Final = re.compile(r"([0-9]{1,3})-([0-9]{1,3})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    access_key: str  # its name, which requests contain
    secret_key: str = field(repr=False)  # signs its requests
    is_admin: bool = False  # whether it may do everything
    default_topic: Permission = Permission.DENY  # permission for topics that are not listed
    default_group: Permission = Permission.DENY  # permission for groups that are not listed
    topics: Mapping[str, Permission] = field(default_factory=dict[str, Permission])
    groups: Mapping[str, Permission] = field(default_factory=dict[str, Permission])
    trusted: str = ""  # addresses from which its requests need neither signature nor permission


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounts:
    by_key: Mapping[str, Account]
    trusted: tuple[str, ...] = ()  # addresses whose requests are not checked at all


def read_accounts(document: object) -> Accounts:
    """Return the accounts of a document."""
    table = _table(document, "the document")
    trusted = _texts(table.pop("globalWhiteRemoteAddresses", None), "globalWhiteRemoteAddresses")
    accounts: dict[str, Account] = {}
    for index, item in enumerate(_list(table.pop("accounts", None), "accounts")):
        account = _account(_table(item, f"accounts[{index}]"), f"accounts[{index}]")
        if account.access_key in accounts:
            raise IllegalValueError(f"accounts[{index}]: {account.access_key} is there twice")
        accounts[account.access_key] = account
    table.pop("dataVersion", None)  # Java writes it
    _check_rest(table, "the document")
    return Accounts(by_key=accounts, trusted=tuple(trusted))


def _account(table: dict[str, Any], where: str) -> Account:
    account = Account(
        access_key=_text(table.pop("accessKey", None), f"{where}.accessKey"),
        secret_key=_text(table.pop("secretKey", None), f"{where}.secretKey"),
        is_admin=_boolean(table.pop("admin", None), f"{where}.admin"),
        default_topic=_permission(table.pop("defaultTopicPerm", None), f"{where}.defaultTopicPerm"),
        default_group=_permission(table.pop("defaultGroupPerm", None), f"{where}.defaultGroupPerm"),
        topics=_permissions(table.pop("topicPerms", None), f"{where}.topicPerms"),
        groups=_permissions(table.pop("groupPerms", None), f"{where}.groupPerms"),
        trusted=str(table.pop("whiteRemoteAddress", None) or ""),
    )
    _check_rest(table, where)
    return account


def _table(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise IllegalValueError(f"{where} is not a table")
    return dict(cast("dict[str, Any]", value))


def _list(value: object, where: str) -> Sequence[object]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise IllegalValueError(f"{where} is not a list")
    return cast("list[object]", value)


def _texts(value: object, where: str) -> list[str]:
    return [_text(item, where) for item in _list(value, where)]


def _text(value: object, where: str) -> str:
    # YAML reads 12345678 as a number
    if isinstance(value, (str, int)) and not isinstance(value, bool) and str(value):
        return str(value)
    raise IllegalValueError(f"{where} is not a text")


def _boolean(value: object, where: str) -> bool:
    if value is None:
        return False
    if not isinstance(value, bool):
        raise IllegalValueError(f"{where} is neither true nor false")
    return value


def _permissions(value: object, where: str) -> dict[str, Permission]:
    permissions: dict[str, Permission] = {}
    for text in _texts(value, where):
        name, equals, permission = text.partition("=")
        if not equals:
            raise IllegalValueError(f"{where}: {text!r} is not NAME=PERMISSION")
        permissions[name.strip()] = _permission(permission, f"{where}: {name.strip()}")
    return permissions


def _permission(value: object, where: str) -> Permission:
    if value is None:
        return Permission.DENY
    permission = _PERMISSIONS.get(str(value).strip())
    if permission is None:
        raise IllegalValueError(f"{where}: {value!r} is none of {', '.join(_PERMISSIONS)}")
    return permission


def _check_rest(table: Mapping[str, object], where: str) -> None:
    if table:
        # "secretKey:x" without a blank is a name in YAML
        names = ", ".join(str(name).partition(":")[0] for name in table)
        raise IllegalValueError(f"{where}: {names} is not a member")


def is_trusted(host: str, patterns: str) -> bool:
    """Return whether a pattern of trusted addresses matches an IP address.

    A pattern is an address, ``*`` for all, a list of addresses with commas, or an IPv4 address
    whose numbers may be ``*``, a range ``1-9`` or, in the last place, a list ``{1,2}``.
    """
    patterns = patterns.strip()
    if patterns == "*":
        return True
    head, brace, tail = patterns.partition("{")
    if brace and tail.endswith("}"):
        return any(is_trusted(host, f"{head}{item.strip()}") for item in tail[:-1].split(","))
    if "," in patterns:
        return any(item.strip() == host for item in patterns.split(","))
    if patterns == host:
        return bool(host)
    parts, numbers = patterns.split("."), host.split(".")
    return len(parts) == len(numbers) == 4 and all(map(_matches, parts, numbers))


def _matches(pattern: str, number: str) -> bool:
    if not _OCTET.fullmatch(number):
        return False
    if pattern in {"*", number}:
        return True
    limits = _RANGE.fullmatch(pattern)
    return limits is not None and int(limits[1]) <= int(number) <= int(limits[2])
