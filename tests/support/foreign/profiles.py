"""What kinds of traffic there are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What the traffic and the network are like.

    Attributes:
        connections: of the capture, of all protocols.
        frames: of RocketMQ, about.
        seconds: that the capture lasts.
        body_log: natural logarithm of the median size of a message's body.
        body_sigma: how widely the sizes are spread.
        body_most: bytes of the largest body.
        batch: most messages of a pulled body.
        burst: requests that directly follow each other, on average.
        roles: weights of producers, consumers, pop consumers, others.
        largest: share of the frames that one connection has.
        binary: share of the Java clients with ROCKETMQ headers.
        foreign: share of connections that speak another protocol.
        begun: share of connections that began before the capture.
        reused: share of connections whose ports are used again later.
        six: share of IPv6.
        lost: share of segments that the capture misses.
        repeated: share of segments that are sent twice.
        reordered: share of segments that come later than the ones behind them.
        odd: share of segments of any size instead of a full one.
        merged: share of connections whose segments GRO merges.
    """

    connections: int
    frames: int
    seconds: float = 60.0
    body_log: float = math.log(560)
    body_sigma: float = 1.0
    body_most: int = 200_000
    batch: int = 12
    burst: float = 6.0
    roles: tuple[float, float, float, float] = (45, 38, 9, 8)
    largest: float = 0.2
    binary: float = 0.08
    foreign: float = 0.05
    begun: float = 0.1
    reused: float = 0.02
    six: float = 0.08
    lost: float = 0.0
    repeated: float = 0.004
    reordered: float = 0.004
    odd: float = 0.01
    merged: float = 0.3


MIXED: Final = Profile(connections=1200, frames=227_000)
CHATTY: Final = Profile(
    connections=1200, frames=608_000, body_log=math.log(150), body_sigma=0.8, batch=3
)
BULK: Final = Profile(
    connections=1200, frames=60_000, body_log=math.log(3000), body_sigma=1.1, batch=12
)
