"""TCP segments in packets that are what nearly all are: Ethernet with any of three tags, IPv4 without options, TCP.

Rules of this file: only numpy; all headers of a packet are one row.  Whatever is out of the ordinary is left to ``packets``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from rocketwire_tools.pcap.capture import rows_at

if TYPE_CHECKING:
    from rocketwire_tools.pcap.capture import Integers, Records

    Array = np.ndarray[Any, Any]

_VLAN: Final = (0x8100, 0x88A8, 0x9100)
TAGS: Final = 3
"""Tags of a packet that are looked behind."""
TCP: Final = 6


class Headers(NamedTuple):
    """Headers of packets.

    Attributes:
        at: where each packet would begin without its tags.
        rows: the headers, without tags.
        good: whether the packet is what nearly all are.
    """

    at: Integers
    rows: Array
    good: Array


_USUAL: Final = np.dtype(
    {
        "names": [
            "type",
            "kind",
            "length",
            "fragment",
            "source",
            "target",
            "source_port",
            "target_port",
            "sequence",
            "acknowledged",
            "size",
            "flags",
        ],
        "formats": [
            ">u2",
            "<u4",
            ">u2",
            "<u4",
            ">u4",
            ">u4",
            ">u2",
            ">u2",
            ">u4",
            ">u4",
            "u1",
            "u1",
        ],
        "offsets": [12, 12, 16, 20, 26, 30, 34, 36, 38, 42, 46, 47],
        "itemsize": 54,
    }
)
"""The headers of nearly all packets: Ethernet, IPv4 without options, TCP; tags lie in front of ``type``.  ``kind`` has the Ethernet
type and IP's version and header length, ``fragment`` that and the protocol, ``size`` that of TCP's header."""


def headers(records: Records) -> Headers:
    """Gather the headers of Ethernet packets."""
    at, rows = records.data.copy(), rows_at(records.buffer, records.data, _USUAL.itemsize)
    good = _are_usual(rows, records.captured)
    for tags in range(1, TAGS + 1):
        other = np.flatnonzero(~good)
        tagged = other[is_tag(rows.view(_USUAL)["type"][other, 0])]
        if not len(tagged):
            break
        at[tagged] += 4
        rows[tagged] = rows_at(records.buffer, at[tagged], _USUAL.itemsize)
        good[tagged] = _are_usual(rows[tagged], records.captured[tagged] - 4 * tags)
    return Headers(at, rows, good)


def is_tag(kind: Array) -> Array:
    """Which Ethernet types are those of a tag."""
    a, b, c = (kind == each for each in _VLAN)
    tags: Array = a | b | c
    return tags


def _are_usual(rows: Array, captured: Integers) -> Array:
    """Which packets are what nearly all are, undamaged and in one piece.

    Args:
        rows: their headers, without tags.
        captured: bytes of each, without those of tags.
    """
    head: Any = rows.view(_USUAL)[:, 0]
    size = head["size"] >> 4
    usual: Array = (
        (head["kind"] & 0xFFFFFF == 0x450008)
        & (head["fragment"] & 0xFF00FF3F == TCP << 24)
        & (captured >= _USUAL.itemsize)
        & (size >= 5)
        & (head["length"] >= 20 + 4 * size)
    )
    return usual


def segments(records: Records, some: Headers) -> tuple[Array, ...]:
    """The columns of ``packets.Segments``, an entry for each packet; where it is not good, anything."""
    head: Any = some.rows.view(_USUAL)[:, 0]
    start = some.at + 34 + (head["size"] >> 4) * 4
    stop = some.at + 14 + head["length"]
    captured = np.minimum(stop, records.data + records.captured) - start
    return (
        np.arange(len(start)),
        head["source"].astype(np.int64) << 16 | head["source_port"],
        head["target"].astype(np.int64) << 16 | head["target_port"],
        head["sequence"].astype(np.int64),
        head["acknowledged"].astype(np.int64),
        head["flags"].astype(np.int64),
        start,
        np.maximum(captured, 0),
        stop - start,
    )
