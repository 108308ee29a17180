"""Whatever a connection brings, the broker for development answers or closes, and goes on.

No request may fail with an error of Python's, nothing that happens later may raise, and a connection
that has ended leaves no request behind that waits.
"""

from __future__ import annotations

import logging

from rocketwire.errors import DecodeError
from rocketwire.wire.message.host import Host
from rocketwire_broker.config import Config
from rocketwire_broker.protocol.session import Session
from rocketwire_broker.state.broker import Broker
from rocketwire_broker.tables.peer import Peer
from tests.fuzz.broker_requests import BrokerRequests
from tests.fuzz.chance import Chance

CASES = 300
CONFIG = Config(max_topics=50, max_held=100, retain_bytes=1 << 20)
START = 1_700_000_000_000
LATER = 50
"""Times at which something is due that are tried at the end."""


class _Raising(logging.Handler):
    """Lets an error that the broker logs end the run."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info is not None and record.exc_info[1] is not None:
            raise AssertionError(record.getMessage()) from record.exc_info[1]


def read(data: bytes) -> None:
    """The first byte says how many milliseconds pass between pieces of 1 KiB."""
    logger, handler = logging.getLogger("rocketwire.broker"), _Raising()
    logger.addHandler(handler)
    try:
        _read(data[:1], data[1:])
    finally:
        logger.removeHandler(handler)


def _read(first: bytes, data: bytes) -> None:
    broker = Broker(CONFIG, START)
    peer = Peer(1, "127.0.0.1:1", Host.parse("127.0.0.1:1"))
    session = Session(broker, peer)
    broker.connected(peer)
    step, now = (first[0] if first else 0) ** 2, START
    for begin in range(0, len(data), 1024):
        now += step
        try:
            session.receive(data[begin : begin + 1024], now)
        except DecodeError:
            break
        broker.settle(now)
        peer.out.clear()
        broker.outbox.clear()
        if broker.closing:
            break
    for _ in range(LATER):
        due = broker.schedule.next_due
        now = max(now, due or now)
        broker.settle(now)
    broker.lost(peer, now)
    assert len(broker.waits) == 0


def start() -> list[bytes]:
    """Requests of every code, some of them plausible."""
    requests = BrokerRequests(Chance("broker"))
    streams = [b"".join(requests.next(opaque) for opaque in range(40)) for _ in range(40)]
    return [bytes((pace,)) + stream for pace in (0, 250) for stream in streams]
