"""SQL92 filters on message properties, with the rules of Java's broker.

These rules surprise those that know SQL:

* A property is a text. It is converted to the type of what it is compared with. A message whose
  text cannot be converted does not pass, whatever the rest of the expression says.
* An integer literal of 32 bits only matches such integers; two properties are larger or smaller
  as floating-point numbers; ``-0.0`` is smaller than ``0.0``, and ``NaN`` equals ``NaN``.
* A property is no condition: ``a`` alone is never true, and ``NOT a`` is true if ``a`` is there.
* Text after a complete expression is ignored, as Java's parser does: ``a = 1 + 3`` is ``a = 1``.
* The literals ``0.0`` and ``007`` are invalid; an empty property counts as missing.

Java: ``org.apache.rocketmq.filter.parser.SelectorParser``, ``filter.expression`` of 5.5.0; 4.9.4
and 5.3.3 differ in ``STARTSWITH`` and ``ENDSWITH`` alone, which they do not have.
"""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias

from rocketwire.errors import IllegalValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Value: TypeAlias = "str | int | float | bool | None"
Properties: TypeAlias = "Mapping[str, str]"
Evaluate: TypeAlias = "Callable[[Mapping[str, str]], str | int | float | bool | None]"

MAX_LENGTH: Final = 65_536  # characters of an expression
MAX_DEPTH: Final = 100  # parentheses and NOTs inside each other

_INT32: Final = range(-(1 << 31), 1 << 31)
_INT64: Final = range(-(1 << 63), 1 << 63)
_INTEGER: Final = re.compile(r"[+-]?\d+")
_DECIMAL: Final = re.compile(
    r"[+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?)", re.ASCII
)
_HEXADECIMAL: Final = re.compile(
    r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+[fFdD]?", re.ASCII
)
_TRIMMED: Final = "".join(map(chr, range(33)))  # what Java's ``String.trim`` removes
_TOKEN: Final = re.compile(
    r"""
    (?P<space> [ \t\n\r\f]+ | --[^\n\r]*(?:\r\n|\n|\r) | /\*.*?\*/ )
  | (?P<number> [0-9]+\.[0-9]*(?:[eE][+-]?[0-9]+)? | \.[0-9]+(?:[eE][+-]?[0-9]+)?
              | [0-9]+[eE][+-]?[0-9]+ | 0 | [1-9][0-9]*[lL]? )
  | (?P<text> '(?:[^']|'')*' )
  | (?P<name> [A-Za-z_$][A-Za-z0-9_$]* )
  | (?P<sign> <> | >= | <= | [=<>(),+-] )
    """,
    re.VERBOSE | re.DOTALL,
)
_KEYWORDS: Final = frozenset(
    [
        "not",
        "and",
        "or",
        "between",
        "in",
        "true",
        "false",
        "null",
        "is",
        "contains",
        "startswith",
        "endswith",
    ]
)


class IllegalExpressionError(IllegalValueError):
    """An expression that Java does not compile."""


class _NoComparisonError(Exception):
    """Java's evaluation ends with an exception; the message does not pass."""


class _Long(int):
    """An integer that Java has in 64 bits."""


@dataclass(frozen=True, slots=True)
class _Operand:
    evaluate: Evaluate  #: its value for the properties of a message
    literal: Value = None  #: its value if it is a literal
    is_literal: bool = False  #: whether it is one
    is_condition: bool = False  #: whether it is true or false, by its form
    name: str | None = None  #: of the property, if it is one
    depth: int = 0  #: parts inside each other


def compile_expression(text: str) -> Callable[[Properties], bool]:
    """The condition that an expression is.

    Args:
        text: of the expression.

    Returns:
        A function from the properties of a message to whether the message passes.

    Raises:
        IllegalExpressionError: Java does not compile the text, it is longer than ``MAX_LENGTH``, or
            its parts are nested deeper than ``MAX_DEPTH``.
    """
    if len(text) > MAX_LENGTH:
        raise IllegalExpressionError(f"an expression of more than {MAX_LENGTH} characters")
    evaluate = _Parser(text).expression().evaluate

    def passes(properties: Properties) -> bool:
        try:
            return evaluate(properties) is True
        except _NoComparisonError:
            return False

    return passes


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._depth = 0
        self._kind = self._word = ""
        self._next()

    # -------------------------------------------------------------- tokens

    def _next(self) -> None:
        while self._position < len(self._text):
            match = _TOKEN.match(self._text, self._position)
            if match is None:
                character = self._text[self._position]
                raise IllegalExpressionError(
                    f"invalid SQL92 expression: {character!r} has no meaning"
                )
            self._position = match.end()
            kind, token = str(match.lastgroup), match.group()
            if kind == "space":
                continue
            if kind == "name" and token.lower() in _KEYWORDS:
                kind, token = "keyword", token.lower()
            self._kind, self._word = kind, token
            return
        self._kind, self._word = "end", ""

    def _take(self, *tokens: str) -> str | None:
        if self._kind in ("keyword", "sign") and self._word in tokens:
            token = self._word
            self._next()
            return token
        return None

    def _expect(self, token: str) -> None:
        if self._take(token) is None:
            self._refuse(f"{token.upper()} is expected")

    def _refuse(self, reason: str) -> NoReturn:
        shown = self._word or "the end"
        raise IllegalExpressionError(f"invalid SQL92 expression: {reason}, not {shown!r}")

    # -------------------------------------------------------------- grammar

    def expression(self) -> _Operand:
        if self._kind == "end":
            self._refuse("an expression is expected")
        return self._condition(self._parse_or())

    def _condition(self, operand: _Operand) -> _Operand:
        # Of the operands that are no conditions, only a property can be one.
        if operand.is_condition:
            return operand
        if operand.name is None:
            self._refuse("a condition is expected")
        return _combine(lambda properties: None if operand.evaluate(properties) is None else False)

    def _parse_or(self) -> _Operand:
        return self._parse_operands("or", self._parse_and)

    def _parse_and(self) -> _Operand:
        return self._parse_operands("and", self._equality)

    def _parse_operands(self, word: str, part: Callable[[], _Operand]) -> _Operand:
        first = part()
        operands: list[_Operand] = []
        while self._take(word):
            operands.append(self._condition(part()))
        return _connect([self._condition(first), *operands], word) if operands else first

    def _equality(self) -> _Operand:
        left = self._comparison()
        while True:
            sign = self._take("=", "<>")
            if sign:
                condition = self._equals(left, self._comparison())
                left = condition if sign == "=" else _negate(condition)
            elif self._take("is"):
                is_null = self._take("not") is None
                self._expect("null")
                condition = _equal(left, _constant(None))
                left = condition if is_null else _negate(condition)
            else:
                return left

    def _equals(self, left: _Operand, right: _Operand) -> _Operand:
        for operand in (left, right):
            if operand.is_literal and operand.literal is None:
                self._refuse("NULL is compared with IS")
        if isinstance(left.literal, bool) and right.is_literal and not right.is_condition:
            self._refuse(f"{str(left.literal).upper()} is compared with properties and conditions")
        return _equal(left, right)

    def _comparison(self) -> _Operand:
        left = self._unary()
        while True:
            sign = self._take(">", ">=", "<", "<=")
            if sign:
                left = self._order(left, self._unary(), sign)
                continue
            is_not = self._take("not") is not None
            word = self._take("between", "in", "contains", "startswith", "endswith")
            if word is None:
                if is_not:
                    self._refuse("BETWEEN, IN, CONTAINS, STARTSWITH or ENDSWITH is expected")
                return left
            if word == "between":
                left = self._parse_between(left, is_not=is_not)
            elif word == "in":
                left = self._parse_in(left, is_not=is_not)
            else:
                left = _text_condition(left, word, self._text_token(), is_not=is_not)

    def _order(self, left: _Operand, right: _Operand, sign: str) -> _Operand:
        for operand in (left, right):
            is_number = type(operand.literal) in (int, _Long, float)
            if operand.is_condition or (operand.is_literal and not is_number):
                self._refuse("only numbers and properties can be larger or smaller")
        return _compare(left, right, sign)

    def _parse_between(self, left: _Operand, *, is_not: bool) -> _Operand:
        low = self._unary()
        self._expect("and")
        high = self._unary()
        if is_not:
            return _connect([self._order(left, low, "<"), self._order(left, high, ">")], "or")
        condition = _connect([self._order(left, low, ">="), self._order(left, high, "<=")], "and")
        if low.is_literal and high.is_literal and _compare_values(high.literal, low.literal) < 0:
            self._refuse("the left number of BETWEEN must not be larger")
        return condition

    def _parse_in(self, left: _Operand, *, is_not: bool) -> _Operand:
        if left.name is None:
            self._refuse("IN needs a property")
        self._expect("(")
        texts = {self._text_token()}
        while self._take(","):
            texts.add(self._text_token())
        self._expect(")")

        def evaluate(properties: Properties) -> Value:
            value = left.evaluate(properties)
            return None if value is None else (value in texts) != is_not

        return _combine(evaluate)

    def _text_token(self) -> str:
        if self._kind != "text":
            self._refuse("a text is expected")
        text = self._word[1:-1].replace("''", "'")
        self._next()
        return text

    def _unary(self) -> _Operand:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise IllegalExpressionError(f"an expression deeper than {MAX_DEPTH} levels")
        try:
            if self._take("not"):
                return _negate(self._condition(self._unary()))
            sign = self._take("+", "-")
            if sign is None:
                return self._primary()
            return self._unary() if sign == "+" else _negative(self._unary())
        finally:
            self._depth -= 1

    def _primary(self) -> _Operand:
        kind, token = self._kind, self._word
        if kind == "name":
            self._next()
            return _property(token)
        if kind == "number":
            self._next()
            return _constant(_number(token))
        if kind == "text":
            return _constant(self._text_token())
        if kind == "keyword" and token in ("true", "false", "null"):
            self._next()
            return _constant({"true": True, "false": False, "null": None}[token])
        if self._take("("):
            operand = self._parse_or()
            self._expect(")")
            return operand
        return self._refuse("a property or a literal is expected")


def _number(text: str) -> int | float:
    try:
        number = int(text.rstrip("lL"))
    except ValueError:
        value = float(text)
        if value in (0.0, float("inf")):
            raise IllegalExpressionError(f"{text} is no number of Java's type double") from None
        return value
    if number not in _INT64:
        raise IllegalExpressionError(f"{text} is no 64-bit integer")
    return number if number in _INT32 else _Long(number)


def _constant(value: Value) -> _Operand:
    is_condition = value is None or isinstance(value, bool)
    return _Operand(lambda _: value, literal=value, is_literal=True, is_condition=is_condition)


def _property(name: str) -> _Operand:
    return _Operand(lambda properties: properties.get(name) or None, name=name)


def _combine(evaluate: Evaluate, *operands: _Operand, is_condition: bool = True) -> _Operand:
    depth = 1 + max((operand.depth for operand in operands), default=0)
    if depth > MAX_DEPTH:
        raise IllegalExpressionError(f"an expression deeper than {MAX_DEPTH} levels")
    return _Operand(evaluate, is_condition=is_condition, depth=depth)


def _negate(operand: _Operand) -> _Operand:
    def evaluate(properties: Properties) -> Value:
        value = operand.evaluate(properties)
        return None if value is None else not value

    return _combine(evaluate, operand)


def _negative(operand: _Operand) -> _Operand:
    def evaluate(properties: Properties) -> Value:
        value = operand.evaluate(properties)
        if isinstance(value, _Long):
            return _Long(-value)
        return -value if type(value) in (int, float) else None  # type: ignore[operator]  # mypy does not narrow by type()

    return _combine(evaluate, operand, is_condition=False)


def _connect(operands: list[_Operand], word: str) -> _Operand:
    # Java's AND and OR have unknown as a third value.
    decides = word == "or"

    def evaluate(properties: Properties) -> Value:
        is_unknown = False
        for operand in operands:
            value = operand.evaluate(properties)
            if value is decides:
                return decides
            is_unknown |= value is None
        return None if is_unknown else not decides

    return _combine(evaluate, *operands)


def _text_condition(left: _Operand, word: str, text: str, *, is_not: bool) -> _Operand:
    tests: dict[str, Callable[[str], bool]] = {
        "contains": lambda value: text in value,
        "startswith": lambda value: value.startswith(text),
        "endswith": lambda value: value.endswith(text),
    }
    test = tests[word]

    def evaluate(properties: Properties) -> Value:
        value = left.evaluate(properties)
        return isinstance(value, str) and bool(text) and test(value) != is_not

    return _combine(evaluate, left)


def _equal(left: _Operand, right: _Operand) -> _Operand:
    def evaluate(properties: Properties) -> Value:
        first, second = left.evaluate(properties), right.evaluate(properties)
        if first is None or second is None:
            return True if first is second else None if first is None else False
        return _compare_values(first, second) == 0

    return _combine(evaluate, left, right)


def _compare(left: _Operand, right: _Operand, sign: str) -> _Operand:
    test = _ORDER[sign]

    def evaluate(properties: Properties) -> Value:
        first = left.evaluate(properties)
        second = None if first is None else right.evaluate(properties)
        if first is None or second is None:
            return None
        if isinstance(first, str) and isinstance(second, str):
            first, second = _as_type_of(first, 0.0), _as_type_of(second, 0.0)
        return test(_compare_values(first, second), 0)

    return _combine(evaluate, left, right)


_ORDER: Final[dict[str, Callable[[int, int], bool]]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


def _compare_values(first: Value, second: Value) -> int:
    # As Java's ``compareTo``; a text gets the other operand's type.
    if isinstance(first, str) and not isinstance(second, str):
        first = _as_type_of(first, second)
    elif isinstance(second, str) and not isinstance(first, str):
        if isinstance(first, bool):
            raise _NoComparisonError
        second = _as_type_of(second, first)
    elif isinstance(first, bool) != isinstance(second, bool):
        return -1
    first_key, second_key = _sort_key(first), _sort_key(second)
    return (first_key > second_key) - (first_key < second_key)


def _sort_key(value: Value) -> tuple[bool, Any, bool]:
    # As Java sorts: NaN is the largest number, and -0.0 smaller than 0.0.
    if not isinstance(value, float):
        return (False, value, True)
    return (True, 0.0, True) if math.isnan(value) else (False, value, math.copysign(1, value) > 0)


def _as_type_of(text: str, value: Value) -> Value:
    if isinstance(value, bool):
        return text.lower() == "true"
    if isinstance(value, float):
        return _double(text.strip(_TRIMMED))
    digits = text.lstrip("+-0")
    if not _INTEGER.fullmatch(text) or len(digits) > _MAX_DIGITS or max(text) > "\uffff":
        raise _NoComparisonError
    number = int(digits or "0") * (-1 if text.startswith("-") else 1)
    if number not in (_INT64 if isinstance(value, _Long) else _INT32):
        raise _NoComparisonError
    return number


_MAX_DIGITS: Final = 20


def _double(text: str) -> float:
    if _DECIMAL.fullmatch(text):
        return float(text if text.endswith("y") else text.rstrip("fFdD"))
    if not _HEXADECIMAL.fullmatch(text):
        raise _NoComparisonError
    try:
        return float.fromhex(text.rstrip("fFdD"))
    except OverflowError:
        return float("-inf" if text.startswith("-") else "inf")
