"""Warnings if other machines may use the broker without an account."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.serving.addresses import is_loopback
from rocketwire.serving.events import Event, Level

if TYPE_CHECKING:
    from rocketwire_broker.config import Config


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
