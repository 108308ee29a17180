"""Filter expressions: ``code == 310 and topic == "x"``.

Rules of this file: the text is parsed as Python and translated node by node; nothing of it is ever run.  A comparison with a
column that has no value is neither true nor false, as in SQL; what cannot be compared is refused before any row is read.
"""

from __future__ import annotations

import ast
import math
import re
from typing import TYPE_CHECKING, Any, Final

from rocketwire_tools.pcap.arrow import compute, pa

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rocketwire_tools.pcap.arrow import Batch, DataType

    Expression = Any
    Constant = str | int | float | bool

pc: Any = compute()

_TYPES: Final = {"text": pa.string(), "number": pa.int64(), "truth": pa.bool_()}
_COMPARISONS: Final[Mapping[type[ast.cmpop], Callable[[Any, Any], Any]]] = {
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
}
_TESTS: Final = ("startswith", "endswith", "contains", "matches")
_INT64: Final = range(-(1 << 63), 1 << 63)
_KINDS: Final[Mapping[type, str]] = {str: "text", int: "number", float: "number", bool: "truth"}


class FilterError(ValueError):
    """A filter expression makes no sense."""


class Filter:
    """A filter over the rows.

    Args:
        text: the expression.
        columns: what may be named in it.

    Attributes:
        names: the columns that it reads.

    Raises:
        FilterError: the text is no expression, or names something else.
    """

    def __init__(self, text: str, columns: Mapping[str, DataType]) -> None:
        self._columns = columns
        self.names: set[str] = set()
        try:
            tree = ast.parse(text.strip(), mode="eval")
            self._expression = self._truth(tree.body)
        except (SyntaxError, RecursionError, MemoryError) as error:
            raise FilterError(f"filter {text!r}: {_advice(text) or error.args[0]}") from error

    def apply(self, batch: Batch) -> Batch:
        """The rows for which the expression is true."""
        table = pa.Table.from_batches([batch]).filter(self._expression).combine_chunks()
        batches: list[Batch] = table.to_batches()
        return batches[0] if batches else batch.slice(0, 0)

    # ---- expressions that are true or false

    def _truth(self, node: ast.expr) -> Expression:
        if isinstance(node, ast.BoolOp):
            parts = [self._truth(value) for value in node.values]
            result = parts[0]
            for part in parts[1:]:
                result = result & part if isinstance(node.op, ast.And) else result | part
            return result
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return ~self._truth(node.operand)
        if isinstance(node, ast.Compare):
            return self._comparison(node)
        if isinstance(node, ast.Call):
            return self._test(node)
        if isinstance(node, ast.Name) and self._columns.get(node.id) == pa.bool_():
            return self._value(node)
        raise FilterError(f"{ast.unparse(node)!r} is neither true nor false")

    def _comparison(self, node: ast.Compare) -> Expression:
        result: Expression | None = None
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            part = self._one_comparison(left, operator, right)
            result = part if result is None else result & part
            left = right
        if result is None:
            raise FilterError(f"{ast.unparse(node)!r} compares nothing")
        return result

    def _one_comparison(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> Expression:
        if isinstance(operator, ast.Is | ast.IsNot):
            if not (isinstance(right, ast.Constant) and right.value is None):
                raise FilterError("only None can follow 'is'")
            null = self._value(left).is_null()
            return null if isinstance(operator, ast.Is) else ~null
        if isinstance(operator, ast.In | ast.NotIn):
            found = self._inside(left, right)
            return found if isinstance(operator, ast.In) else ~found
        compare = _COMPARISONS[type(operator)]
        self._check_kinds(left, right)
        result: Expression = compare(*self._two_values(left, right))
        return result

    def _inside(self, left: ast.expr, right: ast.expr) -> Expression:
        """Whether a value is one of several, or a text is part of another."""
        if isinstance(right, ast.Name):
            return pc.match_substring(self._text(right), _one_text(left, "in"))
        column = self._value(left)
        kind = self._kind(left)
        values = _constants(right)
        for value in values:
            _check_same(kind, _KINDS[type(value)], right)
        if kind == "number":
            values = [whole for each in values if (whole := _whole(each)) is not None]
        found = column.isin(pa.array(values, _TYPES[kind]))
        return found | (column != column)  # which is null where the column is, and else false

    def _two_values(self, left: ast.expr, right: ast.expr) -> tuple[Any, Any]:
        """Both sides of a comparison; where one is no whole number of 64 bits, as doubles."""
        for side in (left, right):
            if not isinstance(side, ast.Name) and self._kind(side) == "number":
                value = _constants(side)[0]
                if _whole(value) is None:
                    return self._double(left), self._double(right)
        return self._value(left), self._value(right)

    def _double(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            return self._value(node).cast(pa.float64(), safe=False)
        return pc.scalar(pa.scalar(_rounded(_constants(node)[0]), pa.float64()))

    def _kind(self, node: ast.expr) -> str:
        if not isinstance(node, ast.Name):
            return _KINDS[type(_constants(node)[0])]
        of = self._columns.get(node.id)
        return "text" if of == pa.string() else "truth" if of == pa.bool_() else "number"

    def _check_kinds(self, left: ast.expr, right: ast.expr) -> None:
        for side in (left, right):
            if not isinstance(side, ast.Name) and len(_constants(side)) != 1:
                raise FilterError(f"{ast.unparse(side)!r}: several values go with 'in' only")
            self._value(side)
        _check_same(self._kind(left), self._kind(right), right)

    def _test(self, node: ast.Call) -> Expression:
        function = node.func
        if not (isinstance(function, ast.Attribute) and function.attr in _TESTS):
            raise FilterError(f"{ast.unparse(node)!r}: only {', '.join(_TESTS)} can be called")
        if len(node.args) != 1 or node.keywords:
            raise FilterError(f"{function.attr} takes one text")
        text = _one_text(node.args[0], function.attr)
        column = self._text(function.value)
        if function.attr == "startswith":
            return pc.starts_with(column, text)
        if function.attr == "endswith":
            return pc.ends_with(column, text)
        if function.attr == "contains":
            return pc.match_substring(column, text)
        return pc.match_substring_regex(column, text)

    # ---- values

    def _value(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            if node.id not in self._columns:
                raise FilterError(f"no column {node.id!r}; there are {', '.join(self._columns)}")
            self.names.add(node.id)
            return pc.field(node.id)
        value = _constants(node)[0]
        if _KINDS[type(value)] != "number":
            return pc.scalar(value)
        whole = _whole(value)
        return self._double(node) if whole is None else pc.scalar(pa.scalar(whole, pa.int64()))

    def _text(self, node: ast.expr) -> Any:
        column = self._value(node)
        if self._kind(node) != "text":
            raise FilterError(f"{ast.unparse(node)!r} is no text")
        return column


_ADVICE: Final = (
    (re.compile(r"(?<![=!<>:])=(?!=)|:="), "use == to compare"),
    (re.compile(r"<>"), "use != for 'not equal'"),
    (re.compile(r"&&"), "use 'and'"),
    (re.compile(r"\|\|"), "use 'or'"),
    (re.compile(r"!(?!=)"), "use 'not'"),
    (re.compile(r"\b(?:AND|OR|NOT|IN|IS)\b"), "write 'and', 'or', 'not', 'in' and 'is' in small letters"),
)  # fmt: skip
"""What people write who know other languages of filters, and what to write here."""
_LITERAL: Final = re.compile(r"""'[^'\n]*'|"[^"\n]*\"""")


def _advice(text: str) -> str | None:
    """What to write instead, if a filter that cannot be parsed is written as in SQL, C or Wireshark."""
    code = _LITERAL.sub("''", text)
    return next((advice for pattern, advice in _ADVICE if pattern.search(code)), None)


def _constants(node: ast.expr) -> list[Constant]:
    try:
        value: Any = ast.literal_eval(node)
    except ValueError as error:
        raise FilterError(f"{ast.unparse(node)!r} is neither a column nor a constant") from error
    values: list[Any] = [*value] if type(value) in (tuple, list, set) else [value]
    if not values or not all(isinstance(each, str | int | float | bool) for each in values):
        raise FilterError(f"{ast.unparse(node)!r} cannot be compared with")
    return values


def _one_text(node: ast.expr, name: str) -> str:
    values = _constants(node)
    if len(values) != 1 or not isinstance(values[0], str):
        raise FilterError(f"{name} takes one text")
    return values[0]


def _whole(value: Constant) -> int | None:
    """The value as an integer of 64 bits, or None if it is none."""
    if isinstance(value, str) or (isinstance(value, float) and not value.is_integer()):
        return None
    return int(value) if int(value) in _INT64 else None


def _rounded(value: Constant) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer of hundreds of digits
        return math.inf if isinstance(value, int) and value > 0 else -math.inf


def _check_same(one: str, other: str, node: ast.expr) -> None:
    if one != other:
        raise FilterError(f"{ast.unparse(node)!r}: a {one} cannot be compared with a {other}")
