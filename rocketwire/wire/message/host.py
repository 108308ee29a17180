"""``Host``: an address and a port, as stored messages and message ids carry them.

Rules of this file: four or sixteen bytes and nothing else, no name is ever looked up.  An IPv6
address that only wraps an IPv4 one is the IPv4 one, because Java's ``InetAddress.getByAddress``
makes no difference between them.
"""

from __future__ import annotations

from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final, NamedTuple, Self

MAX_PORT: Final = 65_535

_MAPPED_PREFIX: Final = bytes(10) + b"\xff\xff"


class Host(NamedTuple):
    """One end of a connection (Java: ``InetSocketAddress`` with an address, never with a name).

    Attributes:
        address: 4 (IPv4) or 16 bytes (IPv6).
        port: 0 to 65535.
    """

    address: bytes
    port: int

    @classmethod
    def of(cls, address: bytes, port: int) -> Self:
        """The host of these bytes; a wrapped IPv4 address is unwrapped."""
        if len(address) == 16 and address.startswith(_MAPPED_PREFIX):
            return cls(address[12:], port)
        return cls(address, port)

    @classmethod
    def parse(cls, text: str) -> Self:
        """The host that ``ip:port`` names; brackets around an IPv6 address are allowed.

        Raises:
            ValueError: not an address of numbers, or no port between 0 and 65535.
        """
        name, _, port = text.rpartition(":")
        if not (port.isascii() and port.isdigit() and int(port) <= MAX_PORT):
            raise ValueError(f"no port in {text!r}")
        try:
            if ":" in name:
                return cls.of(
                    IPv6Address(name.removeprefix("[").removesuffix("]")).packed, int(port)
                )
            return cls(IPv4Address(name).packed, int(port))
        except AddressValueError as error:
            raise ValueError(f"no address in {text!r}") from error

    @property
    def is_ipv6(self) -> bool:
        """Whether the address has 16 bytes."""
        return len(self.address) == 16

    @property
    def ip(self) -> str:
        """The address as Java prints it: all eight groups of an IPv6 address, none padded."""
        if not self.is_ipv6:
            return ".".join(map(str, self.address))
        groups = (int.from_bytes(self.address[at : at + 2], "big") for at in range(0, 16, 2))
        return ":".join(f"{group:x}" for group in groups)

    def __str__(self) -> str:
        """``ip:port``, without brackets (Java: ``NetworkUtil.socketAddress2String``)."""
        return f"{self.ip}:{self.port}"
