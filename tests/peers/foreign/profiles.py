"""Kinds of traffic."""

import math
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    connections: int  #: number of connections, of all protocols
    frames: int  #: of RocketMQ, approximately
    seconds: float = 60.0  #: duration of the capture
    body_log: float = math.log(560)  #: natural logarithm of the median size of a message's body
    body_sigma: float = 1.0  #: spread of the sizes
    body_most: int = 200_000  #: bytes of the largest body
    batch: int = 12  #: most messages of a pulled body
    burst: float = 6.0  #: consecutive requests, on average
    #: weights of producers, consumers, pop consumers, others
    roles: tuple[float, float, float, float] = (45, 38, 9, 8)
    largest: float = 0.2  #: share of the frames of the largest connection
    binary: float = 0.08  #: share of the Java clients with ROCKETMQ headers
    foreign: float = 0.05  #: share of connections with another protocol
    ongoing: float = 0.1  #: share of connections that began before the capture
    reused: float = 0.02  #: share of connections whose ports are used again later
    six: float = 0.08  #: share of IPv6
    lost: float = 0.0  #: share of segments that the capture misses
    repeated: float = 0.004  #: share of segments that are sent twice
    reordered: float = 0.004  #: share of segments that come after later ones
    odd_sized: float = 0.01  #: share of segments of any size instead of the full size
    merged: float = 0.3  #: share of connections whose segments GRO merges
    payload: int = 0  #: bytes of each packet's payload that the capture keeps; 0 for all


MIXED: Final = Profile(connections=1200, frames=227_000)
CHATTY: Final = Profile(
    connections=1200, frames=608_000, body_log=math.log(150), body_sigma=0.8, batch=3
)
BULK: Final = Profile(
    connections=1200, frames=60_000, body_log=math.log(3000), body_sigma=1.1, batch=12
)
