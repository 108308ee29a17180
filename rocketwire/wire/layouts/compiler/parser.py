"""Generates parsers: flat functions that check the bounds before each read.

A parser is ``parse(buf, pos=0, end=None) -> (value, position after it)``.  Slices have the type of
the buffer.  A parser raises only these errors, each with the field's path and the position:
``TruncatedError`` if a length or a fixed field passes ``end``, ``LimitExceededError`` if a count is
too large for the remaining bytes, and ``DecodeError`` for other invalid data.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from rocketwire.wire.layouts.compiler import nodes
from rocketwire.wire.layouts.compiler.nodes import Node, minimum_size
from rocketwire.wire.layouts.compiler.source import Source


class _Field(NamedTuple):
    """An integer that waits to be read together with its neighbours."""

    letter: str
    var: str
    path: str


class _Parser:
    """Writes the body of a parser, whose variable ``p`` is the position.

    ``visit_X`` writes the lines that read a node ``X`` into the variable ``var``, up to the
    variable ``end``.  Integers wait in a run, which ``flush`` reads with a single ``unpack_from``.
    """

    def __init__(self) -> None:
        self.out = Source()
        self._scope: dict[str, str] = {}  # field of the current record -> variable
        self._run: list[_Field] = []
        self._completions: list[str] = []  # lines that complete variables of the run

    def visit(self, node: Node, var: str, end: str, path: str) -> None:
        """Writes the lines for any node."""
        getattr(self, f"visit_{type(node).__name__}")(node, var, end, path)

    def flush(self, end: str) -> None:
        """Writes the lines that read the waiting integers."""
        run, completions = self._run, self._completions
        if not run:
            return
        self._run, self._completions = [], []
        form = ">" + "".join(field.letter for field in run)
        size, steps = 0, list[tuple[str, int]]()
        for field in run:
            size += struct.calcsize(">" + field.letter)
            steps.append((field.path, size))
        self.out.check(f"p + {size} > {end}", f"short(buf, p, {end}, {tuple(steps)!r})")
        if form == ">B":
            self.out.line(f"{run[0].var} = buf[p]")
        elif form == ">b":
            self.out.line(f"{run[0].var} = (buf[p] ^ 128) - 128")
        else:
            names = "".join(f"{field.var}, " for field in run)
            self.out.line(f"{names}= unpack_{form[1:]}(buf, p)")
        self.out.line(f"p += {size}")
        for line in completions:
            self.out.line(line)

    def _stop(self, length: str, end: str, path: str, *, signed: bool) -> str:
        """Writes the check of a length; returns the variable of the position after these bytes."""
        stop = self.out.fresh("stop")
        self.out.line(f"{stop} = p + {length}")
        self.out.check(
            f"{stop} > {end} or {length} < 0" if signed else f"{stop} > {end}",
            f"bad_length(buf, p, {end}, {length}, {path!r})",
        )
        return stop

    def _slice(self, var: str, stop: str) -> None:
        self.out.line(f"{var} = buf[p:{stop}]")
        self.out.line(f"p = {stop}")

    def _elements(self, node: Node, var: str, end: str, path: str, loop: str) -> None:
        add, element = self.out.fresh("add"), self.out.fresh("element")
        self.out.line(f"{var} = []")
        self.out.line(f"{add} = {var}.append")
        self.out.open(loop)
        self.visit(node, element, end, f"{path}[]")
        self.flush(end)
        self.out.line(f"{add}({element})")
        self.out.close()

    def visit_Fixed(self, node: nodes.Fixed, var: str, end: str, path: str) -> None:
        self._run.append(_Field(node.letter, var, path))

    def visit_Unsigned24(self, node: nodes.Unsigned24, var: str, end: str, path: str) -> None:
        high = self.out.fresh("high")
        self._run += [_Field("B", high, path), _Field("H", var, path)]
        self._completions.append(f"{var} |= {high} << 16")

    def visit_Derived(self, node: nodes.Derived, var: str, end: str, path: str) -> None:
        self.visit(node.node, var, end, path)

    def visit_Raw(self, node: nodes.Raw, var: str, end: str, path: str) -> None:
        self.flush(end)
        length, signed = str(node.length), not isinstance(node.length, int)
        if isinstance(node.length, nodes.Expression):
            length = self.out.fresh("length")
            self.out.line(f"{length} = {node.length.source.format_map(self._scope)}")
        self._slice(var, self._stop(length, end, path, signed=signed))

    def visit_Rest(self, node: nodes.Rest, var: str, end: str, path: str) -> None:
        self.flush(end)
        self._slice(var, end)

    def visit_Text(self, node: nodes.Text, var: str, end: str, path: str) -> None:
        self.flush(end)
        self.out.line(f"{var} = text(buf[p:{end}])")
        self.out.line(f"p = {end}")

    def visit_Sized(self, node: nodes.Sized, var: str, end: str, path: str) -> None:
        length = self.out.fresh("length")
        self.visit(node.length, length, end, path)
        self.flush(end)
        if node.whole:
            self.out.line(f"{length} -= {node.length.size}")
        if node.optional:
            self.out.line(f"{var} = None")
            self.out.open(f"if {length}:")
        stop = self._stop(length, end, path, signed=node.length.signed or node.whole)
        self.visit(node.node, var, stop, path)
        self.flush(stop)
        if not isinstance(node.node, nodes.Rest | nodes.Text):
            self.out.line(f"p = {stop}")
        if node.optional:
            self.out.close()

    def visit_Counted(self, node: nodes.Counted, var: str, end: str, path: str) -> None:
        count, size = self.out.fresh("count"), minimum_size(node.node)
        self.visit(node.count, count, end, path)
        self.flush(end)
        self.out.check(
            f"{count} * {size} > {end} - p",
            f"bad_count({count}, {end} - p, {size}, {path!r}, p)",
        )
        self._elements(node.node, var, end, path, f"for _ in range({count}):")

    def visit_UntilEnd(self, node: nodes.UntilEnd, var: str, end: str, path: str) -> None:
        self.flush(end)
        self._elements(node.node, var, end, path, f"while p < {end}:")

    def visit_Choice(self, node: nodes.Choice, var: str, end: str, path: str) -> None:
        self.flush(end)
        condition = node.condition.source.format_map(self._scope)
        for head, branch in ((f"if {condition}:", node.then), ("else:", node.otherwise)):
            self.out.open(head)
            self.visit(branch, var, end, path)
            self.flush(end)
            self.out.close()

    def visit_Entries(self, node: nodes.Entries, var: str, end: str, path: str) -> None:
        total = self.out.fresh("total")
        self.visit(node.length, total, end, path)
        self.flush(end)
        self.out.line(f"{var} = None")
        self.out.open(f"if {total} > 0:")
        stop = self._stop(total, end, path, signed=False)
        self.out.line(f"{var}, p = parse_entries(buf, p, {stop}, {end}, {node.limit}, {path!r})")
        self.out.close()

    def visit_Condition(self, node: nodes.Condition, var: str, end: str, path: str) -> None:
        self.flush(end)
        field = min(node.expression.names)
        self.out.check(
            f"not {node.expression.source.format_map(self._scope)}",
            f"refused(buf, p, {end}, 'invalid value', {f'{path}.{field}' if path else field!r})",
        )

    def visit_End(self, node: nodes.End, var: str, end: str, path: str) -> None:
        self.flush(end)
        self.out.check(
            f"p != {end}", f"refused(buf, p, {end}, f'{{{end} - p}} bytes left over', {path!r})"
        )

    def visit_Record(self, node: nodes.Record, var: str, end: str, path: str) -> None:
        outer = self._scope
        self._scope = {name: self.out.fresh(f"{name}_") for name, _ in node.fields if name}
        for name, field in node.fields:
            place = f"{path}.{name}" if path and name else name or path
            self.visit(field, self._scope[name] if name else self.out.fresh("_"), end, place)
        self.flush(end)
        self.out.line(f"{var} = ({''.join(f'{self._scope[name]}, ' for name in node.value_names)})")
        self._scope = outer


def parser_source(node: Node, name: str) -> str:
    """Source of a parser with this name, for the imports of ``fused``."""
    parser = _Parser()
    parser.visit(node, "value", "end", "")
    parser.flush("end")
    head = [
        f"def {name}(buf: Buffer, pos: int = 0, end: int | None = None) -> tuple[Any, int]:",
        "    p = pos",
        "    if end is None or end > len(buf):",
        "        end = len(buf)",
    ]
    if any(" = text(" in line for line in parser.out.lines):
        head.append("    text = decode_utf8 if buf.__class__ is bytes else decode_buffer")
    return "\n".join((*head, *parser.out.lines, "    return value, p", ""))
