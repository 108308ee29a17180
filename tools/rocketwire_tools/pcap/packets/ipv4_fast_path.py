"""TCP segments in packets that are what nearly all are: Ethernet with any of three tags, IPv4 without options, TCP.

Rules of this file: only numpy; the headers of a packet are words, each of which is a row.  Whatever is out of the ordinary is left to ``packets``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from rocketwire_tools.pcap.files.records import rows_at

if TYPE_CHECKING:
    from rocketwire_tools.pcap.files.records import Integers, Records

    Array = np.ndarray[Any, Any]

_VLAN: Final = (0x8100, 0x88A8, 0x9100)
_MAY_BE_TAG: Final = np.isin(np.arange(256), [kind >> 8 for kind in _VLAN])
"""By the first byte of an Ethernet type, single ones of which are gathered in a third of the time of any others."""
TAGS: Final = 3
"""Tags of a packet that are looked behind."""
TCP: Final = 6


class Headers(NamedTuple):
    """Headers of packets.

    Attributes:
        at: where each packet would begin without its tags.
        words: a row for each of ``_WORDS`` words, which lie behind ``_FRONT`` bytes of a packet without tags.
        good: whether the packet is what nearly all are.
    """

    at: Integers
    words: Array
    good: Array


_FRONT: Final = 10
"""Bytes of a packet in front of the words: from there on all fields of IPv4 and TCP lie within words of 32 bits."""
_WORDS: Final = 10
_TYPE, _LENGTH, _FRAGMENT, _PROTOCOL, _SOURCE, _TARGET, _PORTS, _SEQUENCE, _ACKNOWLEDGED, _FLAGS = (
    range(_WORDS)
)
"""Words: the end of the Ethernet header; IP's version, header length, service and length; its number and fragment; time to live,
protocol and checksum; sender and receiver; then TCP's: both ports, both numbers, and header length, flags and window."""
_IPV4: Final = 0x0800
_VERSION: Final = 0x45
"""Version and header length of IPv4 without options."""
_LEAST: Final = 54
"""Bytes of the three headers without options."""


def headers(records: Records) -> Headers:
    """Gather the headers of Ethernet packets."""
    at = _behind_tags(records)
    rows: Any = rows_at(records.buffer, at + _FRONT, 4 * _WORDS)
    words: Array = rows.view(">u4").T.astype(np.uint32, order="C")
    return Headers(at, words, _are_usual(words, records.data + records.captured - at))


def _behind_tags(records: Records) -> Integers:
    """Where packets would begin without their tags."""
    at = records.data.copy()
    tagged = np.flatnonzero(_MAY_BE_TAG[np.frombuffer(records.buffer, np.uint8)[at + 12]])
    for _ in range(TAGS):
        kind: Any = rows_at(records.buffer, at[tagged] + 12, 2).view(">u2")[:, 0]
        tagged = tagged[is_tag(kind)]
        if not len(tagged):
            break
        at[tagged] += 4
    return at


def is_tag(kind: Array) -> Array:
    """Which Ethernet types are those of a tag."""
    a, b, c = (kind == each for each in _VLAN)
    tags: Array = a | b | c
    return tags


def _are_usual(words: Array, captured: Integers) -> Array:
    """Which packets are what nearly all are, undamaged and in one piece.

    Args:
        words: of their headers.
        captured: bytes of each, without those of tags.
    """
    size, first = words[_FLAGS] >> 28, words[_LENGTH]
    usual: Array = words[_TYPE] & 0xFFFF == _IPV4
    usual &= first >> 24 == _VERSION
    usual &= words[_FRAGMENT] & 0x3FFF == 0
    usual &= words[_PROTOCOL] >> 16 & 0xFF == TCP
    usual &= captured >= _LEAST
    usual &= size >= 5
    usual &= first & 0xFFFF >= 20 + 4 * size
    return usual


def segments(records: Records, some: Headers) -> tuple[Array, ...]:
    """The columns of ``packets.Segments``, an entry for each packet; where it is not good, anything."""
    words, at = some.words, some.at
    start = at + 34 + (words[_FLAGS] >> 28) * 4
    stop = at + 14 + (words[_LENGTH] & 0xFFFF)
    captured = np.minimum(stop, records.data + records.captured)
    captured -= start
    ports = words[_PORTS]
    return (
        np.arange(len(start)),
        words[_SOURCE].astype(np.int64) << 16 | ports >> 16,
        words[_TARGET].astype(np.int64) << 16 | ports & 0xFFFF,
        words[_SEQUENCE].astype(np.int64),
        words[_ACKNOWLEDGED].astype(np.int64),
        (words[_FLAGS] >> 16 & 0xFF).astype(np.int64),
        start,
        np.maximum(captured, 0, out=captured),
        stop - start,
    )
