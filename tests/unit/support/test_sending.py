"""What a sender of stores keeps of a request is what a Java broker makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import trio

from tests.support.stores.sending import Sender


@dataclass
class Broker:
    """Answers as a broker that has stored a message."""

    async def call(self, *_: object) -> SimpleNamespace:
        """Store a message."""
        return SimpleNamespace(header=SimpleNamespace(queue_id=0, queue_offset=7, msg_id="id"))


def test_keys_are_divided_at_spaces_only() -> None:
    session: Any = Broker()
    sender = Sender(session)

    sent = trio.run(sender.send_raw, "ledger", b"body", "KEYS\x01a\tb  c\u2003d\ne \x02")

    assert sent.keys == ("a\tb", "c\u2003d\ne")
    assert sender.sent == [sent]
