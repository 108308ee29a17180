"""Layout -> source of a builder: fixed fields packed in runs, lengths computed, pieces joined once.

A builder of a record is ``build(*fields)`` in the order of ``Record.value_names``, of anything else
``build(value)``.  Values have the types that the parser gives.  It raises ``EncodeError`` with the
field's path for a value that has no form on the wire.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final

from rocketwire.wire.java_utf8 import encode_utf8
from rocketwire.wire.layouts.compiler.nodes import (
    Choice,
    Condition,
    Constant,
    Counted,
    Derived,
    End,
    Entries,
    Fixed,
    Node,
    Raw,
    Record,
    Rest,
    Sized,
    Text,
    Unsigned24,
    UntilEnd,
)
from rocketwire.wire.layouts.compiler.source import Source
from rocketwire.wire.layouts.runtime.build_errors import (
    LETTER_24,
    build_entries,
    impossible,
    unfit,
    wrong_size,
)
from rocketwire.wire.values.frozen import compile_function

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rocketwire.wire.layouts.compiler.nodes import Builder

# ------------------------------------------------------------------ the generator


class _Builder:
    """Emits the body.  Fixed fields wait in a run until something variable follows."""

    def __init__(self, out: Source) -> None:
        self.out = out
        self.pieces: list[str] = []
        self._run: list[tuple[str, str]] = []  # format, expression
        self._shown: list[tuple[str, str, str]] = []  # path, letter, expression: for messages
        self._emitters: dict[type[Any], Callable[..., None]] = {
            Fixed: self._fixed,
            Unsigned24: self._unsigned24,
            Raw: self._raw,
            Rest: self._rest,
            Text: self._text,
            Sized: self._sized,
            Counted: self._counted,
            UntilEnd: self._until_end,
            Choice: self._choice,
            Entries: self._entries,
            Constant: self._constant,
            Condition: self._condition,
            End: self._end,
            Record: self._record,
        }

    def emit(self, node: Node, var: str, path: str, scope: Mapping[str, str]) -> None:
        """Emits what writes ``var``; ``scope`` tells the variables of the record's fields."""
        self._emitters[type(node)](node, var, path, scope)

    def flush(self) -> None:
        """Emits the waiting run: one ``pack``."""
        if not self._run:
            return
        form = ">" + "".join(letter for letter, _ in self._run)
        pack = self.out.constant("pack", f"Struct({form!r}).pack")
        shown = tuple((path, letter) for path, letter, _ in self._shown)
        letters = self.out.constant("letters", repr(shown))
        fixed = self.out.fresh("fixed")
        self.out.open("try:")
        self.out.line(f"{fixed} = {pack}({', '.join(value for _, value in self._run)})")
        self.out.close()
        self.out.open("except StructError as error:")
        self.out.line(f"raise unfit({letters}, {', '.join(v for *_, v in self._shown)}) from error")
        self.out.close()
        self.pieces.append(fixed)
        self._run, self._shown = [], []

    def joined(self) -> str:
        """An expression for all pieces."""
        self.flush()
        if len(self.pieces) == 1:
            return self.pieces[0]
        return f"b''.join(({''.join(f'{piece}, ' for piece in self.pieces)}))"

    def _piece(self, expression: str) -> None:
        self.flush()
        self.pieces.append(expression)

    def _fixed(self, node: Fixed, var: str, path: str, scope: Mapping[str, str]) -> None:
        self._run.append((node.letter, var))
        self._shown.append((path, node.letter, var))

    def _unsigned24(self, node: Unsigned24, var: str, path: str, scope: Mapping[str, str]) -> None:
        self._run += [("B", f"{var} >> 16"), ("H", f"{var} & 0xFFFF")]
        self._shown.append((path, LETTER_24, var))

    def _raw(self, node: Raw, var: str, path: str, scope: Mapping[str, str]) -> None:
        wanted = str(node.length)
        if not isinstance(node.length, int):
            wanted = node.length.source.format_map(scope)
        if self.out.computed.get(wanted) != f"len({var})":  # true by construction otherwise
            self.out.open(f"if len({var}) != {wanted}:")
            self.out.line(f"raise wrong_size({path!r}, len({var}), {wanted})")
            self.out.close()
        self._piece(var)

    def _rest(self, node: Rest, var: str, path: str, scope: Mapping[str, str]) -> None:
        self._piece(var)

    def _text(self, node: Text, var: str, path: str, scope: Mapping[str, str]) -> None:
        text = self.out.fresh("text")
        self.out.line(f"{text} = encode_utf8({var})")
        self._piece(text)

    def _part(self, node: Node, var: str, path: str, scope: Mapping[str, str]) -> str:
        """Emits a node whose bytes are needed apart; returns an expression for them."""
        part = _Builder(self.out)
        part.emit(node, var, path, scope)
        return part.joined()

    def _sized(self, node: Sized, var: str, path: str, scope: Mapping[str, str]) -> None:
        data = self.out.fresh("data")
        if node.optional:
            self.out.line(f"{data} = b''")
            self.out.open(f"if {var} is not None:")
        self.out.line(f"{data} = {self._part(node.node, var, path, scope)}")
        if node.optional:
            self.out.close()
        extra = f" + {node.length.size}" if node.whole else ""
        self.emit(node.length, f"len({data}){extra}", path, scope)
        self._piece(data)

    def _counted(self, node: Counted, var: str, path: str, scope: Mapping[str, str]) -> None:
        self.emit(node.count, f"len({var})", path, scope)
        self._elements(node.node, var, path)

    def _until_end(self, node: UntilEnd, var: str, path: str, scope: Mapping[str, str]) -> None:
        self._elements(node.node, var, path)

    def _elements(self, node: Node, var: str, path: str) -> None:
        self.flush()
        parts, element = self.out.fresh("parts"), self.out.fresh("element")
        self.out.line(f"{parts} = []")
        self.out.open(f"for {element} in {var}:")
        inner = _Builder(self.out)
        inner.emit(node, element, f"{path}[]", {})
        inner.flush()
        self.out.line(f"{parts} += ({''.join(f'{piece}, ' for piece in inner.pieces)})")
        self.out.close()
        self._piece(f"b''.join({parts})")

    def _choice(self, node: Choice, var: str, path: str, scope: Mapping[str, str]) -> None:
        self.flush()
        data = self.out.fresh("data")
        self.out.open(f"if {node.condition.source.format_map(scope)}:")
        self.out.line(f"{data} = {self._part(node.then, var, path, scope)}")
        self.out.close()
        self.out.open("else:")
        self.out.line(f"{data} = {self._part(node.otherwise, var, path, scope)}")
        self.out.close()
        self._piece(data)

    def _entries(self, node: Entries, var: str, path: str, scope: Mapping[str, str]) -> None:
        data = self.out.fresh("data")
        key = self.out.constant("pack", f"Struct('>{node.key.letter}').pack")
        value = self.out.constant("pack", f"Struct('>{node.value.letter}').pack")
        call = f"build_entries({var}, {key}, {value}, {path!r})"
        self.out.line(f"{data} = {call} if {var} else b''")
        self.emit(node.length, f"len({data})", path, scope)
        self._piece(data)

    def _constant(self, node: Constant, var: str, path: str, scope: Mapping[str, str]) -> None:
        self._piece(repr(node.value))

    def _condition(self, node: Condition, var: str, path: str, scope: Mapping[str, str]) -> None:
        field = min(node.expression.names)
        place = f"{path}.{field}" if path else field
        self.out.open(f"if not {node.expression.source.format_map(scope)}:")
        self.out.line(f"raise impossible({place!r})")
        self.out.close()

    def _end(self, node: End, var: str, path: str, scope: Mapping[str, str]) -> None:
        """Nothing to write."""

    def _record(self, node: Record, var: str, path: str, scope: Mapping[str, str]) -> None:
        names = {name: self.out.fresh(f"{name}_") for name in node.value_names}
        self.out.line(f"{''.join(f'{v}, ' for v in names.values())}= {var}")
        self.fields(node, names, path)

    def fields(self, node: Record, names: dict[str, str], path: str) -> None:
        """Emits the fields of a record whose values are in the variables ``names``."""
        scope = dict(names)
        for name, field in node.fields:
            place = f"{path}.{name}" if path and name else name or path
            if isinstance(field, Derived):
                var = self._derived(name, field, scope)
                self.emit(field.node, var, place, scope)
            else:
                self.emit(field, scope[name] if name else "", place, scope)

    def _derived(self, name: str | None, field: Derived, scope: dict[str, str]) -> str:
        """Emits the computation of a field once; returns its variable."""
        if isinstance(field.value, int):
            return str(field.value)
        var = self.out.fresh("derived")
        source = field.value.source.format_map(scope)
        self.out.line(f"{var} = {source}")
        self.out.computed[var] = source
        if name:
            scope[name] = var
        return var


def builder_source(node: Node, name: str) -> str:
    """Source of the builder, a function of this name; it uses the names of ``NAMES``."""
    out = Source(f"{name}_")
    builder = _Builder(out)
    if isinstance(node, Record):
        names = {name: f"{name}_" for name in node.value_names}
        builder.fields(node, names, "")
    else:
        names = {"value": "value"}
        builder.emit(node, "value", "", {})
    result = builder.joined()
    return out.function(f"def {name}({', '.join(names.values())}):", f"    return {result}")


NAMES: Final[Mapping[str, object]] = {
    "Struct": struct.Struct,
    "StructError": struct.error,
    "build_entries": build_entries,
    "encode_utf8": encode_utf8,
    "impossible": impossible,
    "unfit": unfit,
    "wrong_size": wrong_size,
}
"""What builders use."""


def make_builder(node: Node, name: str) -> Builder:
    """Compiles the builder; ``name`` shows in tracebacks."""
    made: Builder = compile_function(
        builder_source(node, "build"), "build", f"builder of {name}", NAMES
    )
    return made
