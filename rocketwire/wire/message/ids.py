"""The two types of message ids; both are upper-case hex, and 32 characters long with IPv4.

* The broker assigns the *offset id*: address and port of the broker, and the commit-log offset.
* The producer assigns the *unique key* (property ``UNIQ_KEY``): its address, process id, a
  constant, milliseconds since the start of the month, and a counter.

The text does not show its type.  This module reads no clock and draws no random numbers.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from rocketwire.errors import DecodeError, EncodeError
from rocketwire.wire.message.host import MAX_PORT, Host

_HEX_OF_AN_ID: Final = "(?:[0-9a-fA-F]{32}|[0-9a-fA-F]{56})"

# Milliseconds before the start of the month that count as its start, after a clock was set
TOLERATED_CLOCK_STEP: Final = 1_000_000


class OffsetMessageId(NamedTuple):
    """A decoded offset id (Java: ``MessageId``)."""

    store_host: Host  #: address of the broker
    commit_log_offset: int  #: position in the broker's commit log, int64


def create_offset_message_id(store_host: Host, commit_log_offset: int) -> str:
    """Encode an offset id (Java: ``MessageDecoder.createMessageId``).

    Raises:
        EncodeError: the offset is not an int64, or the host is invalid.
    """
    address, port = store_host
    if len(address) not in (4, 16) or not 0 <= port <= MAX_PORT:
        raise EncodeError(f"not a host: {store_host!r}", path="store_host")
    return (address + port.to_bytes(4, "big") + _int64(commit_log_offset)).hex().upper()


def decode_offset_message_id(text: str) -> OffsetMessageId:
    """Decode an offset id (Java: ``MessageDecoder.decodeMessageId``).

    Java ignores characters that are not hex digits, and treats a text of any other length as an
    IPv6 id.  Both are rejected here.

    Raises:
        DecodeError: not 32 or 56 hex digits, or a port beyond 65535.
    """
    raw = _bytes_of(text)
    width = len(raw) - 12
    port = int.from_bytes(raw[width : width + 4], "big")
    if port > MAX_PORT:
        raise DecodeError(f"port {port} is beyond 65535", path="store_host", offset=2 * width)
    return OffsetMessageId(
        Host.of(raw[:width], port), int.from_bytes(raw[width + 4 :], "big", signed=True)
    )


class UniqueKey(NamedTuple):
    """A decoded unique key."""

    address: bytes  #: address of the producer, 4 or 16 bytes; without one, four bytes of its clock
    process_id: int  #: its lowest 16 bits
    constant: int  #: unsigned 32 bits, the same for all keys of a process
    milliseconds: int  #: since the start of the month in the sender's time zone, unsigned 32 bits
    counter: int  #: its lowest 16 bits

    @property
    def ip(self) -> str:
        return Host(self.address, 0).ip


def encode_unique_key(key: UniqueKey) -> str:
    """Encode a unique key; numbers that are too wide lose their upper bits, as in Java.

    Raises:
        EncodeError: the address has neither 4 nor 16 bytes.
    """
    if len(key.address) not in (4, 16):
        raise EncodeError(f"an address of {len(key.address)} bytes", path="address")
    number = (
        (key.process_id & 0xFFFF) << 80
        | (key.constant & 0xFFFFFFFF) << 48
        | (key.milliseconds & 0xFFFFFFFF) << 16
        | (key.counter & 0xFFFF)
    )
    return (key.address + number.to_bytes(12, "big")).hex().upper()


def decode_unique_key(text: str) -> UniqueKey:
    """Decode a unique key.

    Java: ``MessageClientIDSetter.getIPFromID``, ``getPidFromID``, ``getNearlyTimeFromID``.

    Raises:
        DecodeError: not 32 or 56 hex digits.
    """
    raw = _bytes_of(text)
    address, numbers = raw[:-12], raw[-12:]
    return UniqueKey(
        address,
        process_id=int.from_bytes(numbers[:2], "big"),
        constant=int.from_bytes(numbers[2:6], "big"),
        milliseconds=int.from_bytes(numbers[6:10], "big"),
        counter=int.from_bytes(numbers[10:], "big"),
    )


class UniqueKeySequence:
    """Generates the unique keys of a process (Java: ``MessageClientIDSetter.createUniqID``).

    Raises:
        EncodeError: the address has neither 4 nor 16 bytes.
    """

    __slots__ = ("_format", "address", "constant", "counter", "month_start", "process_id")

    def __init__(
        self, *, address: bytes, process_id: int, constant: int, month_start: int, counter: int = 0
    ) -> None:
        self.address: bytes = address  #: address of this host, 4 or 16 bytes; must not be changed
        #: id of this process, of which 16 bits are used; must not be changed
        self.process_id: int = process_id
        #: 32 bits that two producers on a host do not share; must not be changed
        self.constant: int = constant
        #: start of the month here, milliseconds since 1970; the caller updates it
        self.month_start: int = month_start
        self.counter: int = counter  #: counter of the next key
        prefix = encode_unique_key(UniqueKey(address, process_id, constant, 0, 0))[:-12]
        self._format = prefix.encode() + b"%012X"

    def next_key(self, milliseconds: int) -> str:
        return self.next_in_ascii(milliseconds).decode()

    def next_in_ascii(self, milliseconds: int) -> bytes:
        """Return the next key in ASCII.

        Args:
            milliseconds: the time since 1970; up to 1000 s before the month count as its start.
        """
        elapsed = milliseconds - self.month_start
        if -TOLERATED_CLOCK_STEP < elapsed < 0:
            elapsed = 0
        counter = self.counter
        self.counter = counter + 1
        return self._format % ((elapsed & 0xFFFFFFFF) << 16 | counter & 0xFFFF)


def _bytes_of(text: str) -> bytes:
    if re.fullmatch(_HEX_OF_AN_ID, text) is None:
        message = f"a message id must have 32 or 56 hex digits, this has {len(text)} characters"
        raise DecodeError(message, path="message_id")
    return bytes.fromhex(text)


def _int64(value: int) -> bytes:
    try:
        return value.to_bytes(8, "big", signed=True)
    except OverflowError as error:
        raise EncodeError(f"{value} is not an int64", path="commit_log_offset") from error
