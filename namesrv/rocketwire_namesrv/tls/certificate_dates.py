"""Until when a certificate is valid, read from its DER form.

Python's ssl says so of peers' certificates only, and the library that could say it is needed for
nothing else where certificates come from files.

Rules of this file: pure, and strict about nothing that it does not read: whether a certificate
makes sense is OpenSSL's to say.

Source: RFC 5280, sections 4.1 and 4.1.2.5.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Final

__all__ = ["expiry_of", "not_after"]

_SEQUENCE: Final = 0x30
_VERSION: Final = 0xA0  # the first field, where there is one
_BEFORE_VALIDITY: Final = 3  # serial number, signature algorithm, issuer
_UTC_TIME: Final = 0x17
_GENERALIZED_TIME: Final = 0x18
_LONG: Final = 0x80


def not_after(der: bytes) -> float:
    """The end of a certificate's validity, in seconds since 1970.

    Raises:
        ValueError: it is no certificate.
    """
    try:
        at = _inside(der, _inside(der, 0))
        if der[at] == _VERSION:
            at = _behind(der, at)
        for _ in range(_BEFORE_VALIDITY):
            at = _behind(der, at)
        at = _behind(der, _inside(der, at))
        tag, start, end = _element(der, at)
    except IndexError as error:
        raise ValueError("the certificate ends too early") from error
    return _time(tag, der[start:end].decode("ascii"))


def _element(der: bytes, at: int) -> tuple[int, int, int]:
    """Tag, beginning and end of the content of what is at a position."""
    tag, length, start = der[at], der[at + 1], at + 2
    if length >= _LONG:
        size = length - _LONG
        length = int.from_bytes(der[start : start + size], "big")
        start += size
    if start + length > len(der):
        raise IndexError
    return tag, start, start + length


def _inside(der: bytes, at: int) -> int:
    tag, start, _ = _element(der, at)
    if tag != _SEQUENCE:
        raise ValueError(f"there is no sequence at byte {at} of the certificate")
    return start


def _behind(der: bytes, at: int) -> int:
    return _element(der, at)[2]


def _time(tag: int, text: str) -> float:
    if tag == _UTC_TIME:  # two digits of the year: 50 to 49 are 1950 to 2049
        text = f"{'19' if text[:2] >= '50' else '20'}{text}"
    elif tag != _GENERALIZED_TIME:
        raise ValueError(f"there is no time in the certificate, but {tag:#x}")
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC).timestamp()


def expiry_of(der: bytes | None) -> float:
    """The end of a certificate's validity, in seconds since 1970; NaN if it is missing or invalid."""
    try:
        return math.nan if der is None else not_after(der)
    except ValueError:
        return math.nan
