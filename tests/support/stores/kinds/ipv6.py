"""``ipv6``: a broker whose address is one of IPv6; messages come over IPv6, and a few over IPv4."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from tests.support.processes import LOOPBACK
from tests.support.stores.kinds import plain
from tests.support.stores.recording import record
from tests.support.stores.sending import Sender

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.stores.cluster import Session
    from tests.support.stores.truth import Truth

HOST: Final = "::1"
OVER_IPV4: Final = 6


async def fill(session: Session, sender: Sender, release: str) -> dict[str, Any]:
    """Send as ``plain`` does, then from another address; returns the truth's notes."""
    notes = await plain.fill(session, sender, release)
    old = Sender(replace(session, address=session.address.replace(HOST, LOOPBACK)))
    for number in range(OVER_IPV4):
        await old.send_raw(plain.LEDGER, b"over IPv4", f"KEYS\x01ipv4-{number}\x02")
    sender.sent += old.sent
    return {**notes, "over_ipv4": OVER_IPV4}


def make(folder: Path, release: str) -> Truth:
    """Make the store; returns its truth."""
    return record(folder, release, "ipv6", fill, topics=tuple(plain.TOPICS), host=HOST)
