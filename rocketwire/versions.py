"""``MQVersion``: the protocol version that every command carries, an ordinal in a fixed list.

Source: Java ``org.apache.rocketmq.common.MQVersion.Version`` of release 5.5.0.  The list also names
versions that were never released.  Its order never changes, so numbers can be compared.
"""

from __future__ import annotations

from enum import EnumType
from typing import TYPE_CHECKING

from rocketwire.codes import CURRENT_VERSION as _CURRENT
from rocketwire.codes import OpenIntEnum

if TYPE_CHECKING:
    from collections.abc import Iterator


def _names() -> Iterator[str]:
    yield "V3_0_0_SNAPSHOT"
    yield "V3_0_0_ALPHA1"
    for beta in range(1, 10):
        if beta >= 6:
            yield f"V3_0_0_BETA{beta}_SNAPSHOT"
        yield f"V3_0_0_BETA{beta}"
    yield "V3_0_0_FINAL"
    releases = [(3, 0, patch) for patch in range(1, 16)]
    releases += [(3, minor, patch) for minor in (1, 2) for patch in range(10)]
    releases += [(3, minor, patch) for minor in range(3, 10) for patch in range(1, 10)]
    releases += [
        (major, minor, patch) for major in (4, 5) for minor in range(10) for patch in range(10)
    ]
    for major, minor, patch in releases:
        yield f"V{major}_{minor}_{patch}_SNAPSHOT"
        yield f"V{major}_{minor}_{patch}"
    yield "HIGHER_VERSION"


class _MQVersionType(EnumType):
    if TYPE_CHECKING:  # the members are computed, so type checkers cannot see them

        def __getattr__(cls, name: str) -> MQVersion: ...


class MQVersion(OpenIntEnum, metaclass=_MQVersionType):
    """A protocol version; compare as integers (``version >= MQVersion.V4_9_4``)."""

    vars().update({name: ordinal for ordinal, name in enumerate(_names())})


# The version in rocketwire's own commands: the reference release
CURRENT_VERSION = MQVersion(_CURRENT)
