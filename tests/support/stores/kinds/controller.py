"""``controller``: as ``plain``, in a group whose master a controller elects (5.x)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import trio

from rocketwire.errors import BrokerError
from tests.support.java.controller import JavaController
from tests.support.stores.cluster import PATIENCE
from tests.support.stores.kinds import plain
from tests.support.stores.recording import record

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.stores.cluster import Session
    from tests.support.stores.sending import Sender
    from tests.support.stores.truth import Truth


async def fill(session: Session, sender: Sender, release: str) -> dict[str, Any]:
    """Wait until the broker leads, then send as ``plain`` does; returns the truth's notes."""
    await session.create_topic(plain.LEDGER, plain.TOPICS[plain.LEDGER])
    with trio.fail_after(PATIENCE):
        while True:
            try:
                await sender.send_raw(plain.LEDGER, b"first", "KEYS\x01first\x02")
                break
            except BrokerError:
                await trio.sleep(0.5)
    return await plain.fill(session, sender, release)


def make(folder: Path, release: str) -> Truth:
    """Make the store; returns its truth."""
    topics = tuple(plain.TOPICS)
    with JavaController(folder / "home-controller", version=release) as controller:
        options = {"enableControllerMode": "true", "controllerAddr": controller.address}
        return record(folder, release, "controller", fill, options=options, topics=topics)
