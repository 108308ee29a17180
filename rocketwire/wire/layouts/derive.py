"""Writes ``fused.py``: the layouts of ``declarations`` as plain functions that parse and build.

Run ``python -m rocketwire.wire.layouts.derive`` after a change of the declarations.  A test
compares the file with the declarations, and its functions with construct.

How to read this file: ``_Parser`` and ``_Builder`` have a method for each construct that a
declaration may use; it writes the lines for this construct.  A *place* is a field with the names
around it, such as ``batch[].body``: its last name is the variable, and all after the first name is
the path that errors have.  Adjacent integers wait in a *run*, and are read or packed together,
because each call of ``struct`` costs as much as the integers of a message.
"""

from __future__ import annotations

import ast
import re
import struct
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rocketwire.wire.layouts import declarations
from rocketwire.wire.layouts.errors import LETTER_24

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

FILE: Final = Path(__file__).with_name("fused.py")

BUILT: Final = (
    "ENVELOPE",
    "BINARY_HEADER",
    "REGISTER_BODY",
    "REGISTER_BODY_WITH_MAPPINGS",
    "STORED_MESSAGE",
    "BATCH",
)
"""Layouts that get a builder, too; each declaration with a docstring gets a parser."""

_HEAD: Final = '''\
"""Functions that parse and build the layouts of ``declarations``; ``derive`` writes this file.

``parse_x(buf, pos, end)`` reads a layout from ``pos`` and returns its value and the position after
it.  A record is a tuple of its fields, without those that the builder computes.  Slices have the
type of the buffer.  A parser raises, with the field's path and the position:
``TruncatedError`` if a length or a field passes ``end``, ``LimitExceededError`` if a count is too
large for the remaining bytes, and ``DecodeError`` for other invalid data.

``build_x`` takes such a value, or the fields of a record.  It raises ``EncodeError`` with the
field's path for a value that the layout cannot hold.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from rocketwire.wire.buffer import Buffer
from rocketwire.wire.java_utf8 import decode_utf8, encode_utf8
from rocketwire.wire.layouts import errors
from rocketwire.wire.layouts.entries import build_entries, decode_buffer, parse_entries

BufferT = TypeVar("BufferT", bound=Buffer)

'''


# ------------------------------------------------------------------ what a declaration says

_ARGUMENTS: Final = {
    "Bytes": ("length",),
    "IfThenElse": ("condfunc", "thensubcon", "elsesubcon"),
    "JavaEntries": ("length", "key", "value"),
    "OneOf": ("subcon", "values"),
    "OptionalPrefixed": ("lengthfield", "subcon"),
    "Prefixed": ("lengthfield", "subcon"),
    "Rebuild": ("subcon", "func"),
    "StrictArray": ("countfield", "subcon"),
    "StrictRange": ("subcon",),
}
"""What a comment shows of a construct."""

_CONSTANTS: Final = ("MAX_EXT_FIELDS", "MAGIC_V1", "MAGIC_V2")
_CONSTANT_NAMES: Final = {str(vars(declarations)[name]): name for name in _CONSTANTS}


def kind(con: Any) -> str:
    return type(con).__name__


def python(value: Any) -> str:
    """Return a number or an expression of ``this`` as source text.

    construct prints an expression as Python, such as ``((len_(this['a']) + this['b']) - 4)``.
    """
    source = re.sub(r"this\['(\w+)'\]", r"\1", repr(value)).replace("len_(", "len(")
    source = re.sub(r"\d+", lambda match: _CONSTANT_NAMES.get(match[0], match[0]), source)
    return ast.unparse(ast.parse(source, mode="eval"))  # without needless parentheses


def describe(con: Any) -> str:
    match kind(con):
        case "FormatField" | "BytesInteger":
            return f"Int{8 * con.sizeof()}{'s' if letter_of(con).islower() else 'u'}b"
        case "Renamed":
            return f"{con.name}: {describe(con.subcon)}"
        case name:
            values = [getattr(con, argument) for argument in _ARGUMENTS.get(name, ())]
            texts = [describe(v) if hasattr(type(v), "sizeof") else python(v) for v in values]
            return f"{name}({', '.join(texts)})" if texts else name


def type_of(con: Any, data: str) -> str:
    match kind(con):
        case "FormatField" | "BytesInteger":
            return "int"
        case "Bytes" | "GreedyBytes":
            return data
        case "JavaText":
            return "str"
        case "OptionalPrefixed":
            return f"{type_of(con.subcon, data)} | None"
        case "StrictArray" | "StrictRange":
            return f"list[{type_of(con.subcon, data)}]"
        case "IfThenElse":
            return type_of(con.thensubcon, data)
        case "JavaEntries":
            return "dict[str, str] | None"
        case "Struct":
            return f"tuple[{', '.join(type_of(field, data) for field in fields_of(con))}]"
        case _:
            return type_of(con.subcon, data)


def fields_of(record: Any) -> list[Any]:
    return [con for con in record.subcons if con.name and kind(con.subcon) != "Rebuild"]


def letter_of(integer: Any) -> str:
    return LETTER_24 if kind(integer) == "BytesInteger" else str(integer.fmtstr[-1])


def starts_with_integer(con: Any) -> bool:
    name = kind(con.subcon) if kind(con) == "Renamed" else kind(con)
    integers = ("FormatField", "BytesInteger", "OneOf", "Rebuild")
    return name in (*integers, "Prefixed", "OptionalPrefixed", "StrictArray", "JavaEntries")


def variable(place: str) -> str:
    return place.rpartition(".")[2].replace("[]", "_item")


def path(place: str) -> str:
    return re.sub(r"^\w+\.?", "", place)


# ------------------------------------------------------------------ source text


class _Integer(NamedTuple):
    place: str
    letter: str
    name: str
    value: str


class _Source:
    """The lines of a function, and the run of integers that wait for the next line."""

    def __init__(self, depth: int = 1) -> None:
        self.lines: list[str] = []
        self.run: list[_Integer] = []
        self._comments: list[str] = []
        self._depth = depth

    def line(self, text: str) -> None:
        comments, self._comments = self._comments, []
        for part in self._wrap(comments):
            self.line(f"# {part}")
        self.lines.append("    " * self._depth + text)

    def items(self, head: str, items: Sequence[str], tail: str) -> None:
        text = head + ", ".join(items) + tail
        if len(text) > 100 - 4 * self._depth:
            with self.block(head):
                for part in self._wrap(items):
                    self.line(part)
            text = tail
        self.line(text)

    def comment(self, con: Any) -> None:
        if kind(con) != "Terminated":
            self._comments.append(describe(con))

    def _wrap(self, items: Sequence[str]) -> list[str]:
        rows = list[str]()
        for item in items:
            if rows and len(rows[-1]) + len(item) <= 94 - 4 * self._depth:
                rows[-1] += f" {item},"
            else:
                rows.append(f"{item},")
        return [*rows[:-1], rows[-1].removesuffix(",")] if rows else rows

    @contextmanager
    def block(self, head: str) -> Generator[None]:
        self.line(head)
        self._depth += 1
        yield
        self._depth -= 1

    def check(self, condition: str, error: str, arguments: Sequence[str], tail: str = ")") -> None:
        with self.block(f"{condition}:"):
            self.items(f"raise errors.{error}(", arguments, tail)

    def integer(self, con: Any, place: str, name: str, value: str = "") -> None:
        self.run.append(_Integer(place, letter_of(con), name, value))

    def take_run(self) -> tuple[list[_Integer], str, str]:
        """End the run; return it with the letters and the paths that errors need."""
        run, self.run = self.run, []
        letters = "".join(integer.letter for integer in run)
        return run, letters, " ".join(path(integer.place) for integer in run)


def struct_format(letters: str) -> str:
    return letters.replace(LETTER_24, "BH")  # struct has no integer of three bytes


# ------------------------------------------------------------------ parsers


class _Parser(_Source):
    """``read_X`` writes the lines that read a construct ``X`` from ``pos``, up to the variable
    ``end``, and returns an expression of its value.
    """

    def read(self, con: Any, place: str, end: str) -> str:
        return str(getattr(self, f"read_{kind(con)}")(con, place, end))

    def read_run(self, end: str) -> None:
        run, letters, paths = self.take_run()
        if not run:
            return
        size = struct.calcsize(f">{struct_format(letters)}")
        arguments = ["buf", "pos", end, f"'{letters}'", f"'{paths}'"]
        self.check(f"if pos + {size} > {end}", "too_short", arguments)
        if letters == "b":  # struct takes twice as long, and most topics have such a length
            self.line(f"{run[0].name} = (buf[pos] ^ 128) - 128  # signed")
        else:
            names = list[str]()
            for integer in run:
                names += [f"{integer.name}_high"] * (integer.letter == LETTER_24) + [integer.name]
            comma = "," if len(names) == 1 else ""
            self.items("(", names, f"{comma}) = unpack_{struct_format(letters)}(buf, pos)")
        self.line(f"pos += {size}")
        for integer in run:
            if integer.letter == LETTER_24:
                self.line(f"{integer.name} |= {integer.name}_high << 16")

    def read_number(self, con: Any, place: str, end: str, noun: str) -> str:
        name = f"{variable(place)}_{noun}"
        self.integer(con, place, name)
        self.read_run(end)
        return name

    def check_length(self, length: str, place: str, end: str, *, signed: bool = True) -> str:
        stop = f"{variable(place)}_end"
        self.line(f"{stop} = pos + {length}")
        condition = f"if {stop} > {end} or {length} < 0" if signed else f"if {stop} > {end}"
        self.check(condition, "bad_length", ["buf", "pos", end, length, f"'{path(place)}'"])
        return stop

    def read_FormatField(self, con: Any, place: str, end: str) -> str:
        self.integer(con, place, variable(place))
        return variable(place)

    read_BytesInteger = read_FormatField

    def read_Rebuild(self, con: Any, place: str, end: str) -> str:
        return self.read(con.subcon, place, end)

    def read_Renamed(self, con: Any, place: str, end: str) -> str:
        return self.read(con.subcon, f"{place}.{con.name}", end)

    def read_OneOf(self, con: Any, place: str, end: str) -> str:
        name = self.read(con.subcon, place, end)
        self.read_run(end)
        condition = " and ".join(f"{name} != {python(value)}" for value in con.values)
        self.check(f"if {condition}", "invalid", ["buf", "pos", end, f"'{path(place)}'"])
        return name

    def read_Bytes(self, con: Any, place: str, end: str) -> str:
        length = python(con.length)
        if not length.isidentifier() and not length.isdigit():
            self.line(f"{variable(place)}_length = {length}")
            length = f"{variable(place)}_length"
        stop = self.check_length(length, place, end, signed=not length.isdigit())
        return self.read_GreedyBytes(con, place, stop)

    def read_GreedyBytes(self, con: Any, place: str, end: str) -> str:
        data = f"text(buf[pos:{end}])" if kind(con) == "JavaText" else f"buf[pos:{end}]"
        self.line(f"{variable(place)} = {data}")
        self.line(f"pos = {end}")
        return variable(place)

    read_JavaText = read_GreedyBytes

    def read_Prefixed(self, con: Any, place: str, end: str) -> str:
        length = self.read_number(con.lengthfield, place, end, "length")
        if con.includelength:
            self.line(f"{length} -= {con.lengthfield.sizeof()}")
        return self.read(con.subcon, place, self.check_length(length, place, end))

    def read_OptionalPrefixed(self, con: Any, place: str, end: str) -> str:
        length = self.read_number(con.lengthfield, place, end, "length")
        self.line(f"{variable(place)} = None")
        with self.block(f"if {length}:"):
            return self.read(con.subcon, place, self.check_length(length, place, end))

    def read_StrictArray(self, con: Any, place: str, end: str) -> str:
        count, size = self.read_number(con.countfield, place, end, "count"), con.element_size
        arguments = [count, f"{end} - pos", str(size), f"'{path(place)}'", "pos"]
        self.check(f"if {count} * {size} > {end} - pos", "bad_count", arguments)
        return self.read_StrictRange(con, place, end, f"for _ in range({count}):")

    def read_StrictRange(
        self, con: Any, place: str, end: str, loop: str = "while pos < {}:"
    ) -> str:
        self.line(f"{variable(place)} = []")
        with self.block(loop.format(end)):
            item = self.read(con.subcon, f"{place}[]", end)
            self.line(f"{variable(place)}.append({item})")
        return variable(place)

    def read_IfThenElse(self, con: Any, place: str, end: str) -> str:
        with self.block(f"if {python(con.condfunc)}:"):
            self.read(con.thensubcon, place, end)
        with self.block("else:"):
            return self.read(con.elsesubcon, place, end)

    def read_JavaEntries(self, con: Any, place: str, end: str) -> str:
        name, length = variable(place), self.read_number(con.length, place, end, "length")
        self.line(f"{name} = None")
        with self.block(f"if {length} > 0:"):
            stop = self.check_length(length, place, end, signed=False)
            arguments = f"{stop}, {end}, {python(con.limit)}, '{path(place)}'"
            self.line(f"{name}, pos = parse_entries(buf, pos, {arguments})")
        return name

    def read_Terminated(self, con: Any, place: str, end: str) -> str:
        self.check(f"if pos != {end}", "bytes_left", ["buf", "pos", end, f"'{path(place)}'"])
        return ""

    def read_Struct(self, con: Any, place: str, end: str) -> str:
        for field in con.subcons:
            if not starts_with_integer(field):
                self.read_run(end)
            self.comment(field)
            self.read(field, place, end)
        self.read_run(end)
        names = [field.name for field in fields_of(con)]
        return f"({', '.join(names)}{',' * (len(names) == 1)})"


def parser(name: str) -> list[str]:
    con, source = vars(declarations)[name], _Parser()
    value = source.read(con, name.lower(), "end")
    source.read_run("end")
    if value.startswith("("):
        source.items("return (", value[1:-1].split(", "), "), pos")
    else:
        source.line(f"return {value}, pos")
    head = ["    if end is None or end > len(buf):", "        end = len(buf)"]
    if any("text(" in line for line in source.lines):
        head.append("    text = decode_utf8 if buf.__class__ is bytes else decode_buffer")
    parameters = ["buf: BufferT", "pos: int = 0", "end: int | None = None"]
    first = signature(name, "parse", parameters, f"tuple[{type_of(con, 'BufferT')}, int]")
    return [*first, *head, *source.lines]


# ------------------------------------------------------------------ builders


class _Builder(_Source):
    """``write_X`` writes the lines that build a construct ``X`` from ``value``, an expression, and
    adds expressions of the bytes to ``pieces``.
    """

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []

    def write(self, con: Any, place: str, value: str) -> None:
        getattr(self, f"write_{kind(con)}")(con, place, value)

    def write_run(self) -> None:
        run, letters, paths = self.take_run()
        if not run:
            return
        first, last = run[0].name, run[-1].name
        packed = f"{first}_packed" if len(run) == 1 else f"{first}_to_{last}"
        values = list[str]()
        for integer in run:
            halves = [f"{integer.value} >> 16", f"{integer.value} & 0xFFFF"]
            values += halves if integer.letter == LETTER_24 else [integer.value]
        with self.block("try:"):
            self.items(f"{packed} = pack_{struct_format(letters)}(", values, ")")
        arguments = [f"'{letters}'", f"'{paths}'", *(integer.value for integer in run)]
        self.check("except struct.error as error", "out_of_range", arguments, ") from error")
        self.pieces.append(packed)

    def add(self, piece: str) -> None:
        self.write_run()
        self.pieces.append(piece)

    def write_apart(self, con: Any, place: str, value: str) -> list[str]:
        before = self.run, self.pieces
        self.run, self.pieces = [], []
        self.write(con, place, value)
        self.write_run()
        pieces = self.pieces
        self.run, self.pieces = before
        return pieces

    def write_FormatField(self, con: Any, place: str, value: str) -> None:
        self.integer(con, place, variable(place), value)

    write_BytesInteger = write_FormatField

    def write_Rebuild(self, con: Any, place: str, value: str) -> None:
        value = python(con.func)
        if not value.isdigit():
            self.line(f"{variable(place)} = {value}")
            value = variable(place)
        self.write(con.subcon, place, value)

    def write_Renamed(self, con: Any, place: str, value: str) -> None:
        self.write(con.subcon, f"{place}.{con.name}", con.name)

    def write_OneOf(self, con: Any, place: str, value: str) -> None:
        condition = " and ".join(f"{value} != {python(allowed)}" for allowed in con.values)
        self.check(f"if {condition}", "bad_value", [f"'{path(place)}'"])
        self.write(con.subcon, place, value)

    def write_Bytes(self, con: Any, place: str, value: str) -> None:
        if isinstance(con.length, int):  # other lengths are computed from these bytes
            arguments = [f"'{path(place)}'", f"len({value})", str(con.length)]
            self.check(f"if len({value}) != {con.length}", "bad_size", arguments)
        self.add(value)

    def write_Prefixed(self, con: Any, place: str, value: str) -> None:
        name, data = variable(place), f"{variable(place)}_data"
        empty = f"b'' if {value} is None else " if kind(con) == "OptionalPrefixed" else ""
        match kind(con.subcon):
            case "GreedyBytes" if not empty:
                data = value
            case "GreedyBytes":
                self.line(f"{data} = {empty}{value}")
            case "JavaText":
                self.line(f"{data} = {empty}encode_utf8({value})")
            case _:
                pieces = self.write_apart(con.subcon, place, value)
                self.items(f"{data} = b''.join((", pieces, "))")
        own_size = f" + {con.lengthfield.sizeof()}" if con.includelength else ""
        self.integer(con.lengthfield, place, f"{name}_length", f"len({data}){own_size}")
        self.add(data)

    write_OptionalPrefixed = write_Prefixed

    def write_StrictArray(self, con: Any, place: str, value: str) -> None:
        self.integer(con.countfield, place, f"{variable(place)}_count", f"len({value})")
        self.write_StrictRange(con, place, value)

    def write_StrictRange(self, con: Any, place: str, value: str) -> None:
        self.write_run()
        parts, item = f"{variable(place)}_parts", variable(f"{place}[]")
        self.line(f"{parts} = []")
        with self.block(f"for {item} in {value}:"):
            self.items(f"{parts} += (", self.write_apart(con.subcon, f"{place}[]", item), ")")
        self.add(f"b''.join({parts})")

    def write_IfThenElse(self, con: Any, place: str, value: str) -> None:
        with self.block(f"if {python(con.condfunc)}:"):
            pieces = self.write_apart(con.thensubcon, place, value)
        with self.block("else:"):
            others = self.write_apart(con.elsesubcon, place, value)
        if pieces != others:
            raise TypeError(f"{place}: branches with different pieces: {pieces}, {others}")
        self.pieces += pieces

    def write_JavaEntries(self, con: Any, place: str, value: str) -> None:
        name, data = variable(place), f"{variable(place)}_data"
        self.line(f"{data} = build_entries({value}, '{path(place)}') if {value} else b''")
        self.integer(con.length, place, f"{name}_length", f"len({data})")
        self.add(data)

    def write_Terminated(self, con: Any, place: str, value: str) -> None:
        """Write nothing."""

    def write_Struct(self, con: Any, place: str, value: str) -> None:
        if value:
            self.items("(", [field.name for field in fields_of(con)], f") = {value}")
        for field in con.subcons:
            if not starts_with_integer(field):
                self.write_run()
            self.comment(field)
            self.write(field, place, value)


def builder(name: str) -> list[str]:
    con, place, source = vars(declarations)[name], name.lower(), _Builder()
    is_record = kind(con) == "Struct"  # its fields are the parameters
    pieces = source.write_apart(con, place, "" if is_record else place)
    if len(pieces) == 1:
        source.line(f"return {pieces[0]}")
    else:
        source.items("return b''.join((", pieces, "))")
    values = {field.name: field for field in fields_of(con)} if is_record else {place: con}
    types = {name: type_of(value, "bytes") for name, value in values.items()}
    parameters = ", ".join(f"{name}: {text}" for name, text in types.items())
    parameters = parameters.replace("dict[", "Mapping[").replace("list[", "Sequence[")
    return [*signature(name, "build", parameters.split(", "), "bytes"), *source.lines]


# ------------------------------------------------------------------ the file


def signature(name: str, verb: str, parameters: list[str], result: str) -> list[str]:
    # its docstring is that of the declaration
    head, start = _Source(depth=0), f"def {verb}_{name.lower()}("
    if len(result) < 80:
        head.items(start, parameters, f") -> {result}:")
    else:
        head.items(f"{start}{', '.join(parameters)}) -> (", result.split(", "), "):")
    head.line(f'    """{DOCSTRINGS[name]}"""')
    return head.lines


def read_docstrings() -> Iterator[tuple[str, str]]:
    statements = ast.parse(Path(declarations.__file__).read_text("utf-8")).body
    for statement, docstring in pairwise(statements):
        match statement, docstring:
            case ast.AnnAssign(ast.Name(name), ast.Subscript()), ast.Expr(ast.Constant(text)):
                yield name, str(text).partition("\n")[0]
            case _:
                pass


DOCSTRINGS: Final = dict(read_docstrings())


def constants() -> Iterator[str]:
    *fixed, remark, entries = declarations.BINARY_HEADER.subcons
    for name in _CONSTANTS:
        yield f"{name}: Final = 0x{vars(declarations)[name]:X}"
    for name, con in (
        ("LENGTH", declarations.LENGTH),
        ("PREFIX", declarations.PREFIX),
        ("ITEM_LENGTH", declarations.REGISTER_ITEM.lengthfield),
        ("REMARK_LENGTH", remark.subcon.lengthfield),
        ("EXT_FIELDS_LENGTH", entries.subcon.length),
    ):
        yield f"{name}_SIZE: Final = {con.sizeof()}"
    letters = "".join(letter_of(field.subcon) for field in declarations.PREFIX.subcons)
    yield f"PREFIX_STRUCT: Final = struct.Struct('>{struct_format(letters)}')"
    yield "BINARY_HEADER_FIXED: Final[tuple[tuple[str, str], ...]] = ("
    for field in fixed:
        sign = "i" if field.subcon.fmtstr[-1].islower() else "u"
        yield f"    ('{field.name}', '{sign}{field.sizeof()}'),"
    yield ')\n"""Fields of fixed size: name, and ``i`` or ``u`` with the size in bytes."""'


def source_text() -> str:
    functions = [*map(parser, DOCSTRINGS), *map(builder, BUILT)]
    text = "\n\n\n".join("\n".join(lines) for lines in functions)
    methods = {"pack": "pack", "unpack": "unpack_from"}
    structs = [
        f"{verb}_{form}: Final = struct.Struct('>{form}').{methods[verb]}"
        for verb, form in sorted(set(re.findall(r"\b(pack|unpack)_(\w+)\(", text)))
    ]
    return _HEAD + "\n".join((*constants(), "", *structs, "\n", text, "")).replace("'", '"')


if __name__ == "__main__":
    FILE.write_text(source_text())
