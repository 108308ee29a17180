"""Kinds of traffic."""

import math
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The kind of traffic and of network.

    Attributes:
        connections: number of connections, of all protocols.
        frames: of RocketMQ, approximately.
        seconds: duration of the capture.
        body_log: natural logarithm of the median size of a message's body.
        body_sigma: spread of the sizes.
        body_most: bytes of the largest body.
        batch: most messages of a pulled body.
        burst: consecutive requests, on average.
        roles: weights of producers, consumers, pop consumers, others.
        largest: share of the frames of the largest connection.
        binary: share of the Java clients with ROCKETMQ headers.
        foreign: share of connections with another protocol.
        ongoing: share of connections that began before the capture.
        reused: share of connections whose ports are used again later.
        six: share of IPv6.
        lost: share of segments that the capture misses.
        repeated: share of segments that are sent twice.
        reordered: share of segments that come after later ones.
        odd_sized: share of segments of any size instead of the full size.
        merged: share of connections whose segments GRO merges.
        payload: bytes of each packet's payload that the capture keeps; 0 for all.
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
    ongoing: float = 0.1
    reused: float = 0.02
    six: float = 0.08
    lost: float = 0.0
    repeated: float = 0.004
    reordered: float = 0.004
    odd_sized: float = 0.01
    merged: float = 0.3
    payload: int = 0


MIXED: Final = Profile(connections=1200, frames=227_000)
CHATTY: Final = Profile(
    connections=1200, frames=608_000, body_log=math.log(150), body_sigma=0.8, batch=3
)
BULK: Final = Profile(
    connections=1200, frames=60_000, body_log=math.log(3000), body_sigma=1.1, batch=12
)
