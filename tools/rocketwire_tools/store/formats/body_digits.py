"""Stored bodies as hexadecimal or base64 digits: all of a block are encoded at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pybase64

from rocketwire_tools.store.engine.arrow import gather

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire_tools.store.engine.columns import Bytes, Int64s, Messages

    Digits = tuple[bytes | bytearray, Int64s]
    """Digits of all bodies, joined, and the number of each body's digits."""

_GROUP: Final = 3
_DIGITS_OF_GROUP: Final = 4
_PAD: Final = ord("=")


def hex_digits(messages: Messages) -> Digits:
    bodies = _join(messages.data, messages.bodies, messages.body_sizes)
    return bodies.data.hex().encode(), 2 * messages.body_sizes


def base64_digits(messages: Messages) -> Digits:
    """Bodies as base64, each with its padding.

    Each body is joined with the one or two bytes that follow it in the block, so that it fills its
    last group; these bytes become zeros, and their digits become ``=``.
    """
    padding = -messages.body_sizes % _GROUP
    sizes = messages.body_sizes + padding
    ends = np.cumsum(sizes)
    bodies = _join(messages.data, messages.bodies, sizes)
    for count in (1, 2):
        bodies[ends[padding >= count] - count] = 0
    digits = bytearray(pybase64.b64encode(bodies.data))
    texts = np.frombuffer(digits, np.uint8)
    sizes = sizes // _GROUP * _DIGITS_OF_GROUP
    ends = np.cumsum(sizes)
    for count in (1, 2):
        texts[ends[padding >= count] - count] = _PAD
    return digits, sizes


DIGITS: Final[dict[str, Callable[[Messages], Digits]]] = {
    "hex": hex_digits,
    "base64": base64_digits,
}
"""Name of a form of bodies → the digits of it."""


def _join(data: Bytes, starts: Int64s, sizes: Int64s) -> Bytes:
    if len(starts) and int((starts + sizes).max()) > len(data):
        data = np.concatenate([data, np.zeros(_GROUP, np.uint8)])
    buffer: Any = gather(data, starts, sizes).buffers()[2]
    joined: Bytes = np.frombuffer(buffer or b"", np.uint8)[: int(sizes.sum())]
    return joined if joined.flags.writeable else joined.copy()
