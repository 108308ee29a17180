"""SQL92 filters on message properties, with the rules of Java's broker.

Three rules surprise those that know SQL:

* A property is a text. It is converted to the type of the literal it is compared with; a text that
  cannot be converted counts as missing. An integer literal of 32 bits only matches such integers.
* Text after a complete expression is ignored, as Java's parser does: ``a + 1 > 3`` is just ``a``.
* An empty property counts as missing.

Java: ``org.apache.rocketmq.filter.parser.SelectorParser``, ``filter.expression``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NoReturn, TypeAlias

from rocketwire.errors import IllegalValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Value: TypeAlias = "str | int | float | bool | None"
Properties: TypeAlias = "Mapping[str, str]"
Evaluate: TypeAlias = "Callable[[Mapping[str, str]], str | int | float | bool | None]"

MAX_LENGTH: Final = 65_536
"""Characters of an expression."""
MAX_DEPTH: Final = 100
"""Parentheses and NOTs inside each other."""

_INT32: Final = range(-(1 << 31), 1 << 31)
_INT64: Final = range(-(1 << 63), 1 << 63)
_INTEGER: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)
_DECIMAL: Final = re.compile(
    r"\s*[+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?)\s*", re.ASCII
)
_TOKEN: Final = re.compile(
    r"""
    (?P<space> \s+ | --[^\n\r]* | /\*.*?\*/ )
  | (?P<number> [0-9]+\.[0-9]*(?:[eE][+-]?[0-9]+)? | \.[0-9]+(?:[eE][+-]?[0-9]+)?
              | [0-9]+[eE][+-]?[0-9]+ | [0-9]+[lL]? )
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


@dataclass(frozen=True, slots=True)
class _Operand:
    """A part of an expression.

    Attributes:
        evaluate: its value for the properties of a message.
        literal: its value if it is a literal.
        is_literal: whether it is one.
        is_condition: whether it is true or false, by its form.
        name: of the property, if it is one.
    """

    evaluate: Evaluate
    literal: Value = None
    is_literal: bool = False
    is_condition: bool = False
    name: str | None = None


def compile_expression(text: str) -> Callable[[Properties], bool]:
    """The condition that an expression is.

    Args:
        text: of the expression.

    Returns:
        A function from the properties of a message to whether the message passes.

    Raises:
        IllegalExpressionError: Java does not compile the text, or it is longer than ``MAX_LENGTH``.
    """
    if len(text) > MAX_LENGTH:
        raise IllegalExpressionError(f"an expression of more than {MAX_LENGTH} characters")
    evaluate = _Parser(text).expression().evaluate
    return lambda properties: evaluate(properties) is True


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0
        self._depth = 0
        self._kind = self._word = ""
        self._next()

    # -------------------------------------------------------------- tokens

    def _next(self) -> None:
        while self._place < len(self._text):
            match = _TOKEN.match(self._text, self._place)
            if match is None:
                character = self._text[self._place]
                raise IllegalExpressionError(
                    f"invalid SQL92 expression: {character!r} has no meaning"
                )
            self._place = match.end()
            kind, token = str(match.lastgroup), match.group()
            if kind == "space":
                continue
            if kind == "name" and token.lower() in _KEYWORDS:
                kind, token = "keyword", token.lower()
            self._kind, self._word = kind, token
            return
        self._kind, self._word = "end", ""

    def _take(self, *tokens: str) -> str | None:
        """The next token if it is a keyword or sign of ``tokens``; it is then behind."""
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
        return self._or()

    def _or(self) -> _Operand:
        left = self._and()
        while self._take("or"):
            left = _connect(left, self._and(), is_or=True)
        return left

    def _and(self) -> _Operand:
        left = self._equality()
        while self._take("and"):
            left = _connect(left, self._equality(), is_or=False)
        return left

    def _equality(self) -> _Operand:
        left = self._comparison()
        while True:
            sign = self._take("=", "<>")
            if sign:
                left = self._equals(left, self._comparison(), is_equal=sign == "=")
            elif self._take("is"):
                is_null = self._take("not") is None
                self._expect("null")
                left = _is_null(left, is_null=is_null)
            else:
                return left

    def _equals(self, left: _Operand, right: _Operand, *, is_equal: bool) -> _Operand:
        for operand in (left, right):
            if operand.is_literal and operand.literal is None:
                self._refuse("NULL is compared with IS")
        return _compare(left, right, "=" if is_equal else "<>")

    def _comparison(self) -> _Operand:
        left = self._unary()
        while True:
            sign = self._take(">", ">=", "<", "<=")
            if sign:
                right = self._unary()
                self._require_order(left)
                self._require_order(right)
                left = _compare(left, right, sign)
                continue
            is_not = self._kind == "keyword" and self._word == "not"
            if is_not:
                self._next()
            operator = self._take("between", "in", "contains", "startswith", "endswith")
            if operator is None:
                if is_not:
                    self._refuse("BETWEEN, IN, CONTAINS, STARTSWITH or ENDSWITH is expected")
                return left
            if operator == "between":
                condition = self._between(left)
            elif operator == "in":
                condition = self._in(left)
            else:
                condition = self._text_condition(left, operator)
            left = _negate(condition) if is_not else condition

    def _require_order(self, operand: _Operand) -> None:
        if operand.is_condition or (
            operand.is_literal
            and (operand.literal is None or isinstance(operand.literal, str | bool))
        ):
            self._refuse("only numbers and properties can be larger or smaller")

    def _between(self, left: _Operand) -> _Operand:
        low, low_number = self._number_literal()
        self._expect("and")
        high, high_number = self._number_literal()
        self._require_order(left)
        if low_number > high_number:
            self._refuse("the left number of BETWEEN must not be larger")
        return _connect(_compare(left, low, ">="), _compare(left, high, "<="), is_or=False)

    def _in(self, left: _Operand) -> _Operand:
        if left.name is None:
            self._refuse("IN needs a property")
        self._expect("(")
        texts = {self._text_literal()}
        while self._take(","):
            texts.add(self._text_literal())
        self._expect(")")

        def evaluate(properties: Properties) -> Value:
            value = left.evaluate(properties)
            return None if value is None else value in texts

        return _Operand(evaluate, is_condition=True)

    def _text_condition(self, left: _Operand, operator: str) -> _Operand:
        text = self._text_literal()
        if left.name is None and not isinstance(left.literal, str):
            self._refuse(f"{operator.upper()} needs a property")
        tests: dict[str, Callable[[str], bool]] = {
            "contains": lambda value: text in value,
            "startswith": lambda value: value.startswith(text),
            "endswith": lambda value: value.endswith(text),
        }
        test = tests[operator]

        def evaluate(properties: Properties) -> Value:
            value = left.evaluate(properties)
            return test(value) if isinstance(value, str) and text else None

        return _Operand(evaluate, is_condition=True)

    def _text_literal(self) -> str:
        value = self._unary().literal
        if not isinstance(value, str):
            self._refuse("a text is expected")
        return value

    def _number_literal(self) -> tuple[_Operand, float]:
        operand = self._unary()
        if isinstance(operand.literal, bool) or not isinstance(operand.literal, int | float):
            self._refuse("a number is expected")
        return operand, operand.literal

    def _unary(self) -> _Operand:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise IllegalExpressionError(f"an expression deeper than {MAX_DEPTH} levels")
        try:
            if self._take("not"):
                operand = self._unary()
                if operand.name is None and not operand.is_condition:
                    self._refuse("NOT needs a condition")
                return _negate(operand)
            sign = self._take("+", "-")
            if sign is None:
                return self._primary()
            operand, number = self._number_literal()
            return _constant(-number) if sign == "-" else operand
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
            self._next()
            return _constant(token[1:-1].replace("''", "'"))
        if kind == "keyword" and token in ("true", "false", "null"):
            self._next()
            return _constant({"true": True, "false": False, "null": None}[token])
        if self._take("("):
            operand = self._or()
            self._expect(")")
            return operand
        return self._refuse("a property or a literal is expected")


def _number(text: str) -> int | float:
    try:
        number = int(text.rstrip("lL"))
    except ValueError:
        return float(text)
    if number not in _INT64:
        raise IllegalExpressionError(f"{text} is no 64-bit integer")
    return number


def _constant(value: Value) -> _Operand:
    return _Operand(
        lambda _: value, literal=value, is_literal=True, is_condition=isinstance(value, bool)
    )


def _property(name: str) -> _Operand:
    return _Operand(lambda properties: properties.get(name) or None, name=name)


def _negate(operand: _Operand) -> _Operand:
    def evaluate(properties: Properties) -> Value:
        value = operand.evaluate(properties)
        return None if not isinstance(value, bool) else not value

    return _Operand(evaluate, is_condition=True)


def _is_null(operand: _Operand, *, is_null: bool) -> _Operand:
    return _Operand(
        lambda properties: (operand.evaluate(properties) is None) == is_null, is_condition=True
    )


def _connect(left: _Operand, right: _Operand, *, is_or: bool) -> _Operand:
    """``left OR right`` or ``left AND right``, with unknown as a third value."""

    def evaluate(properties: Properties) -> Value:
        first = left.evaluate(properties)
        if first is is_or:
            return is_or
        second = right.evaluate(properties)
        if second is is_or:
            return is_or
        return None if first is None or second is None else not is_or

    return _Operand(evaluate, is_condition=True)


def _compare(left: _Operand, right: _Operand, sign: str) -> _Operand:
    def evaluate(properties: Properties) -> Value:
        first, second = _converted(left.evaluate(properties), right.evaluate(properties))
        if sign in ("=", "<>"):
            if first is None or second is None:
                is_equal: Value = first is None and second is None
                return is_equal if sign == "=" else None if first is not second else not is_equal
            return (first == second) == (sign == "=")
        if not isinstance(first, int | float) or not isinstance(second, int | float):
            return None
        return _ORDER[sign](first, second)

    return _Operand(evaluate, is_condition=True)


_ORDER: Final[dict[str, Callable[[float, float], bool]]] = {
    ">": lambda first, second: first > second,
    ">=": lambda first, second: first >= second,
    "<": lambda first, second: first < second,
    "<=": lambda first, second: first <= second,
}


def _converted(first: Value, second: Value) -> tuple[Value, Value]:
    """Both values with a text converted to the type of the other one."""
    if isinstance(first, str) and not isinstance(second, str):
        return _as_type_of(first, second), second
    if isinstance(second, str) and not isinstance(first, str):
        return first, _as_type_of(second, first)
    return first, second


def _as_type_of(text: str, value: Value) -> Value:
    if isinstance(value, bool):
        return {"true": True, "false": False}.get(text.lower())
    if isinstance(value, int):
        if not _INTEGER.fullmatch(text):
            return None
        number = int(text)
        return number if number in (_INT32 if value in _INT32 else _INT64) else None
    if isinstance(value, float):
        return float(text.strip().rstrip("fFdD")) if _DECIMAL.fullmatch(text) else None
    return text
