"""Times and numbers on command lines and in tables."""

from __future__ import annotations

import argparse
import re
import time
from datetime import UTC, datetime, timedelta
from typing import Final

FORMS: Final = "now, 2h ago, 2026-01-31T12:00:00Z (UTC without a zone), or milliseconds since 1970"
"""What ``parse_time`` accepts, for ``--help`` and errors; mqadmin's form is accepted too."""

_AGO: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|[smhdw])\s+ago")
_UNITS: Final = {
    "ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks",
}  # fmt: skip


def parse_time(text: str) -> int:
    """Read one of ``FORMS`` as milliseconds since 1970; ``ValueError`` for another text."""
    text = text.strip()
    if text in ("now", "currentTimeMillis"):
        return time.time_ns() // 1_000_000
    if text.isascii() and text.isdecimal() and len(text) < 16:
        return int(text)
    try:
        if (ago := _AGO.fullmatch(text)) is not None:
            age = timedelta(**{_UNITS[ago[2]]: float(ago[1])})
            return time.time_ns() // 1_000_000 - round(age / timedelta(milliseconds=1))
        if "#" in text:  # local time
            moment = datetime.strptime(f"{text}000", "%Y-%m-%d#%H:%M:%S:%f").astimezone()
        else:
            moment = datetime.fromisoformat(text)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{text!r}: must be {FORMS}") from error


def time_argument(text: str) -> int:
    try:
        return parse_time(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def utc(millis: float) -> str:
    """Format milliseconds since 1970 in ISO 8601; as a number if no calendar has that time."""
    try:
        moment = datetime.fromtimestamp(millis / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return str(millis)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


_LONGEST = 18
"""Digits that fit into 64 bits, whatever they are."""


def number_in(text: str | None) -> int | None:
    """A number from 0 that a property of a message holds; None for any other text."""
    is_number = text is not None and text.isascii() and text.isdecimal()
    return int(text) if text is not None and is_number and len(text) <= _LONGEST else None


def positive(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r}: must be a positive integer")
    return int(text)


def natural(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r}: must be 0 or a positive integer")
    return int(text)
