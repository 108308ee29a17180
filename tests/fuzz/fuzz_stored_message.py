"""Any bytes are stored messages or a ``DecodeError``, and a batch or a ``DecodeError``."""

from __future__ import annotations

import contextlib

from rocketwire.errors import DecodeError
from rocketwire.wire.message.batch import decode_batch
from rocketwire.wire.message.lazy_reader import decode_stored_messages
from rocketwire.wire.message.stored import StoredLimits, unwrap_inner_batch
from tests.fuzz import seeds

LIMITS = StoredLimits(max_body=1 << 20, max_inflated=1 << 20)


def read(data: bytes) -> None:
    """Strictly and as Java reads; then as a batch."""
    for message in decode_stored_messages(data, strict=False, limits=LIMITS):
        try:
            unwrap_inner_batch(message)
        except DecodeError:
            continue
    with contextlib.suppress(DecodeError):
        decode_batch(data)
    decode_stored_messages(data, check_crc=True, limits=LIMITS)


def start() -> list[bytes]:
    """Both layouts, compressed and not, and an inner batch."""
    return seeds.stored_messages()
