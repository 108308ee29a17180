"""``Host``: an IP address and a port, as in stored messages and message ids.

Names are never looked up.  An IPv4-mapped IPv6 address counts as the IPv4 address, as in Java's
``InetAddress.getByAddress``.
"""

from __future__ import annotations

from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final, NamedTuple, Self

MAX_PORT: Final = 65_535

_MAPPED_PREFIX: Final = bytes(10) + b"\xff\xff"


class Host(NamedTuple):
    """An address and a port (Java: ``InetSocketAddress`` with an address, not a name)."""

    address: bytes  #: 4 (IPv4) or 16 bytes (IPv6)
    port: int  #: 0 to 65535

    @classmethod
    def of(cls, address: bytes, port: int) -> Self:
        """Create a host; an IPv4-mapped address is converted to IPv4."""
        if len(address) == 16 and address.startswith(_MAPPED_PREFIX):
            return cls(address[12:], port)
        return cls(address, port)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse ``ip:port``; brackets around an IPv6 address are optional.

        Raises:
            ValueError: the address is not numeric, or the port is not between 0 and 65535.
        """
        ip, _, port = text.rpartition(":")
        if not (port.isascii() and port.isdigit() and int(port) <= MAX_PORT):
            raise ValueError(f"no port in {text!r}")
        try:
            if ":" in ip:
                address = IPv6Address(ip.removeprefix("[").removesuffix("]")).packed
                return cls.of(address, int(port))
            return cls(IPv4Address(ip).packed, int(port))
        except AddressValueError as error:
            raise ValueError(f"no address in {text!r}") from error

    @property
    def is_ipv6(self) -> bool:
        return len(self.address) == 16

    @property
    def ip(self) -> str:
        """The address as Java prints it: all eight groups of an IPv6 address, none padded."""
        if not self.is_ipv6:
            return ".".join(map(str, self.address))
        groups = (int.from_bytes(self.address[i : i + 2], "big") for i in range(0, 16, 2))
        return ":".join(f"{group:x}" for group in groups)

    def __str__(self) -> str:
        # Without brackets (Java: ``NetworkUtil.socketAddress2String``).
        return f"{self.ip}:{self.port}"
