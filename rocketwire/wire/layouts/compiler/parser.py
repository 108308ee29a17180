"""Layout -> source of a parser: flat, a bounds check before each read, fixed fields in one go.

A parser is ``parse(buf, pos=0, end=None) -> (value, position after it)``.  Slices have the buffer's
own type, or are bytes where they have one of two fixed sizes.  It raises ``TruncatedError`` when a declared length or a fixed field passes ``end``,
``LimitExceededError`` when a count cannot fit, ``DecodeError`` for everything else that is wrong,
each with the field's path and the position; nothing else, whatever the bytes.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from rocketwire.wire.java_utf8 import decode_damaged, decode_slice
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
    minimum_size,
)
from rocketwire.wire.layouts.compiler.source import Source
from rocketwire.wire.layouts.runtime.entries import SEVERAL, entries_reader, surplus_finder
from rocketwire.wire.layouts.runtime.lists import read_pieces
from rocketwire.wire.layouts.runtime.parse_errors import (
    bad_count,
    bad_length,
    refused,
    short,
    too_many,
)
from rocketwire.wire.values.frozen import compile_function

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rocketwire.wire.layouts.compiler.nodes import Parser


class _Field(NamedTuple):
    """A fixed field of a run."""

    letter: str
    var: str
    path: str


class _Either(NamedTuple):
    """Bytes in a run, one size or another; the size where the condition is false is the usual one."""

    condition: str
    yes: int
    no: int
    var: str
    path: str


class _Remark(NamedTuple):
    """A text in a run, behind its length, which is usually zero."""

    letter: str
    length: str
    var: str
    path: str


class _Check(NamedTuple):
    """What has to be true of the fields before it."""

    condition: str
    place: str


_Step: TypeAlias = "_Field | _Either | _Remark | _Check"


class _Parser:
    """Emits the body.  ``p`` is the position; fixed fields wait in a run, as in the builder.

    So does what usually has a fixed size: then the usual case is tried first, in one go, and whatever else it is goes step by
    step, which finds all that is wrong.
    """

    def __init__(self, prefix: str) -> None:
        self.out = Source(prefix)
        self._run: list[_Step] = []
        self._after: list[str] = []  # lines that complete variables of the run
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
            Derived: self._derived,
            Condition: self._condition,
            End: self._end,
            Record: self._record,
        }

    def emit(self, node: Node, var: str, end: str, path: str, scope: dict[str, str]) -> None:
        """Emits what reads into ``var``; ``scope`` tells the variables of the record's fields."""
        self._emitters[type(node)](node, var, end, path, scope)

    def flush(self, end: str) -> None:
        """Emits the waiting run: one check, one ``unpack_from``."""
        run, after = self._run, self._after
        self._run, self._after = [], []
        usual = any(isinstance(step, _Either | _Remark) for step in run) and not after
        if usual:
            self._usual(run, end)
        fields: list[_Field] = []
        for step in run:
            if isinstance(step, _Field):
                fields.append(step)
                continue
            if isinstance(step, _Remark):
                fields.append(_Field(step.letter, step.length, step.path))
            self._fields(fields, end)
            fields = []
            if isinstance(step, _Check):
                self._checked(step, end)
            elif isinstance(step, _Remark):
                self._remark(step, end)
            else:
                self._either(step, end)
        self._fields(fields, end)
        if usual:
            self.out.close()
        for line in after:
            self.out.line(line)

    def _usual(self, run: Sequence[_Step], end: str) -> None:
        """Emits the attempt to read all of a run at once; what follows is for when that failed."""
        letters, names, conditions, empty = "", "", list[str](), list[str]()
        for step in run:
            match step:
                case _Check():
                    conditions.append(step.condition)
                    continue
                case _Field():
                    letters += step.letter
                    names += f"{step.var}, "
                case _Either():
                    letters += f"{step.no}s"
                    names += f"{step.var}, "
                    conditions.append(f"not {step.condition}")
                case _:
                    letters += step.letter
                    names += f"{step.length}, "
                    conditions.append(f"not {step.length}")
                    empty.append(step.var)
        packed = struct.Struct(">" + letters)
        unpack = self.out.constant("unpack", f"Struct({packed.format!r}).unpack_from")
        usual = self.out.fresh("usual")
        self.out.line(f"{usual} = False")
        self.out.open(f"if p + {packed.size} <= {end}:")
        self.out.line(f"{names}= {unpack}(buf, p)")
        self.out.line(f"{usual} = {' and '.join(conditions)}")
        self.out.close()
        self.out.open(f"if {usual}:")
        self.out.line(f"p += {packed.size}")
        for var in empty:
            self.out.line(f"{var} = ''")
        self.out.close()
        self.out.open("else:")

    def _fields(self, fields: Sequence[_Field], end: str) -> None:
        if not fields:
            return
        packed = struct.Struct(">" + "".join(letter for letter, _, _ in fields))
        reach, steps = 0, list[tuple[str, int]]()
        for letter, _, path in fields:
            reach += struct.calcsize(">" + letter)
            steps.append((path, reach))
        self.out.open(f"if p + {packed.size} > {end}:")
        self.out.line(
            f"raise short(buf, p, {end}, {self.out.constant('steps', repr(tuple(steps)))})"
        )
        self.out.close()
        if packed.format == ">B":
            self.out.line(f"{fields[0].var} = buf[p]")
        elif packed.format == ">b":
            self.out.line(f"{fields[0].var} = (buf[p] ^ 128) - 128")
        else:
            names = "".join(f"{var}, " for _, var, _ in fields)
            unpack = self.out.constant("unpack", f"Struct({packed.format!r}).unpack_from")
            self.out.line(f"{names}= {unpack}(buf, p)")
        self.out.line(f"p += {packed.size}")

    def _checked(self, check: _Check, end: str) -> None:
        self.out.open(f"if not {check.condition}:")
        self.out.line(f"raise refused(buf, p, {end}, 'a value that cannot be', {check.place!r})")
        self.out.close()

    def _either(self, either: _Either, end: str) -> None:
        length = self.out.fresh("length")
        self.out.line(f"{length} = {either.yes} if {either.condition} else {either.no}")
        self._slice(either.var, self._take(either.var, length, end, either.path, signed=False))

    def _remark(self, remark: _Remark, end: str) -> None:
        stop = self._take(remark.var, remark.length, end, remark.path, signed=True)
        self._text(Text(), remark.var, stop, remark.path, {})

    def _fixed(self, node: Fixed, var: str, end: str, path: str, scope: dict[str, str]) -> None:
        self._run.append(_Field(node.letter, var, path))

    def _unsigned24(
        self, node: Unsigned24, var: str, end: str, path: str, scope: dict[str, str]
    ) -> None:
        high = self.out.fresh("high")
        self._run += [_Field("B", high, path), _Field("H", var, path)]
        self._after.append(f"{var} |= {high} << 16")

    def _constant(
        self, node: Constant, var: str, end: str, path: str, scope: dict[str, str]
    ) -> None:
        self._run.append(_Field(f"{len(node.value)}s", var, path))
        place = f"p - {len(node.value)}"
        self._after.append(f"if {var} != {node.value!r}:")
        self._after.append(f"    raise refused(buf, {place}, {end}, 'not the constant', {path!r})")
        self.flush(end)

    def _derived(self, node: Derived, var: str, end: str, path: str, scope: dict[str, str]) -> None:
        self.emit(node.node, var, end, path, scope)

    def _take(self, var: str, length: str, end: str, path: str, *, signed: bool) -> str:
        """Emits the check of a length; returns the variable that holds where the bytes end."""
        stop = self.out.fresh("stop")
        self.out.line(f"{stop} = p + {length}")
        check = f"{stop} > {end} or {length} < 0" if signed else f"{stop} > {end}"
        self.out.open(f"if {check}:")
        self.out.line(f"raise bad_length(buf, p, {end}, {length}, {path!r})")
        self.out.close()
        return stop

    def _raw(self, node: Raw, var: str, end: str, path: str, scope: dict[str, str]) -> None:
        self.flush(end)
        if isinstance(node.length, int):
            stop = self._take(var, str(node.length), end, path, signed=False)
        else:
            length = self.out.fresh("length")
            self.out.line(f"{length} = {node.length.source.format_map(scope)}")
            stop = self._take(var, length, end, path, signed=True)
        self._slice(var, stop)

    def _slice(self, var: str, stop: str) -> None:
        self.out.line(f"{var} = buf[p:{stop}]")
        self.out.line(f"p = {stop}")

    def _rest(self, node: Rest, var: str, end: str, path: str, scope: dict[str, str]) -> None:
        self.flush(end)
        self._slice(var, end)

    def _text(self, node: Text, var: str, end: str, path: str, scope: dict[str, str]) -> None:
        self.flush(end)  # nothing waits where a run is being emitted
        self.out.open("try:")
        self.out.line(f"{var} = text(buf[p:{end}])")
        self.out.close()
        self.out.open("except UnicodeDecodeError:")
        self.out.line(f"{var} = decode_damaged(bytes(buf[p:{end}]))")
        self.out.close()
        self.out.line(f"p = {end}")

    def _sized(self, node: Sized, var: str, end: str, path: str, scope: dict[str, str]) -> None:
        length = self.out.fresh("length")
        match node:
            case Sized(
                length=Fixed(size=4, signed=True, letter=letter),
                node=Text(),
                whole=False,
                optional=False,
            ):
                self._run.append(_Remark(letter, length, var, path))
                return
            case _:
                self.emit(node.length, length, end, path, scope)
                self.flush(end)
        if node.whole:
            self.out.line(f"{length} -= {node.length.size}")
        if node.optional:
            self.out.line(f"{var} = None")
            self.out.open(f"if {length}:")
        signed = node.length.signed or node.whole
        stop = self._take(var, length, end, path, signed=signed)
        self.emit(node.node, var, stop, path, scope)
        self.flush(stop)
        if not isinstance(node.node, Rest | Text):
            self.out.line(f"p = {stop}")
        if node.optional:
            self.out.close()

    def _counted(self, node: Counted, var: str, end: str, path: str, scope: dict[str, str]) -> None:
        count = self.out.fresh("count")
        size = minimum_size(node.node)
        self.emit(node.count, count, end, path, scope)
        self.flush(end)
        self.out.open(f"if {count} * {size} > {end} - p:")
        self.out.line(f"raise bad_count({count}, {end} - p, {size}, {path!r}, p)")
        self.out.close()
        loop = f"for _ in range({count}):"
        match node.node:
            case Sized(length=Fixed(size=4), node=Rest(), whole=False, optional=False):
                self.out.line(f"{var}, p = read_pieces(buf, p, {end}, {count})")
                self.out.open(f"if {var} is None:")
                self._elements(node.node, var, end, path, loop)
                self.out.close()
            case _:
                self._elements(node.node, var, end, path, loop)

    def _until_end(
        self, node: UntilEnd, var: str, end: str, path: str, scope: dict[str, str]
    ) -> None:
        self.flush(end)
        self._elements(node.node, var, end, path, f"while p < {end}:")

    def _elements(self, node: Node, var: str, end: str, path: str, loop: str) -> None:
        add, element = self.out.fresh("add"), self.out.fresh("element")
        self.out.line(f"{var} = []")
        self.out.line(f"{add} = {var}.append")
        self.out.open(loop)
        self.emit(node, element, end, f"{path}[]", {})
        self.flush(end)
        self.out.line(f"{add}({element})")
        self.out.close()

    def _choice(self, node: Choice, var: str, end: str, path: str, scope: dict[str, str]) -> None:
        condition = node.condition.source.format_map(scope)
        match node:
            case Choice(then=Raw(length=int() as yes), otherwise=Raw(length=int() as no)):
                self._run.append(_Either(condition, yes, no, var, path))
            case _:
                self.flush(end)
                self._branch(f"if {condition}:", node.then, var, end, path, scope)
                self._branch("else:", node.otherwise, var, end, path, scope)

    def _branch(
        self, head: str, node: Node, var: str, end: str, path: str, scope: dict[str, str]
    ) -> None:
        self.out.open(head)
        self.emit(node, var, end, path, scope)
        self.flush(end)
        self.out.close()

    def _condition(
        self, node: Condition, var: str, end: str, path: str, scope: dict[str, str]
    ) -> None:
        field = min(node.expression.names)
        place = f"{path}.{field}" if path else field
        self._run.append(_Check(node.expression.source.format_map(scope), place))

    def _end(self, node: End, var: str, end: str, path: str, scope: dict[str, str]) -> None:
        self.flush(end)
        self.out.open(f"if p != {end}:")
        self.out.line(f"raise refused(buf, p, {end}, f'{{{end} - p}} bytes left over', {path!r})")
        self.out.close()

    def _record(self, node: Record, var: str, end: str, path: str, scope: dict[str, str]) -> None:
        inner = {name: self.out.fresh(f"{name}_") for name, _ in node.fields if name is not None}
        for name, field in node.fields:
            place = f"{path}.{name}" if path and name else name or path
            self.emit(field, inner[name] if name else self.out.fresh("_"), end, place, inner)
        self.flush(end)
        values = "".join(f"{inner[name]}, " for name in node.value_names)
        self.out.line(f"{var} = ({values})")

    def _entries(self, node: Entries, var: str, end: str, path: str, scope: dict[str, str]) -> None:
        total = self.out.fresh("total")
        self.emit(node.length, total, end, path, scope)
        self.flush(end)
        key, value = (f"Struct('>{one.letter}')" for one in (node.key, node.value))
        names = {
            "var": var,
            "total": total,
            "end": end,
            "path": repr(path),
            "key": self.out.constant("unpack", f"{key}.unpack_from"),
            "value": self.out.constant("unpack", f"{value}.unpack_from"),
            "read": self.out.constant("read", f"entries_reader({key}, {value})"),
            "surplus": self.out.constant(
                "surplus", f"surplus_finder({key}, {value}, {node.limit})"
            ),
            "several": str(SEVERAL),
            "most": str(node.limit * (node.key.size + node.value.size)),
            "k": str(node.key.size),
            "v": str(node.value.size),
            "limit": str(node.limit),
            "key_step": self.out.constant("steps", repr(((f"{path}.key", node.key.size),))),
            "value_step": self.out.constant("steps", repr(((f"{path}.value", node.value.size),))),
        }
        for line in _ENTRIES.format_map(names).splitlines():
            self.out.line(line)


_ENTRIES: Final = """\
{var} = None
if {total} > 0:
    until = p + {total}
    if until > {end}:
        raise bad_length(buf, p, {end}, {total}, {path})
    {var} = {read}(bytes(buf[p:until])) if {several} <= {total} <= {most} else None
    if {total} > {most}:
        q = {surplus}(buf, p, until, {end})
        if q is not None:
            raise too_many({limit}, {path}, q)
    if {var} is None:
        {var} = {{}}
    else:
        p = until
    while p < until:
        if p + {k} > {end}:
            raise short(buf, p, {end}, {key_step})
        (n,) = {key}(buf, p)
        p += {k}
        q = p + n
        if not p <= q <= {end} - {v} or n > {total}:
            if n < 0 or n > {total} or q > {end}:
                raise bad_length(buf, p, {end}, n, {path} + '.key')
            raise short(buf, q, {end}, {value_step})
        left = buf[p:q]
        (n,) = {value}(buf, q)
        p = q + {v}
        q = p + n
        if not p <= q <= {end} or n > {total}:
            raise bad_length(buf, p, {end}, n, {path} + '.value')
        if left:
            try:
                left = text(left)
                right = text(buf[p:q])
            except UnicodeDecodeError:
                left = left if left.__class__ is str else decode_damaged(bytes(left))
                right = decode_damaged(bytes(buf[p:q])) if n else ''
            if right:
                {var}[left] = right
            else:
                {var}.pop(left, None)
        p = q
"""


_TEXT_READER: Final = ("    text = decode_bytes if buf.__class__ is bytes else decode_slice",)
"""A method of bytes reads a text in half the time that ``str`` takes, which reads any buffer."""


def parser_source(node: Node, name: str) -> str:
    """Source of the parser, a function of this name; it uses the names of ``NAMES``."""
    parser = _Parser(f"{name}_")
    parser.emit(node, "value", "end", "", {})
    parser.flush("end")
    head = (
        f"def {name}(buf, pos=0, end=None):",
        "    p = pos",
        "    if end is None or end > len(buf):",
        "        end = len(buf)",
        *_TEXT_READER[: any("= text(" in line for line in parser.out.lines)],
    )
    return parser.out.function("\n".join(head), "    return value, p")


NAMES: Final[Mapping[str, object]] = {
    "Struct": struct.Struct,
    "bad_count": bad_count,
    "bad_length": bad_length,
    "decode_bytes": bytes.decode,
    "decode_slice": decode_slice,
    "decode_damaged": decode_damaged,
    "entries_reader": entries_reader,
    "surplus_finder": surplus_finder,
    "read_pieces": read_pieces,
    "refused": refused,
    "short": short,
    "too_many": too_many,
}
"""What parsers use."""


def make_parser(node: Node, name: str) -> Parser[Any]:
    """Compiles the parser; ``name`` shows in tracebacks."""
    made: Parser[Any] = compile_function(
        parser_source(node, "parse"), "parse", f"parser of {name}", NAMES
    )
    return made
