"""Reads the expiry of a certificate from its DER form.

Python's ssl returns it for peers' certificates only, and a library for it would not be needed for
anything else if certificates come from files.

Rules of this file: pure, and strict only about the fields that it reads: OpenSSL checks
certificates.

Source: RFC 5280, sections 4.1 and 4.1.2.5.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Final

_SEQUENCE: Final = 0x30
_VERSION: Final = 0xA0  # the first field, where there is one
_BEFORE_VALIDITY: Final = 3  # serial number, signature algorithm, issuer
_UTC_TIME: Final = 0x17
_GENERALIZED_TIME: Final = 0x18
_LONG: Final = 0x80


def not_after(der: bytes) -> float:
    """The end of a certificate's validity, in seconds since 1970.

    Raises:
        ValueError: it is not a certificate.
    """
    try:
        position = _start_of(der, _start_of(der, 0))
        if der[position] == _VERSION:
            position = _end_of(der, position)
        for _ in range(_BEFORE_VALIDITY):
            position = _end_of(der, position)
        position = _end_of(der, _start_of(der, position))
        tag, start, end = _element(der, position)
    except IndexError as error:
        raise ValueError("the certificate ends too early") from error
    return _time(tag, der[start:end].decode("ascii"))


def _element(der: bytes, position: int) -> tuple[int, int, int]:
    tag, length, start = der[position], der[position + 1], position + 2
    if length >= _LONG:
        size = length - _LONG
        length = int.from_bytes(der[start : start + size], "big")
        start += size
    if start + length > len(der):
        raise IndexError
    return tag, start, start + length


def _start_of(der: bytes, position: int) -> int:
    tag, start, _ = _element(der, position)
    if tag != _SEQUENCE:
        raise ValueError(f"there is no sequence at byte {position} of the certificate")
    return start


def _end_of(der: bytes, position: int) -> int:
    return _element(der, position)[2]


def _time(tag: int, text: str) -> float:
    if tag == _UTC_TIME:  # two digits of the year: 50 to 49 are 1950 to 2049
        text = f"{'19' if text[:2] >= '50' else '20'}{text}"
    elif tag != _GENERALIZED_TIME:
        raise ValueError(f"there is no time in the certificate, but {tag:#x}")
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC).timestamp()


def expiry_of(der: bytes | None) -> float:
    """The end of a certificate's validity, in seconds since 1970; NaN if it is missing or
    invalid."""
    try:
        return math.nan if der is None else not_after(der)
    except ValueError:
        return math.nan
