"""``Access``: whether a request may be sent by its account, and warnings if no account is needed.

The rules are those of accounts in ``plain_acl.yml`` of Java; the remarks are those of 5.5.0, whose
accounts are kept elsewhere.

Java: ``DefaultAuthenticationHandler``, ``AclAuthorizationHandler`` of 5.5.0;
``PlainPermissionManager`` of 4.9.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.errors import RocketWireError
from rocketwire.serving.addresses import is_loopback
from rocketwire.serving.events import Event, Level
from rocketwire.signing import ACCESS_KEY, verify
from rocketwire_broker.access.accounts import Account, Accounts, Permission, is_trusted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.access.needs import Need
    from rocketwire_broker.config import Config


class Access:
    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts

    def refusal(self, request: RemotingCommand, host: str, needs: Iterable[Need]) -> str | None:
        """Return the remark with which a request is refused; None if it may be sent."""
        accounts = self._accounts
        if any(is_trusted(host, pattern) for pattern in accounts.trusted):
            return None
        key = (request.ext_fields or {}).get(ACCESS_KEY)
        if not key:
            return "username cannot be null."
        account = accounts.by_key.get(key)
        if account is None:
            return f"User:{key} is not found."
        if account.trusted and is_trusted(host, account.trusted):
            return None
        if not verify(request, account.secret_key):
            return "check signature failed."
        if account.is_admin:
            return None
        try:
            for need in needs:
                if (reason := _reason(account, need)) is not None:
                    resource = f"{need.kind}:{need.name}"
                    return (
                        f"User:{key} has no permission to access {resource} from {host}, {reason}."
                    )
        except RocketWireError as error:
            return str(error)
        return None


def _reason(account: Account, need: Need) -> str | None:
    if need.permission is None:
        return "no matched policies"
    is_topic = need.kind == "Topic"
    listed = (account.topics if is_topic else account.groups).get(need.name)
    if listed is Permission.DENY:
        return "the decision is deny"
    default = account.default_topic if is_topic else account.default_group
    granted = default if listed is None else listed
    return None if granted & need.permission else "no matched policies"


class Exposed(Event):
    level = Level.WARNING
    address: str
    template = (
        "any host that reaches {address} can send, read and delete messages; name a file of"
        " accounts (--accounts), or require certificates (TLS)"
    )


class PagesExposed(Event):
    level = Level.WARNING
    url: str
    template = (
        "any host that reaches {url} can read all messages: the status page has no accounts; let it"
        " listen on 127.0.0.1"
    )


def find_exposure(config: Config, address: str, *, has_accounts: bool) -> tuple[Exposed, ...]:
    """Return an event if other machines can send every request."""
    if has_accounts or config.tls.requires_certificates or is_loopback(address):
        return ()
    return (Exposed(address=f"{config.bind_address}:{config.listen_port}"),)
