"""Filter expressions: ``code == 310 and topic == "x"``.

The text is parsed as Python and translated node by node; it is never executed. A comparison with a
missing value is neither true nor false, as in SQL. Invalid comparisons are rejected before any row
is read.
"""

from __future__ import annotations

import ast
import math
import re
from typing import TYPE_CHECKING, Any, Final

from rocketwire.nearest import did_you_mean
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
    """A filter expression is invalid."""


class Filter:
    def __init__(self, text: str, columns: Mapping[str, DataType]) -> None:
        self._columns = columns
        self.names: set[str] = set()  # the columns that it reads
        try:
            tree = ast.parse(text.strip(), mode="eval")
            self._expression = self._truth(tree.body)
        except (SyntaxError, RecursionError, MemoryError) as error:
            raise FilterError(f"filter {text!r}: {_advice(text) or error.args[0]}") from error

    def apply(self, batch: Batch) -> Batch:
        table = pa.Table.from_batches([batch]).filter(self._expression).combine_chunks()
        batches: list[Batch] = table.to_batches()
        return batches[0] if batches else batch.slice(0, 0)

    # ---- Boolean expressions

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
        left_side = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            part = self._compile_comparison(left_side, operator, right)
            result = part if result is None else result & part
            left_side = right
        if result is None:
            raise FilterError(f"{ast.unparse(node)!r} compares nothing")
        return result

    def _compile_comparison(
        self, left_side: ast.expr, operator: ast.cmpop, right_side: ast.expr
    ) -> Expression:
        if isinstance(operator, ast.Is | ast.IsNot):
            if not (isinstance(right_side, ast.Constant) and right_side.value is None):
                raise FilterError("only None can follow 'is'")
            null = self._value(left_side).is_null()
            return null if isinstance(operator, ast.Is) else ~null
        if isinstance(operator, ast.In | ast.NotIn):
            membership = self._compile_in(left_side, right_side)
            return membership if isinstance(operator, ast.In) else ~membership
        compare = _COMPARISONS[type(operator)]
        self._check_kinds(left_side, right_side)
        return compare(*self._two_values(left_side, right_side))

    def _compile_in(self, left_side: ast.expr, right_side: ast.expr) -> Expression:
        if isinstance(right_side, ast.Name):
            return pc.match_substring(self._text(right_side), _one_text(left_side, "in"))
        column = self._value(left_side)
        value_type = self._kind(left_side)
        values = _constants(right_side)
        for value in values:
            self._check_same(left_side, _KINDS[type(value)], right_side)
        if value_type == "number":
            values = [number for value in values if (number := _as_int64(value)) is not None]
        membership = column.isin(pa.array(values, _TYPES[value_type]))
        return membership | (
            column != column
        )  # the right side is null if the column is, else false

    def _two_values(self, left_side: ast.expr, right_side: ast.expr) -> tuple[Any, Any]:
        # Both sides of a comparison, as doubles if one of them is not an integer of 64 bits
        for side in (left_side, right_side):
            if not isinstance(side, ast.Name) and self._kind(side) == "number":
                value = _constants(side)[0]
                if _as_int64(value) is None:
                    return self._double(left_side), self._double(right_side)
        return self._value(left_side), self._value(right_side)

    def _double(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            return self._value(node).cast(pa.float64(), safe=False)
        return pc.scalar(pa.scalar(_round(_constants(node)[0]), pa.float64()))

    def _kind(self, node: ast.expr) -> str:
        if not isinstance(node, ast.Name):
            return _KINDS[type(_constants(node)[0])]
        data_type = self._columns.get(node.id)
        return (
            "text" if data_type == pa.string() else "truth" if data_type == pa.bool_() else "number"
        )

    def _check_kinds(self, left_side: ast.expr, right_side: ast.expr) -> None:
        for side in (left_side, right_side):
            if not isinstance(side, ast.Name) and len(_constants(side)) != 1:
                raise FilterError(f"{ast.unparse(side)!r}: several values go with 'in' only")
            self._value(side)
        self._check_same(left_side, self._kind(right_side), right_side)

    def _check_same(self, left_side: ast.expr, right_kind: str, right_side: ast.expr) -> None:
        left_kind = self._kind(left_side)
        if left_kind == right_kind:
            return
        names = {side.id for side in (left_side, right_side) if isinstance(side, ast.Name)}
        advice = "; names are in the column code_name" if "code" in names else ""
        raise FilterError(
            f"{ast.unparse(right_side)!r}: a {left_kind} cannot be compared with a"
            f" {right_kind}{advice}"
        )

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
                near = did_you_mean(node.id, self._columns)
                raise FilterError(
                    f"no column {node.id!r}{near or '; quote a text: ' + repr(node.id)}; there are"
                    f" {', '.join(self._columns)}"
                )
            self.names.add(node.id)
            return pc.field(node.id)
        value = _constants(node)[0]
        if _KINDS[type(value)] != "number":
            return pc.scalar(value)
        integer = _as_int64(value)
        return self._double(node) if integer is None else pc.scalar(pa.scalar(integer, pa.int64()))

    def _text(self, node: ast.expr) -> Any:
        column = self._value(node)
        if self._kind(node) != "text":
            raise FilterError(f"{ast.unparse(node)!r} is not a text")
        return column


_ADVICE: Final = (
    (re.compile(r"(?<![=!<>:])=(?!=)|:="), "use == to compare"),
    (re.compile(r"<>"), "use != for 'not equal'"),
    (re.compile(r"&&"), "use 'and'"),
    (re.compile(r"\|\|"), "use 'or'"),
    (re.compile(r"!(?!=)"), "use 'not'"),
    (re.compile(r"\b\d+(?:ns|us|ms|s|min|h)\b"), "write nanoseconds, as 1_000_000 for 1ms"),
    (re.compile(r"\b(?:AND|OR|NOT|IN|IS)\b"), "write and, or, not, in and is in lowercase"),
)  # fmt: skip
"""Spellings of other filter languages, and what to write instead."""
_LITERAL: Final = re.compile(r"""'[^'\n]*'|"[^"\n]*\"""")


def _advice(text: str) -> str | None:
    code = _LITERAL.sub("''", text)
    return next((advice for pattern, advice in _ADVICE if pattern.search(code)), None)


def _constants(node: ast.expr) -> list[Constant]:
    try:
        value: Any = ast.literal_eval(node)
    except ValueError as error:
        raise FilterError(f"{ast.unparse(node)!r} is neither a column nor a constant") from error
    values: list[Any] = [*value] if type(value) in (tuple, list, set) else [value]
    if not values or not all(isinstance(element, str | int | float | bool) for element in values):
        raise FilterError(f"{ast.unparse(node)!r} cannot be compared with")
    return values


def _one_text(node: ast.expr, name: str) -> str:
    values = _constants(node)
    if len(values) != 1 or not isinstance(values[0], str):
        raise FilterError(f"{name} takes one text")
    return values[0]


def _as_int64(value: Constant) -> int | None:
    if isinstance(value, str) or (isinstance(value, float) and not value.is_integer()):
        return None
    return int(value) if int(value) in _INT64 else None


def _round(value: Constant) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer of hundreds of digits
        return math.inf if isinstance(value, int) and value > 0 else -math.inf
