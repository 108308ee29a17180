"""``Property``: a setting, the conversion of its text, and its invalid values.

Rules of this file: pure.  A text that Java takes is converted as in Java.  A value is *refused* if
the setting is this server's own and the value is invalid, or if Java's name server does not start
with it either; the server then does not start. An invalid value that Java accepts is *doubtful*: it
stays, and the log warns.  ``docs/guide/name-server.md`` has the table.

Sources: the starts of 5.5.0 with the values of ``BOUNDS``; ``MixAll.properties2Object`` of 5.5.0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.connection.guards import Guard
from rocketwire_namesrv.config.limits import Limit

if TYPE_CHECKING:
    Networks = tuple[IPv4Network | IPv6Network, ...]

DRIVERS: Final = ("auto", "reactor", "portable")
"""The drivers of connections: one task with an epoll for all (``reactor``, Linux only), or a task
for each; ``auto`` uses the reactor if possible."""

JAVA_BLANKS: Final = "".join(map(chr, range(33)))  # what String.trim removes

NOBODY: Final = "none"
"""An empty list of addresses; an empty text is no list."""

_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_MAX_INT: Final = 2**31 - 1
_DAY: Final = 86_400


class Owner(Enum):
    """The Java class of a property; ``OURS`` if Java does not have it."""

    NAMESRV = "NamesrvConfig"
    SERVER = "NettyServerConfig"
    CLIENT = "NettyClientConfig"
    OURS = "rocketwire"


class Bounds(NamedTuple):
    minimum: int  #: smallest valid number
    maximum: int = _MAX_INT  #: largest valid number
    unit: str = ""  #: in the plural; empty if the name of the setting contains it
    zero: str = ""  #: meaning of 0 if it is below the minimum; empty if 0 is invalid
    #: what the server does with other numbers, if Java takes them; empty if they are refused
    otherwise: str = ""

    def __contains__(self, number: object) -> bool:
        is_within = isinstance(number, int) and self.minimum <= number <= self.maximum
        return is_within or (number == 0 and bool(self.zero))

    @property
    def text(self) -> str:
        """The rule in words, to follow ``must be``."""
        unit = f" {self.unit}" if self.unit else ""
        zero = f", or 0 ({self.zero})" if self.zero else ""
        return f"a whole number from {self.minimum} to {self.maximum}{unit}{zero}"


_LIMIT: Final = Bounds(1, zero="no limit")
_BYTES: Final = Bounds(1, unit="bytes", zero="no limit")
_CHARACTERS: Final = Bounds(1, unit="characters", zero="no limit")
_DEADLINE: Final = Bounds(1, _DAY, "seconds", zero="no limit")
_SIZE: Final = Bounds(
    0, unit="bytes", otherwise="the size of the operating system is used, as with 0"
)
_POOL: Final = Bounds(1, otherwise="Java's name server does not start with it; this one ignores it")

BOUNDS: Final[Mapping[str, Bounds]] = {
    # a frame has a header: with less than this the server could not receive any request
    Guard.FRAME_LENGTH: Bounds(1024, unit="bytes"),
    Guard.HEADER_LENGTH: Bounds(1024, unit="bytes", zero="no limit"),
    Limit.BODY_LENGTH: _BYTES,
    Limit.INFLATED_LENGTH: _BYTES,
    Limit.NAME_LENGTH: _CHARACTERS,
    Limit.TOPICS_PER_REGISTRATION: _LIMIT,
    Limit.TOPICS_PER_BROKER: _LIMIT,
    Limit.TOPICS: _LIMIT,
    Limit.QUEUES: _LIMIT,
    Limit.MAPPED_QUEUES: _LIMIT,
    Limit.BROKERS: _LIMIT,
    Limit.FILTER_SERVERS: _LIMIT,
    Limit.KV_NAMESPACES: _LIMIT,
    Limit.KV_ENTRIES: _LIMIT,
    Limit.KV_VALUE_LENGTH: _CHARACTERS,
    Limit.KV_LENGTH: _CHARACTERS,
    Guard.CONNECTIONS: Bounds(1),
    Guard.CONNECTIONS_PER_ADDRESS: _LIMIT,
    Guard.FRAME_DEADLINE: _DEADLINE,
    Guard.FIRST_FRAME_DEADLINE: _DEADLINE,
    Guard.SEND_DEADLINE: _DEADLINE,
    Limit.REQUESTS_IN_FLIGHT: _LIMIT,
    Guard.UNSENT_BYTES: _BYTES,
    Guard.ALL_UNSENT_BYTES: _BYTES,
    Guard.BUFFERED_BYTES: _BYTES,
    Limit.NOTIFICATIONS: _LIMIT,
    "rocketwire.splitRegistrationSize": Bounds(
        1, unit="topics", zero="each part is registered as it comes"
    ),
    "rocketwire.warmStartSeconds": Bounds(1, _DAY, "seconds", zero="no wait"),
    "rocketwire.observePort": Bounds(-1, 65_535),
    "listenPort": Bounds(0, 65_535),
    "scanNotActiveBrokerInterval": Bounds(1, 2**63 - 1, "milliseconds"),
    "serverChannelMaxIdleTimeSeconds": Bounds(
        0, unit="seconds", otherwise="idle connections are never closed, as with 0"
    ),
    "waitSecondsForService": Bounds(
        0, unit="seconds", otherwise="the server does not wait, as with 0"
    ),
    "shutdownWaitTimeSeconds": Bounds(
        0, unit="seconds", otherwise="the server does not wait, as with 0"
    ),
    "connectTimeoutMillis": Bounds(
        1, unit="milliseconds", otherwise="no broker is notified (905): the time is always up"
    ),
    "serverSocketSndBufSize": _SIZE,
    "serverSocketRcvBufSize": _SIZE,
    "clientRequestThreadPoolNums": _POOL,
    "defaultThreadPoolNums": _POOL,
    "serverWorkerThreads": _POOL,
    "serverSelectorThreads": _POOL._replace(minimum=0),
    "clientRequestThreadPoolQueueCapacity": _POOL,
    "defaultThreadPoolQueueCapacity": _POOL,
    "unRegisterBrokerQueueCapacity": _POOL,
}
"""Key -> valid numbers. Other numbers are Java's, and have no effect here."""


class Property(NamedTuple):
    attribute: str  #: name of the field
    name: str  #: as shown
    key: str  #: as set
    owner: Owner  #: the Java class
    system: str  #: Java system property with its default, if any
    value_type: type  #: ``str``, ``int`` or ``bool``
    bits: int  #: of an integer, without the sign
    default: str  #: text of the value without configuration

    def value_of(self, text: str) -> str | int | bool | None:
        """Convert a text as Java does; None if it is invalid and the old value stays."""
        if self.value_type is bool:
            return text.lower() == "true"
        if self.value_type is str:
            return text.strip(JAVA_BLANKS)
        if not _INTEGER.fullmatch(text) or len(text) > 4_000:
            return None
        number = int(text)
        return number if -(1 << self.bits) <= number < 1 << self.bits else None

    def refusal(self, text: str, *, system: bool = False) -> str | None:
        """Return why the server does not start with this text; None if it does.

        Args:
            text: as it is written.
            system: whether it is the text of a Java system property: Java does not start if it has
                to be a number and is not.
        """
        ours = self.owner is Owner.OURS
        if self.value_type is int:
            number = self.value_of(text)
            bounds = BOUNDS.get(self.key)
            if number is None:
                refused = ours or system
            else:
                refused = bounds is not None and not bounds.otherwise and number not in bounds
            return f"must be {self._bounds_text}{self._hint}" if refused else None
        if not ours:
            return None
        if self.value_type is bool:
            is_valid = text.lower() in {"true", "false"}
            return None if is_valid else f"must be true or false, without spaces{self._hint}"
        return self._text_refusal(str(self.value_of(text)))

    def _text_refusal(self, value: str) -> str | None:
        if self.key == "rocketwire.driver" and value not in DRIVERS:
            return f"must be one of {', '.join(DRIVERS)}{self._hint}"
        if self.key == "rocketwire.peers":
            return _peers_refusal(value)
        if self.key.endswith("Addresses"):
            try:
                networks_of(value)
            except ValueError as error:
                return (
                    f"{error}; must be a list of IP addresses and networks with commas between"
                    f" them, or {NOBODY}"
                )
        return None

    def find_doubt(self, text: str) -> str | None:
        """Return why an accepted text looks wrong, and what the server does with it; None if it
        looks right."""
        if self.refusal(text) is not None:
            return None
        if self.value_type is bool and text.lower() not in {"true", "false"}:
            return "read as false, because it is not the word true"
        if self.value_type is not int:
            return None
        number = self.value_of(text)
        if number is None:
            return f"ignored, because it is not {self._bounds_text}"
        bounds = BOUNDS.get(self.key)
        if bounds is None or number in bounds:
            return None
        return f"should be {bounds.text}; {bounds.otherwise}"

    @property
    def _bounds_text(self) -> str:
        bounds = BOUNDS.get(self.key, Bounds(-(1 << self.bits), (1 << self.bits) - 1))
        return bounds.text

    @property
    def _hint(self) -> str:
        return f"; the default is {self.default}"


MAX_PEERS: Final = 16
"""Other name servers that a table is compared with."""
_PEER: Final = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[^\s:;,/\[\]]+):[0-9]{1,5}")


def addresses_of(text: str) -> tuple[str, ...]:
    """Return the addresses of a list with commas or semicolons between them."""
    return tuple(dict.fromkeys(text.replace(",", " ").replace(";", " ").split()))


def _peers_refusal(value: str) -> str | None:
    peers = addresses_of(value)
    for peer in peers:
        if not _PEER.fullmatch(peer) or not 0 < int(peer.rpartition(":")[2]) <= 65_535:
            return f"{peer} must be host:port, with the second port of a name server"
    return f"must name {MAX_PEERS} name servers at most" if len(peers) > MAX_PEERS else None


def networks_of(text: str) -> Networks | None:
    """Return the networks of a list of addresses; None if there is no list, an empty tuple for
    ``none``.
    """
    words = text.replace(",", " ").replace(";", " ").split()
    if not words:
        return None
    if words == [NOBODY]:
        return ()
    return tuple(ip_network(word, strict=False) for word in words)
