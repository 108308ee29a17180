"""Numbers with thousands separators, which fastjson2 reads with Java's ``NumberFormat``.

Rules of this file: the parser reads the number at the start of a text in English notation and
ignores the rest.  fastjson2 uses it if a comma precedes the last three characters, and also for any
text of three characters without a comma.
"""

from __future__ import annotations

import math
import re
from typing import Final

_NUMBER: Final = r"(-?)(?:(∞)|(,*+\d[\d,]*+)(?:E(-?\d{1,9})(?!\d))?)"
_LONG_HIGH: Final = (1 << 63) - 1
_LONG_DIGITS: Final = 19


def formatted_number(text: str) -> int | float | None:
    """The number at the start of such a text: an integer if it fits a ``long``, else the nearest
    ``double``; None for other texts, and if the text does not start with a number."""
    if text.rfind(",") != len(text) - 4 or "." in text:
        return None
    match = re.match(_NUMBER, text)
    if match is None:
        return None
    minus, infinity, digits, exponent = match.groups("")
    sign = -1 if minus else 1
    if infinity:
        return sign * math.inf
    from decimal import Decimal

    number = Decimal(f"{digits.replace(',', '')}E{exponent or 0}")
    if number.adjusted() < _LONG_DIGITS and number == number.to_integral_value():
        integer = sign * int(number)
        if -_LONG_HIGH - 1 <= integer <= _LONG_HIGH:
            return integer
    return sign * float(number)
