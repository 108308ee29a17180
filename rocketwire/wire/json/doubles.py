"""Doubles as Java prints them, and as fastjson writes them, which differs.

``Double.toString`` follows JDK 8 to 18, on which the reference releases run.  Its algorithm uses
estimates and does not always print the shortest digits: 2^-44 has one more, 1E23 is
``9.999999999999999E22`` (JDK-4511638, fixed in JDK 19).  Every estimate and every overflow below
decides on a digit.
"""

from __future__ import annotations

import math
import struct
from typing import Final

_BITS: Final = struct.Struct(">q")
_DOUBLE: Final = struct.Struct(">d")
_FRACTION: Final = 52  # bits of the fraction, without the implicit bit of normal numbers
_LOG_2: Final = 0.301029995663981
_EXACT_POWERS: Final = tuple((5**power).bit_length() if power else 0 for power in range(27))
_LONG: Final = 64
# Bits of Java's integer types; Java uses the smallest that holds the number and the divisor
_INTEGERS: Final = (32, _LONG)


def double_text(value: float) -> str:
    """Format a double as Java does: ``100.0``, ``1.0E10``, ``NaN``, ``-Infinity``."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    sign = "-" if math.copysign(1, value) < 0 else ""
    if not value:
        return f"{sign}0.0"
    return _format(sign, *_digits(abs(value)))


def shortest_text(value: float, *, farther: bool) -> str:
    """Format a finite number as Java's JSON libraries do, with the shortest digits.

    Of two nearest texts fastjson2 has the one farther from zero, 1.2.83 that with an even digit.
    """
    literal = float.__repr__(value)
    if not value:
        return literal
    two_digits = f"{value:.1e}"  # Java prints two digits where one is enough
    mantissa, _, power = (two_digits if float(two_digits) == value else literal).partition("e")
    integer, _, fraction = mantissa.lstrip("-").partition(".")
    exponent = int(power or 0) - len(fraction)
    digits = int(integer + fraction)
    digits += farther and _is_halfway(abs(value), digits, exponent)
    figures = str(digits)
    return _format("-" if value < 0 else "", figures.rstrip("0"), len(figures) + exponent)


def _is_halfway(value: float, digits: int, exponent: int) -> bool:
    numerator, denominator = value.as_integer_ratio()
    above: int = 2 * numerator * 10 ** max(0, -exponent)
    below: int = denominator * (2 * digits + 1) * 10 ** max(0, exponent)
    return above == below


def _format(sign: str, digits: str, point: int) -> str:
    # Java writes no exponent from 0.001 to 10,000,000.
    if 0 < point < 8:
        return f"{sign}{digits[:point].ljust(point, '0')}.{digits[point:] or '0'}"
    if -3 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{point - 1}"


def _digits(value: float) -> tuple[str, int]:
    (bits,) = _BITS.unpack(_DOUBLE.pack(value))
    exponent, fraction = bits >> _FRACTION, bits & (1 << _FRACTION) - 1
    if exponent:
        fraction |= 1 << _FRACTION
        significant = _FRACTION + 1
    else:
        significant = fraction.bit_length()
        exponent = significant - _FRACTION
        fraction <<= _FRACTION + 1 - significant
    exponent -= 1023
    kept = (fraction // (fraction & -fraction)).bit_length()
    if kept <= exponent + 1 < _LONG:
        return _digits_of_integer(int(value), exponent - significant - 1)
    return _digits_of_any(fraction, kept, exponent, significant)


def _digits_of_integer(number: int, beyond: int) -> tuple[str, int]:
    # Without those that ``beyond`` binary places do not fix.
    dropped = math.floor(beyond * _LOG_2) if beyond > 1 else 0
    if dropped:
        number, remainder = divmod(number, 10**dropped)
        number += remainder >= 10**dropped // 2
    digits = str(number)
    return digits.rstrip("0"), len(digits) + dropped


def _digits_of_any(fraction: int, kept: int, exponent: int, significant: int) -> tuple[str, int]:
    # ``fraction`` has 53 bits, with the binary point after the first, and ``kept`` bits without
    # trailing zeros; ``exponent`` is a power of 2.
    estimate = (fraction / (1 << _FRACTION) - 1.5) * 0.289529654 + 0.176091259 + exponent * _LOG_2
    power = math.floor(estimate)
    fraction_bits = max(0, kept - exponent - 1)
    fives, tens = max(0, -power), max(0, power)
    number_twos, divisor_twos = fives + fraction_bits + exponent - kept + 1, tens + fraction_bits
    margin_twos = fives + fraction_bits + exponent - significant
    shared = min(number_twos, divisor_twos)
    number_twos, divisor_twos, margin_twos = (
        twos - shared for twos in (number_twos, divisor_twos, margin_twos)
    )
    if kept == 1:
        margin_twos -= 1  # the next smaller number is half as far away
    if margin_twos < 0:
        number_twos, divisor_twos, margin_twos = (
            number_twos - margin_twos,
            divisor_twos - margin_twos,
            0,
        )
    number_bits = kept + number_twos + _bits_of_power(fives)
    tenfold_bits = divisor_twos + 1 + _bits_of_power(tens + 1)
    number = (fraction >> _FRACTION + 1 - kept) * 5**fives << number_twos
    divisor = 5**tens << divisor_twos
    margin = 5**fives << margin_twos
    bits = max(number_bits, tenfold_bits)
    size = next((size for size in _INTEGERS if bits < size), 0)
    return _divide(number, divisor, margin, power, size)


def _bits_of_power(power: int) -> int:
    return _EXACT_POWERS[power] if power < len(_EXACT_POWERS) else power * 3


def _divide(number: int, divisor: int, margin: int, power: int, size: int) -> tuple[str, int]:
    # The digits of a quotient below ten, until the remainder is within ``margin``, which has the
    # unit of the dividend. ``power`` is that of the first digit. Sums wrap at ``size`` bits, as
    # those of Java's integer type; 0 is unlimited.
    tenfold = divisor * 10
    digits: list[int] = []
    low = high = False
    first = True
    while not (low or high):
        digit, number = divmod(number, divisor)
        number, margin = number * 10, _wrap(margin * 10, size)
        low, high = number < margin, _wrap(number + margin, size) > tenfold - (size == 0)
        if margin <= 0:  # Java's integer overflowed: the margin exceeds everything
            low = high = True
        if digits or digit or high:
            digits.append(digit)
        else:
            power -= 1  # the estimate was too large by one
        if first and not -3 <= power < 8:
            low = high = False  # Java prints a digit after the point too
        first = False
    if high and (not low or _rounds_up(2 * number - tenfold, digits[-1])):
        text = str(int("".join(map(str, digits))) + 1)
        return text.rstrip("0") if len(text) > len(digits) else text, power + 1 + len(text) - len(
            digits
        )
    return "".join(map(str, digits)), power + 1


def _wrap(number: int, size: int) -> int:
    if not size:
        return number
    half = 1 << (size - 1)
    return (number + half) % (2 * half) - half


def _rounds_up(difference: int, last: int) -> bool:
    # To the nearer digit, in a tie to the even one.
    return difference > 0 or (difference == 0 and last % 2 == 1)
