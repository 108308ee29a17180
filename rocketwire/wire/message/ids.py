"""The two kinds of message id; both are upper-case hex and, with IPv4, 32 characters long.

* The *offset id* is given by the broker: address and port of its store, then the commit-log offset.
* The *unique key* is given by the sender (property ``UNIQ_KEY``): its address, process, a constant,
  milliseconds since the start of the month, a counter.

Nothing in the text tells one from the other; whoever reads has to know.  No clock and no chance
here: address, process id, constant, start of the month and counter come in.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from rocketwire.errors import DecodeError, EncodeError
from rocketwire.wire.message.host import MAX_PORT, Host

_HEX_OF_AN_ID: Final = "(?:[0-9a-fA-F]{32}|[0-9a-fA-F]{56})"

TOLERATED_CLOCK_STEP: Final = 1_000_000
"""Milliseconds before the start of the month that still count as its start: a clock was set."""


class OffsetMessageId(NamedTuple):
    """What an offset id says (Java: ``MessageId``).

    Attributes:
        store_host: where the message lies.
        commit_log_offset: where in the broker's commit log it starts, int64.
    """

    store_host: Host
    commit_log_offset: int


def create_offset_message_id(store_host: Host, commit_log_offset: int) -> str:
    """The offset id of a message (Java: ``MessageDecoder.createMessageId``).

    Raises:
        EncodeError: the offset is not an int64, or the host is none.
    """
    address, port = store_host
    if len(address) not in (4, 16) or not 0 <= port <= MAX_PORT:
        raise EncodeError(f"not a host: {store_host!r}", path="store_host")
    return (address + port.to_bytes(4, "big") + _int64(commit_log_offset)).hex().upper()


def decode_offset_message_id(text: str) -> OffsetMessageId:
    """Where the message of an offset id lies (Java: ``MessageDecoder.decodeMessageId``).

    Java reads past characters that are no hex digits and takes any text of other lengths for an
    IPv6 id; both are refused here.

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
    """What a unique key says.

    Attributes:
        address: of the sender, 4 or 16 bytes; where it has none, four bytes of its clock.
        process_id: its lowest 16 bits.
        constant: unsigned 32 bits, the same for all keys of one process.
        milliseconds: since the start of the month in the sender's time zone, unsigned 32 bits.
        counter: its lowest 16 bits.
    """

    address: bytes
    process_id: int
    constant: int
    milliseconds: int
    counter: int

    @property
    def ip(self) -> str:
        """The address as text."""
        return Host(self.address, 0).ip


def encode_unique_key(key: UniqueKey) -> str:
    """The text of a unique key; numbers that are too wide lose their upper bits, as in Java.

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
    """What a unique key says (Java: ``MessageClientIDSetter.getIPFromID``, ``getPidFromID``,
    ``getNearlyTimeFromID``).

    Raises:
        DecodeError: not 32 or 56 hex digits.
    """
    raw = _bytes_of(text)
    address, rest = raw[:-12], raw[-12:]
    return UniqueKey(
        address,
        process_id=int.from_bytes(rest[:2], "big"),
        constant=int.from_bytes(rest[2:6], "big"),
        milliseconds=int.from_bytes(rest[6:10], "big"),
        counter=int.from_bytes(rest[10:], "big"),
    )


class UniqueKeySequence:
    """The unique keys of one process, one after the other (Java:
    ``MessageClientIDSetter.createUniqID``).

    The first three stay as they are once it is made.

    Raises:
        EncodeError: the address has neither 4 nor 16 bytes.

    Attributes:
        address: of this host, 4 or 16 bytes.
        process_id: of this process; 16 bits of it are used.
        constant: any 32 bits that two senders on one host do not share.
        month_start: when the month began here, in milliseconds since 1970; the caller moves it on.
        counter: number of the next key.
    """

    __slots__ = ("_form", "address", "constant", "counter", "month_start", "process_id")

    def __init__(
        self, *, address: bytes, process_id: int, constant: int, month_start: int, counter: int = 0
    ) -> None:
        """What all keys begin with is written once."""
        self.address = address
        self.process_id = process_id
        self.constant = constant
        self.month_start = month_start
        self.counter = counter
        prefix = encode_unique_key(UniqueKey(address, process_id, constant, 0, 0))[:-12]
        self._form = prefix.encode() + b"%012X"

    def next_key(self, milliseconds: int) -> str:
        """The next key; ``milliseconds`` as of ``next_in_ascii``."""
        return self.next_in_ascii(milliseconds).decode()

    def next_in_ascii(self, milliseconds: int) -> bytes:
        """The next key, as it is written.

        Args:
            milliseconds: the time now, since 1970.  Up to 1000 s before the month it counts as its
                start.
        """
        elapsed = milliseconds - self.month_start
        if -TOLERATED_CLOCK_STEP < elapsed < 0:
            elapsed = 0
        counter = self.counter
        self.counter = counter + 1
        return self._form % ((elapsed & 0xFFFFFFFF) << 16 | counter & 0xFFFF)


def _bytes_of(text: str) -> bytes:
    if re.fullmatch(_HEX_OF_AN_ID, text) is None:
        raise DecodeError(f"not 32 or 56 hex digits but {len(text)} characters", path="message_id")
    return bytes.fromhex(text)


def _int64(value: int) -> bytes:
    try:
        return value.to_bytes(8, "big", signed=True)
    except OverflowError as error:
        raise EncodeError(f"{value} is not an int64", path="commit_log_offset") from error
