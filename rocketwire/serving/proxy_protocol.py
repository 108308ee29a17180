"""Headers of the PROXY protocol, versions 1 and 2: the address of the client of a load balancer.

Rules of this file: pure; the accepted headers are those of netty's decoder, except that a header
may be split anywhere, and that an error is raised as soon as it can be seen.

Java: ``NettyRemotingServer.HAProxyMessageHandler`` over netty's ``HAProxyMessageDecoder`` (4.1.130,
with which the tables of the tests were compared).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from struct import Struct
from typing import Final

from rocketwire.errors import DecodeError

V1_SIGNATURE: Final = b"PROXY "
V2_SIGNATURE: Final = b"\r\n\r\n\x00\r\nQUIT\n"
SIGNATURES: Final = (V1_SIGNATURE, V2_SIGNATURE)

V1_MAX_LINE: Final = 108  # maximum bytes of a version 1 line before its CRLF
MAX_NESTING: Final = 128  # maximum levels of TLVs within TLVs of the type SSL

_V1_FIELDS: Final = 6
_LOCAL: Final = 0x20
_PROXY: Final = 0x21
_UNSPECIFIED: Final = 0x00
_IPV4: Final = frozenset({0x11, 0x12})
_IPV6: Final = frozenset({0x21, 0x22})
_UNIX: Final = frozenset({0x31, 0x32})
_HEAD: Final = Struct(">12xBBH")
_IPV4_ADDRESSES: Final = Struct(">4s4sHH")
_IPV6_ADDRESSES: Final = Struct(">16s16sHH")
_UNIX_ADDRESSES: Final = Struct(">108s108s")
_TLV: Final = Struct(">BH")
_TLV_MIN_SIZE: Final = 4  # netty ignores fewer bytes at the end, although a TLV may have three
_TLV_SSL: Final = 0x20
_TLV_SSL_HEAD: Final = 5  # one byte of flags, four of the result of the verification
_IPV4_TEXT: Final = re.compile(r"(?:0?[0-9]{1,2}|[01][0-9]{2}|2[0-4][0-9]|25[0-5])")
_PORT: Final = re.compile(r"\+?0*([0-9]{1,5})")
_MAX_PORT: Final = 65_535


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyHeader:
    size: int  # in bytes
    # IP address of the client; None for UNKNOWN, LOCAL and sockets of the Unix family
    source: str | None = None
    source_port: int = 0  # its port; 0 if there is none

    @property
    def client(self) -> str | None:
        """``host:port`` of the client; None if the header does not contain both."""
        if self.source is None or not self.source_port:
            return None
        host = f"[{self.source}]" if ":" in self.source else self.source
        return f"{host}:{self.source_port}"


def begins_proxy_header(data: bytes | bytearray) -> bool:
    """Return whether a connection that begins with ``data`` may have a header."""
    return any(data.startswith(signature) or signature.startswith(data) for signature in SIGNATURES)


def read_proxy_header(data: bytes | bytearray) -> ProxyHeader | None:
    """Read the header at the beginning of ``data``; None while more bytes are needed."""
    if data.startswith(V1_SIGNATURE):
        return _read_v1(data)
    if len(data) < _HEAD.size:
        return None
    return _read_v2(data)


def _read_v1(data: bytes | bytearray) -> ProxyHeader | None:
    end = data.find(b"\r\n", 0, V1_MAX_LINE + 2)
    if end < 0:
        if len(data) >= V1_MAX_LINE + 2:
            raise _header_error(1, f"no end within {V1_MAX_LINE} bytes", data)
        return None
    line = data[:end].decode("iso-8859-1")
    fields = line.rstrip(" ").split(" ")
    family = fields[1] if len(fields) > 1 else ""
    size = end + 2
    if family == "UNKNOWN":
        return ProxyHeader(size=size)
    if family not in {"TCP4", "TCP6"}:
        raise _header_error(1, f"family {family!a}", data)
    if len(fields) != _V1_FIELDS:
        raise _header_error(1, f"{len(fields)} fields instead of {_V1_FIELDS}", data)
    read_address = _ipv4 if family == "TCP4" else _ipv6
    try:
        source, _ = read_address(fields[2]), read_address(fields[3])
        source_port, _ = _port(fields[4]), _port(fields[5])
    except ValueError as error:
        raise _header_error(1, str(error), data) from error
    return ProxyHeader(size=size, source=source, source_port=source_port)


def _ipv4(text: str) -> str:
    parts = text.split(".")
    if len(parts) != 4 or not all(map(_IPV4_TEXT.fullmatch, parts)):
        raise ValueError(f"{text!a} is not an IPv4 address")
    return ".".join(str(int(part)) for part in parts)


def _ipv6(text: str) -> str:
    address = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    try:
        return _format_address(IPv6Address(address.partition("%")[0]))
    except AddressValueError as error:
        raise ValueError(f"{text!a} is not an IPv6 address") from error


def _format_address(address: IPv4Address | IPv6Address) -> str:
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return str(mapped or address)


def _port(text: str) -> int:
    match = _PORT.fullmatch(text)
    port = int(match[1]) if match else 0
    if not 0 < port <= _MAX_PORT:
        raise ValueError(f"{text!a} is not a port")
    return port


def _read_v2(data: bytes | bytearray) -> ProxyHeader | None:
    command, family, length = _HEAD.unpack_from(data)
    addresses = _addresses(command, family, length, data)
    size = _HEAD.size + length
    if len(data) < size:
        return None
    if addresses is None:
        return ProxyHeader(size=size)
    begin = _HEAD.size + addresses.size
    try:
        _check_tlvs(bytes(data[begin:size]))
    except ValueError as error:
        raise _header_error(2, str(error), data) from error
    if family in _UNIX:
        return ProxyHeader(size=size)
    source, _, source_port, _ = addresses.unpack_from(data, _HEAD.size)
    address = IPv4Address if family in _IPV4 else IPv6Address
    return ProxyHeader(size=size, source=_format_address(address(source)), source_port=source_port)


def _addresses(command: int, family: int, length: int, data: bytes | bytearray) -> Struct | None:
    # None: there are no addresses, or they are ignored
    if command == _LOCAL:
        return None
    if command != _PROXY:
        raise _header_error(2, f"version and command 0x{command:02x}", data)
    if family == _UNSPECIFIED:
        return None
    if family in _IPV4:
        form = _IPV4_ADDRESSES
    elif family in _IPV6:
        form = _IPV6_ADDRESSES
    elif family in _UNIX:
        form = _UNIX_ADDRESSES
    else:
        raise _header_error(2, f"family and transport 0x{family:02x}", data)
    if length < form.size:
        raise _header_error(2, f"{length} bytes of addresses instead of {form.size}", data)
    return form


def _check_tlvs(data: bytes, level: int = 0) -> None:
    # additional fields have no effect; those inside one of type SSL follow its head
    position = 0
    while len(data) - position >= _TLV_MIN_SIZE:
        if level > MAX_NESTING:
            raise ValueError(f"TLVs are nested deeper than {MAX_NESTING} levels")
        tlv_type, length = _TLV.unpack_from(data, position)
        begin = position + _TLV.size
        position = begin + length
        if position > len(data):
            raise ValueError(f"a TLV of {length} bytes, but only {len(data) - begin} are left")
        value = data[begin:position]
        if tlv_type == _TLV_SSL:
            if length < _TLV_SSL_HEAD:
                raise ValueError(f"a TLV of type SSL with {length} bytes")
            _check_tlvs(value[_TLV_SSL_HEAD:], level + 1)


def _header_error(version: int, what: str, data: bytes | bytearray) -> DecodeError:
    return DecodeError(
        f"PROXY protocol v{version} header: {what}", offset=0, excerpt=bytes(data[:16])
    )
