"""Doubles as Java prints them and as fastjson writes them, which are not the same.

Rules of this file: the digits that Java prints (``Double.toString``) are those of JDK 8 to 18, on
which the reference releases run.  There they are made one by one with estimates on the way, and are
not always the fewest that give the double back: 2^-44 has one more, 1E23 is
``9.999999999999999E22`` (JDK-4511638, mended in JDK 19).  Each estimate below, and each overflow, is
one that decides about a digit.
"""

from __future__ import annotations

import math
import struct
from typing import Final

_BITS: Final = struct.Struct(">q")
_DOUBLE: Final = struct.Struct(">d")
_FRACTION: Final = 52
"""Bits of the fraction, to which a number that is not subnormal adds one."""
_LOG_2: Final = 0.301029995663981
_EXACT_POWERS: Final = tuple((5**power).bit_length() if power else 0 for power in range(27))
_LONG: Final = 64
_INTEGERS: Final = (32, _LONG)
"""Bits of Java's integers; the smaller is taken that holds a number and ten times its divisor."""


def double_text(value: float) -> str:
    """``100.0``, ``1.0E10``, ``NaN``, ``-Infinity``: a double as Java prints it."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    sign = "-" if math.copysign(1, value) < 0 else ""
    if not value:
        return f"{sign}0.0"
    return _laid_out(sign, *_digits(abs(value)))


def shortest_text(value: float, *, farther: bool) -> str:
    """A finite number as the JSON libraries write it: with the fewest digits that give it back.

    Args:
        value: the number.
        farther: whether of two that are equally near it is the one farther from zero (fastjson2),
            or that with an even digit (1.2.83).
    """
    plain = float.__repr__(value)
    if not value:
        return plain
    short = f"{value:.1e}"  # Java prints two digits where one would do, and then the nearest two
    mantissa, _, power = (short if float(short) == value else plain).partition("e")
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    exponent = int(power or 0) - len(fraction)
    digits = int(whole + fraction)
    digits += farther and _is_halfway(abs(value), digits, exponent)
    figures = str(digits)
    return _laid_out("-" if value < 0 else "", figures.rstrip("0"), len(figures) + exponent)


def _is_halfway(value: float, digits: int, exponent: int) -> bool:
    """Whether a number is as far from ``digits`` times ten to the ``exponent`` as from one more."""
    numerator, denominator = value.as_integer_ratio()
    above: int = 2 * numerator * 10 ** max(0, -exponent)
    below: int = denominator * (2 * digits + 1) * 10 ** max(0, exponent)
    return above == below


def _laid_out(sign: str, digits: str, point: int) -> str:
    """Digits with a point after the first of them and an exponent, or without one from 0.001 to
    10,000,000."""
    if 0 < point < 8:
        return f"{sign}{digits[:point].ljust(point, '0')}.{digits[point:] or '0'}"
    if -3 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{point - 1}"


def _digits(value: float) -> tuple[str, int]:
    """The digits of a number above zero, and how many of them stand before the point."""
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
    """The digits of an integer, without those that ``beyond`` binary places leave open."""
    dropped = math.floor(beyond * _LOG_2) if beyond > 1 else 0
    if dropped:
        number, rest = divmod(number, 10**dropped)
        number += rest >= 10**dropped // 2
    digits = str(number)
    return digits.rstrip("0"), len(digits) + dropped


def _digits_of_any(fraction: int, kept: int, exponent: int, significant: int) -> tuple[str, int]:
    """The digits of ``fraction`` (53 bits, ``kept`` of them without the zeros behind) with the point
    after the first bit, times 2 to the ``exponent``."""
    estimate = (fraction / (1 << _FRACTION) - 1.5) * 0.289529654 + 0.176091259 + exponent * _LOG_2
    power = math.floor(estimate)
    behind = max(0, kept - exponent - 1)
    fives, tens = max(0, -power), max(0, power)
    number_twos, divisor_twos = fives + behind + exponent - kept + 1, tens + behind
    margin_twos = fives + behind + exponent - significant
    shared = min(number_twos, divisor_twos)
    number_twos, divisor_twos, margin_twos = (
        twos - shared for twos in (number_twos, divisor_twos, margin_twos)
    )
    if kept == 1:
        margin_twos -= 1  # the next number below is half as far away
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
    most = max(number_bits, tenfold_bits)
    size = next((size for size in _INTEGERS if most < size), 0)
    return _divided(number, divisor, margin, power, size)


def _bits_of_power(power: int) -> int:
    return _EXACT_POWERS[power] if power < len(_EXACT_POWERS) else power * 3


def _divided(number: int, divisor: int, margin: int, power: int, size: int) -> tuple[str, int]:
    """Digits of a quotient below ten, until what is left is within the margin.

    Args:
        number: what is divided.
        divisor: by what.
        margin: what may be missing, in the same unit.
        power: of ten, of the first digit.
        size: bits of the integers that Java takes, whose sums may overflow; 0 where there is no
            limit, and the upper end is within the margin.
    """
    tenfold = divisor * 10
    digits: list[int] = []
    low = high = False
    first = True
    while not (low or high):
        digit, number = divmod(number, divisor)
        number, margin = number * 10, _held(margin * 10, size)
        low, high = number < margin, _held(number + margin, size) > tenfold - (size == 0)
        if margin <= 0:  # more than Java's integer holds, so more than all else
            low = high = True
        if digits or digit or high:
            digits.append(digit)
        else:
            power -= 1  # the estimate was one too much
        if first and not -3 <= power < 8:
            low = high = False  # there is a digit after the point, too
        first = False
    if high and (not low or _rounds_up(2 * number - tenfold, digits[-1])):
        text = str(int("".join(map(str, digits))) + 1)
        return text.rstrip("0") if len(text) > len(digits) else text, power + 1 + len(text) - len(
            digits
        )
    return "".join(map(str, digits)), power + 1


def _held(number: int, size: int) -> int:
    """What an integer of so many bits holds of a number."""
    if not size:
        return number
    half = 1 << (size - 1)
    return (number + half) % (2 * half) - half


def _rounds_up(more: int, last: int) -> bool:
    """Of two digits the nearer one; of two that are equally near the even one."""
    return more > 0 or (more == 0 and last % 2 == 1)
