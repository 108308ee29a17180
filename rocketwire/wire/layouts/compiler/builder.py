"""Generates builders, which pack adjacent integers together and compute lengths.

A builder of a record is ``build(*fields)`` in the order of ``Record.value_names``; any other
builder is ``build(value)``.  Values have the types that the parser returns.  A builder raises
``EncodeError`` with the field's path for a value that the layout cannot hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rocketwire.wire.layouts.compiler import nodes
from rocketwire.wire.layouts.compiler.source import Source
from rocketwire.wire.layouts.runtime.build_errors import LETTER_24

if TYPE_CHECKING:
    from rocketwire.wire.layouts.compiler.nodes import Node


class _Field(NamedTuple):
    """An integer that waits to be packed together with its neighbours."""

    path: str
    letter: str
    expression: str


class _Builder:
    """Writes the body of a builder.

    ``visit_X`` writes the lines for a node ``X`` whose value is the expression ``var``.  Integers
    wait in a run, which ``flush`` packs.  ``pieces`` are the expressions of the bytes so far.
    """

    def __init__(self, out: Source, scope: dict[str, str]) -> None:
        self.out = out
        self.pieces: list[str] = []
        self._scope = scope  # field of the current record -> variable
        self._run: list[_Field] = []

    def visit(self, node: Node, var: str, path: str) -> None:
        """Writes the lines for any node."""
        getattr(self, f"visit_{type(node).__name__}")(node, var, path)

    def flush(self) -> None:
        """Writes the lines that pack the waiting integers."""
        run = self._run
        if not run:
            return
        self._run = []
        form, values = "", list[str]()
        for _, letter, expression in run:
            if letter == LETTER_24:
                form += "BH"
                values += (f"{expression} >> 16", f"{expression} & 0xFFFF")
            else:
                form += letter
                values.append(expression)
        fields = tuple((path, letter) for path, letter, _ in run)
        expressions = ", ".join(expression for *_, expression in run)
        fixed = self.out.fresh("fixed")
        self.out.open("try:")
        self.out.line(f"{fixed} = pack_{form}({', '.join(values)})")
        self.out.close()
        self.out.open("except StructError as error:")
        self.out.line(f"raise unfit({fields!r}, {expressions}) from error")
        self.out.close()
        self.pieces.append(fixed)

    def joined(self) -> str:
        """An expression of all bytes."""
        self.flush()
        if len(self.pieces) == 1:
            return self.pieces[0]
        return f"b''.join(({''.join(f'{piece}, ' for piece in self.pieces)}))"

    def _add(self, expression: str) -> None:
        self.flush()
        self.pieces.append(expression)

    def _separate(self, node: Node, var: str, path: str) -> str:
        """Writes the lines for a node apart from the pieces; returns an expression of its bytes."""
        builder = _Builder(self.out, self._scope)
        builder.visit(node, var, path)
        return builder.joined()

    def _elements(self, node: Node, var: str, path: str) -> None:
        self.flush()
        parts, element = self.out.fresh("parts"), self.out.fresh("element")
        self.out.line(f"{parts} = []")
        self.out.open(f"for {element} in {var}:")
        builder = _Builder(self.out, self._scope)
        builder.visit(node, element, f"{path}[]")
        builder.flush()
        self.out.line(f"{parts} += ({''.join(f'{piece}, ' for piece in builder.pieces)})")
        self.out.close()
        self._add(f"b''.join({parts})")

    def visit_Fixed(self, node: nodes.Fixed, var: str, path: str) -> None:
        self._run.append(_Field(path, node.letter, var))

    def visit_Unsigned24(self, node: nodes.Unsigned24, var: str, path: str) -> None:
        self._run.append(_Field(path, LETTER_24, var))

    def visit_Raw(self, node: nodes.Raw, var: str, path: str) -> None:
        length = str(node.length)
        if isinstance(node.length, nodes.Expression):
            length = node.length.source.format_map(self._scope)
        if self.out.computed.get(length) != f"len({var})":  # always true for a computed length
            self.out.check(f"len({var}) != {length}", f"wrong_size({path!r}, len({var}), {length})")
        self._add(var)

    def visit_Rest(self, node: nodes.Rest, var: str, path: str) -> None:
        self._add(var)

    def visit_Text(self, node: nodes.Text, var: str, path: str) -> None:
        text = self.out.fresh("text")
        self.out.line(f"{text} = encode_utf8({var})")
        self._add(text)

    def visit_Sized(self, node: nodes.Sized, var: str, path: str) -> None:
        data = self.out.fresh("data")
        if node.optional:
            self.out.line(f"{data} = b''")
            self.out.open(f"if {var} is not None:")
        self.out.line(f"{data} = {self._separate(node.node, var, path)}")
        if node.optional:
            self.out.close()
        size = f"len({data}) + {node.length.size}" if node.whole else f"len({data})"
        self.visit(node.length, size, path)
        self._add(data)

    def visit_Counted(self, node: nodes.Counted, var: str, path: str) -> None:
        self.visit(node.count, f"len({var})", path)
        self._elements(node.node, var, path)

    def visit_UntilEnd(self, node: nodes.UntilEnd, var: str, path: str) -> None:
        self._elements(node.node, var, path)

    def visit_Choice(self, node: nodes.Choice, var: str, path: str) -> None:
        self.flush()
        data = self.out.fresh("data")
        condition = node.condition.source.format_map(self._scope)
        for head, branch in ((f"if {condition}:", node.then), ("else:", node.otherwise)):
            self.out.open(head)
            self.out.line(f"{data} = {self._separate(branch, var, path)}")
            self.out.close()
        self._add(data)

    def visit_Entries(self, node: nodes.Entries, var: str, path: str) -> None:
        data = self.out.fresh("data")
        self.out.line(f"{data} = build_entries({var}, {path!r}) if {var} else b''")
        self.visit(node.length, f"len({data})", path)
        self._add(data)

    def visit_Condition(self, node: nodes.Condition, var: str, path: str) -> None:
        field = min(node.expression.names)
        self.out.check(
            f"not {node.expression.source.format_map(self._scope)}",
            f"invalid({f'{path}.{field}' if path else field!r})",
        )

    def visit_End(self, node: nodes.End, var: str, path: str) -> None:
        """Writes nothing."""

    def visit_Record(self, node: nodes.Record, var: str, path: str) -> None:
        outer = self._scope
        variables = {name: self.out.fresh(f"{name}_") for name in node.value_names}
        self.out.line(f"{''.join(f'{name}, ' for name in variables.values())}= {var}")
        self.fields(node, variables, path)
        self._scope = outer

    def fields(self, node: nodes.Record, variables: dict[str, str], path: str) -> None:
        """Writes the lines for the fields of a record whose values are in ``variables``."""
        self._scope = variables
        for name, field in node.fields:
            place = f"{path}.{name}" if path and name else name or path
            if isinstance(field, nodes.Derived):
                self.visit(field.node, self._derived(name, field), place)
            else:
                self.visit(field, variables[name] if name else "", place)

    def _derived(self, name: str | None, field: nodes.Derived) -> str:
        """Writes the computation of a field; returns its variable."""
        if isinstance(field.value, int):
            return str(field.value)
        var = self.out.fresh("derived")
        source = field.value.source.format_map(self._scope)
        self.out.line(f"{var} = {source}")
        self.out.computed[var] = source
        if name:
            self._scope[name] = var
        return var


def builder_source(node: Node, name: str) -> str:
    """Source of a builder with this name, for the imports of ``fused``."""
    builder = _Builder(Source(), {})
    if isinstance(node, nodes.Record):
        variables = {field: f"{field}_" for field in node.value_names}
        arguments = [*variables.values()]
        builder.fields(node, variables, "")
    else:
        arguments = ["value"]
        builder.visit(node, "value", "")
    result = builder.joined()
    head = f"def {name}({': Any, '.join(arguments)}: Any) -> bytes:"
    return "\n".join((head, *builder.out.lines, f"    return {result}", ""))
