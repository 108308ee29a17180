"""Any bytes are ``checkpoint`` and ``config/timercheck``, or a ``DecodeError``."""

from __future__ import annotations

import contextlib

from rocketwire.errors import DecodeError
from rocketwire.store.checkpoint import decode_checkpoint, encode_checkpoint
from rocketwire.store.timers import decode_timer_check
from tests.fuzz import stores


def read(data: bytes) -> None:
    """As both."""
    with contextlib.suppress(DecodeError):
        decode_timer_check(data)
    checkpoint = decode_checkpoint(data)
    assert checkpoint.min_timestamp >= 0
    assert encode_checkpoint(checkpoint).startswith(data[:48])


def start() -> list[bytes]:
    """Those of all stores, with the zeros behind them."""
    return [seed.ljust(64, b"\0") for seed in stores.seeds("/checkpoint", "/timercheck")]
