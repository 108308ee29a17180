"""Packets in which others may be, that are not looked into: their names, so that it can be said that they were there.

Rules of this file: only numpy; a name is what the numbers say that are registered with IANA, nothing inside is looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire_tools.pcap.files.records import rows_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocketwire_tools.pcap.files.records import Integers, Records
    from rocketwire_tools.pcap.packets.skipped import Skipped

    Array = np.ndarray[Any, Any]

TUNNEL: Final = "tunnel"
"""What the names begin with."""
_UDP: Final = 17
_BY_TYPE: Final = {
    0x8100: f"{TUNNEL} of more than three VLAN tags",
    0x88A8: f"{TUNNEL} of more than three VLAN tags",
    0x8847: f"{TUNNEL} MPLS",
    0x8848: f"{TUNNEL} MPLS",
    0x8864: f"{TUNNEL} PPPoE",
}
_BY_PROTOCOL: Final = {
    4: f"{TUNNEL} IP in IP",
    41: f"{TUNNEL} IP in IP",
    47: f"{TUNNEL} GRE",
    50: f"{TUNNEL} IPsec",
}
_BY_PORT: Final = {
    4789: f"{TUNNEL} VXLAN",
    8472: f"{TUNNEL} VXLAN",  # the port of Linux before there was one
    6081: f"{TUNNEL} Geneve",
}


def count_types(skipped: Skipped, types: Array) -> None:
    """Count packets that are not IP.

    Args:
        skipped: counts them.
        types: Ethernet types.
    """
    _count(skipped, types, _BY_TYPE, "not IP")


def count_protocols(
    skipped: Skipped, records: Records, some: Array, at: Integers, protocol: Array
) -> None:
    """Count IP packets that are not TCP.

    Args:
        skipped: counts them.
        records: of which they are.
        some: which of them, as truths.
        at: where the transport header of each begins; it may not be there.
        protocol: of each.
    """
    of = np.flatnonzero(some)
    if not len(of):
        return
    protocol = protocol[of]
    udp = protocol == _UDP
    _count(skipped, protocol[~udp], _BY_PROTOCOL, "not TCP")
    ports: Any = rows_at(records.buffer, at[of[udp]] + 2, 2).view(">u2")
    _count(skipped, ports[:, 0], _BY_PORT, "not TCP")


def _count(skipped: Skipped, numbers: Array, names: Mapping[int, str], rest: str) -> None:
    for number, count in zip(*np.unique(numbers, return_counts=True), strict=True):
        skipped.count(names.get(int(number), rest), int(count))
