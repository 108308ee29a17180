"""Whatever a connection brings and however it is cut, its session answers or closes; it raises nothing and holds little."""

from __future__ import annotations

from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.protocol.handlers import Peer
from rocketwire_namesrv.protocol.session import Session
from rocketwire_namesrv.protocol.state import State
from tests.fuzz import seeds
from tests.fuzz.chance import Chance
from tests.fuzz.requests import Requests

LIMIT = 1 << 16
CONFIG = Config(
    allow_config_update=True,
    frame_max_length=LIMIT,
    inflated_max_length=1 << 20,
    max_topics=1000,
    notify_min_broker_id_changed=True,
)


def read(data: bytes) -> None:
    """The first byte says into how large pieces the rest is cut."""
    state = State(CONFIG, allow_config_update=True)
    session = Session(state, Peer(1, "127.0.0.1:1"))
    step = 1 + 16 * (data[0] if data else 0)
    now = 0.0
    for start in range(1, len(data), step):
        now += 0.5
        outcome = session.receive(data[start : start + step], now)
        while session.busy:
            outcome = session.proceed(now)
        assert state.holdings.total <= LIMIT + step
        if outcome.close is not None:
            break
    session.lost(now, "closed")
    state.expire(now + 1e6)
    assert state.holdings.total == 0
    assert len(state.table.live) == 0


def start() -> list[bytes]:
    """Recorded frames, and requests of every code."""
    requests = Requests(Chance("session"), ("127.0.0.1:1",))
    made = [b"".join(requests.next(opaque) for opaque in range(4)) for _ in range(20)]
    return [
        bytes((piece,)) + each
        for piece in (1, 255)
        for each in (*seeds.frames(), *made)
        if len(each) < LIMIT
    ]
