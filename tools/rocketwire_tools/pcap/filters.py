"""Filter expressions: ``code == 310 and topic == "x"``.

Rules of this file: the text is parsed as Python and translated node by node; nothing of it is ever run.  A column without a
value makes a comparison false, as in SQL.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final

from rocketwire_tools.pcap.arrow import compute, pa

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rocketwire_tools.pcap.arrow import Batch, DataType

    Expression = Any

pc: Any = compute()

_COMPARISONS: Final[Mapping[type[ast.cmpop], Callable[[Any, Any], Any]]] = {
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
}
_TESTS: Final = ("startswith", "endswith", "contains", "matches")


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
            raise FilterError(f"filter {text!r}: {error.args[0]}") from error

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
            found = self._value(left).isin(_constants(right))
            return found if isinstance(operator, ast.In) else ~found
        compare = _COMPARISONS[type(operator)]
        result: Expression = compare(self._value(left), self._value(right))
        return result

    def _test(self, node: ast.Call) -> Expression:
        function = node.func
        if not (isinstance(function, ast.Attribute) and function.attr in _TESTS):
            raise FilterError(f"{ast.unparse(node)!r}: only {', '.join(_TESTS)} can be called")
        if len(node.args) != 1 or node.keywords:
            raise FilterError(f"{function.attr} takes one text")
        text = _constants(node.args[0])
        if len(text) != 1 or not isinstance(text[0], str):
            raise FilterError(f"{function.attr} takes one text")
        column = self._value(function.value)
        if function.attr == "startswith":
            return pc.starts_with(column, text[0])
        if function.attr == "endswith":
            return pc.ends_with(column, text[0])
        if function.attr == "contains":
            return pc.match_substring(column, text[0])
        return pc.match_substring_regex(column, text[0])

    # ---- values

    def _value(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            if node.id not in self._columns:
                raise FilterError(f"no column {node.id!r}; there are {', '.join(self._columns)}")
            self.names.add(node.id)
            return pc.field(node.id)
        return pc.scalar(_constants(node)[0])


def _constants(node: ast.expr) -> list[Any]:
    try:
        value: Any = ast.literal_eval(node)
    except ValueError as error:
        raise FilterError(f"{ast.unparse(node)!r} is neither a column nor a constant") from error
    values: list[Any] = [*value] if type(value) in (tuple, list, set) else [value]
    if not values or not all(isinstance(each, str | int | float | bool) for each in values):
        raise FilterError(f"{ast.unparse(node)!r} cannot be compared with")
    return values
