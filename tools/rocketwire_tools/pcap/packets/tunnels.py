"""Names of tunnels, whose inner packets are not decoded, so that reports can name them.

Names come from numbers registered with IANA; the content is not inspected.
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
"""Prefix of the names."""
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
    8472: f"{TUNNEL} VXLAN",  # Linux's port before the registration
    6081: f"{TUNNEL} Geneve",
}


def count_types(skipped: Skipped, types: Array) -> None:
    """Count packets that are not IP.

    Args:
        skipped: the counts.
        types: Ethernet types.
    """
    _count(skipped, types, _BY_TYPE, "not IP")


def count_protocols(
    skipped: Skipped, records: Records, mask: Array, offset: Integers, protocol: Array
) -> None:
    """Count IP packets that are not TCP.

    Args:
        skipped: the counts.
        records: hold the packets.
        mask: the packets to count.
        offset: of each transport header, which may be missing.
        protocol: of each.
    """
    numbers = np.flatnonzero(mask)
    if not len(numbers):
        return
    protocol = protocol[numbers]
    udp = protocol == _UDP
    _count(skipped, protocol[~udp], _BY_PROTOCOL, "not TCP")
    ports: Any = rows_at(records.buffer, offset[numbers[udp]] + 2, 2).view(">u2")
    _count(skipped, ports[:, 0], _BY_PORT, "not TCP")


def _count(skipped: Skipped, numbers: Array, names: Mapping[int, str], default: str) -> None:
    for number, count in zip(*np.unique(numbers, return_counts=True), strict=True):
        skipped.count(names.get(int(number), default), int(count))
