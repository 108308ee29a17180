"""Numbers as Java's ``NumberFormat`` reads them: fastjson2 asks it about texts with thousands separators.

Rules of this file: it reads as much of a text as is a number, in the English way, and does not mind what follows.  fastjson2 looks
for a comma before the last three characters; a text of three characters without a comma passes for one as well.
"""

from __future__ import annotations

import math
import re
from typing import Final

_NUMBER: Final = r"(-?)(?:(∞)|(,*+\d[\d,]*+)(?:E(-?\d{1,9})(?!\d))?)"
_LONG_HIGH: Final = (1 << 63) - 1
_LONG_DIGITS: Final = 19


def formatted_number(text: str) -> int | float | None:
    """The number at the start of such a text: an integer if a ``long`` holds it, else the nearest ``double``; None if it is no
    such text, or begins otherwise."""
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
        whole = sign * int(number)
        if -_LONG_HIGH - 1 <= whole <= _LONG_HIGH:
            return whole
    return sign * float(number)
