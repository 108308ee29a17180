"""Fuzz targets of the servers: for any bytes, a session answers or closes."""

import logging
from collections.abc import Generator
from contextlib import contextmanager

from rocketwire.errors import DecodeError
from rocketwire.serving.preamble import Preamble, describe, is_plain
from rocketwire.wire.message.host import Host
from rocketwire_broker.config import Config
from rocketwire_broker.protocol.session import Session
from rocketwire_broker.state.broker import Broker
from rocketwire_broker.tables.members import Peer
from rocketwire_namesrv.config.config import Config as NameServerConfig
from rocketwire_namesrv.protocol.handlers import Peer as NameServerPeer
from rocketwire_namesrv.protocol.session import Session as NameServerSession
from rocketwire_namesrv.protocol.state import State
from tests.fuzz import seeds
from tests.fuzz.broker_requests import BrokerRequests
from tests.fuzz.chance import Chance
from tests.fuzz.requests import Requests


def _open(data: bytes, step: int) -> tuple[object, ...]:
    preamble = Preamble()
    for start in range(0, len(data), step):
        try:
            follows = preamble.feed(data[start : start + step])
        except DecodeError:
            return ("refused",)
        if follows is not None:
            return follows, preamble.proxy
    return None, preamble.proxy


def read_preamble(data: bytes) -> None:
    step, text_ = 1 + (data[0] if data else 0), data[1:]
    text = describe(text_)
    assert text.isascii()
    assert "\n" not in text
    if text_:
        is_plain(text_)
    assert _open(text_, step) == _open(text_, 1)


def seed_preamble() -> list[bytes]:
    version2 = b"\r\n\r\n\x00\r\nQUIT\n"
    tlv = b"\x20\x00\x0a\x01\x00\x00\x00\x00\x21\x00\x02ab"
    headers = (
        b"PROXY TCP4 1.2.3.4 5.6.7.8 99 9876\r\n",
        b"PROXY TCP6 ::1 fe80::1 99 9876\r\n",
        b"PROXY UNKNOWN\r\n",
        version2 + b"\x21\x11\x00\x0c" + bytes(12),
        version2 + b"\x21\x21\x00\x24" + bytes(36),
        version2 + b"\x20\x00\x00\x00",
        version2 + b"\x21\x11\x00\x19" + bytes(12) + tlv,
        b"",
    )
    follows = (seeds.frames()[0], b"\x16\x03\x01\x00\x05hello", b"GET / HTTP/1.1\r\n\r\n", b"")
    return [bytes((step,)) + h + f for step in (0, 200) for h in headers for f in follows]


SESSION_LIMIT = 1 << 16
SESSION_CONFIG = NameServerConfig(
    allow_config_update=True,
    frame_max_length=SESSION_LIMIT,
    inflated_max_length=1 << 20,
    max_topics=1000,
    notify_min_broker_id_changed=True,
)


def read_session(data: bytes) -> None:
    # For any bytes in pieces of any size, a session answers or closes; it raises no error and holds little.
    state = State(SESSION_CONFIG, allow_config_update=True)
    session = NameServerSession(state, NameServerPeer(1, "127.0.0.1:1"))
    step = 1 + 16 * (data[0] if data else 0)
    now = 0.0
    for start in range(1, len(data), step):
        now += 0.5
        outcome = session.receive(data[start : start + step], now)
        while session.busy:
            outcome = session.proceed(now)
        assert state.holdings.total <= SESSION_LIMIT + step
        if outcome.close is not None:
            break
    session.connection_lost(now, "closed")
    state.expire(now + 1e6)
    assert state.holdings.total == 0
    assert len(state.table.live) == 0


def seed_session() -> list[bytes]:
    requests = Requests(Chance("session"), ("127.0.0.1:1",))
    random_frames = [b"".join(requests.next(opaque) for opaque in range(4)) for _ in range(20)]
    return [
        bytes((piece,)) + frames_
        for piece in (1, 255)
        for frames_ in (*seeds.frames(), *random_frames)
        if len(frames_) < SESSION_LIMIT
    ]


BROKER_CONFIG = Config(max_topics=50, max_held=100, retain_bytes=1 << 20)
BROKER_START = 1_700_000_000_000
BROKER_LATER = 50
"""Times at which something is due that are tried at the end."""


class _Raising(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info is not None and record.exc_info[1] is not None:
            raise AssertionError(record.getMessage()) from record.exc_info[1]


@contextmanager
def raising(name: str) -> Generator[None]:
    logger, handler = logging.getLogger(name), _Raising()
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def read_broker(data: bytes) -> None:
    """For any bytes, the development broker answers or closes, and continues.

    No request may fail with an error of Python's, no later action may raise, and a connection that
    has ended leaves no waiting request.
    """
    with raising("rocketwire.broker"):
        _read(data[:1], data[1:])


def _read(first: bytes, data: bytes) -> None:
    broker = Broker(BROKER_CONFIG, BROKER_START)
    peer = Peer(1, "127.0.0.1:1", Host.parse("127.0.0.1:1"))
    session = Session(broker, peer)
    broker.add_peer(peer)
    step, now = (first[0] if first else 0) ** 2, BROKER_START
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
    for _ in range(BROKER_LATER):
        due = broker.schedule.next_due
        now = max(now, due or now)
        broker.settle(now)
    broker.remove_peer(peer, now)
    assert len(broker.waits) == 0


def seed_broker() -> list[bytes]:
    requests = BrokerRequests(Chance("broker"))
    streams = [b"".join(requests.next(opaque) for opaque in range(40)) for _ in range(40)]
    return [bytes((pace,)) + stream for pace in (0, 250) for stream in streams]
