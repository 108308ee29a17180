"""Declarations become functions, or are refused when the module is imported; nothing is guessed."""

# construct has no types
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportOperatorIssue=false, reportUnknownLambdaType=false

from __future__ import annotations

from typing import Any

import construct
import pytest
from construct.expr import BinExpr, operator

from rocketwire.errors import DecodeError, EncodeError, LimitExceededError, TruncatedError
from rocketwire.wire.layouts.compiler.constructs import (
    JavaEntries,
    JavaText,
    OptionalPrefixed,
    StrictArray,
    StrictRange,
    field_path,
)
from rocketwire.wire.layouts.compiler.lower import lower
from rocketwire.wire.layouts.compiler.nodes import UnsupportedConstruct, minimum_size
from rocketwire.wire.layouts.interpreter import interpret_builder, interpret_parser
from tests.support.builders.compiled_layouts import compile_builder, compile_parser

c: Any = construct
this, len_ = c.this, c.len_

UNSUPPORTED = {
    "a little-endian integer": c.Int32ul,
    "a float": c.Float32b,
    "an integer of five bytes": c.BytesInteger(5),
    "a signed integer of three bytes": c.Int24sb,
    "a little-endian integer of three bytes": c.Int24ul,
    "a greedy range, which hides truncation": c.GreedyRange(c.Int8ub),
    "an array": c.Int8ub[3],
    "a prefixed array, which trusts its count": c.PrefixedArray(c.Int8ub, c.Int8ub),
    "a switch": c.Struct("a" / c.Int8ub, "b" / c.Switch(this.a, {1: c.Int8ub})),
    "an enum": c.Enum(c.Int8ub, one=1),
    "a variable integer": c.VarInt,
    "padding": c.Padding(3),
    "a lambda as a length": c.Struct("a" / c.Int8ub, "b" / c.Bytes(lambda ctx: ctx.a)),
    "a field of an outer record": c.Struct(
        "a" / c.Int8ub, "b" / c.Struct("x" / c.Int8ub, "c" / c.Bytes(this._.a))
    ),
    "a field that is not there": c.Struct("a" / c.Int8ub, "b" / c.Bytes(this.nothing)),
    "a field that comes later": c.Struct("b" / c.Bytes(this.a), "a" / c.Int8ub),
    "a bare this": c.Struct("a" / c.Int8ub, "b" / c.Bytes(this)),
    "an item of a field": c.Struct("a" / c.Int8ub, "b" / c.Bytes(this.a.b)),
    "a division": c.Struct("a" / c.Int8ub, "b" / c.Bytes(this.a / 2)),
    "a negation": c.Struct("a" / c.Int8ub, "b" / c.Bytes(~this.a)),
    "an item by its position": c.Struct("a" / c.Int8ub, "b" / c.Bytes(this.a[0])),
    "a field with a space in its name": c.Struct("a b" / c.Int8ub, "b" / c.Bytes(this["a b"])),
    "a multiplication": c.Struct("a" / c.Int8ub, "b" / c.Bytes(this.a * 2)),
    "a shift": c.Struct("a" / c.Int8ub, "b" / c.Bytes(this.a << 1)),
    "another comparison": c.Struct("a" / c.Int8ub, "b" / c.Bytes(this.a != 1)),
    "another function than len": c.Struct("a" / c.Int8ub, "b" / c.Bytes(c.abs_(this.a))),
    "an expression without a field": c.Struct(
        "a" / c.Int8ub, "b" / c.Bytes(BinExpr(operator.add, 1, 2))
    ),
    "a constant": c.Const(b"MZ"),
    "a length of another type": c.Prefixed(c.GreedyBytes, c.GreedyBytes),
    "a wrong size of elements": StrictArray(c.Int8ub, c.Int16ub, element_size=1),
    "entries with a short key length": JavaEntries(c.Int32sb, c.Int8sb, c.Int32sb, limit=3),
    "entries with a short value length": JavaEntries(c.Int32sb, c.Int16sb, c.Int16sb, limit=3),
    "entries with a length of three bytes": JavaEntries(c.Int24ub, c.Int16sb, c.Int32sb, limit=3),
    "a hook": c.Int8ub * (lambda obj, ctx: None),
    "a named hook": c.Struct("a" / c.Int8ub * (lambda obj, ctx: None)),
    "a choice between records": c.Struct(
        "a" / c.Int8ub, "b" / c.IfThenElse(this.a, c.Struct("x" / c.Int8ub), c.Int8ub)
    ),
    "a choice between lists": c.Struct(
        "a" / c.Int8ub, "b" / c.IfThenElse(this.a, c.Int8ub, StrictRange(c.Int8ub))
    ),
}


@pytest.mark.parametrize("declaration", UNSUPPORTED.values(), ids=UNSUPPORTED)
def test_what_cannot_be_translated_is_refused(declaration: Any) -> None:
    with pytest.raises(UnsupportedConstruct):
        lower(declaration)


@pytest.mark.parametrize(
    "declaration",
    [StrictArray(c.Int8ub, c.GreedyBytes, element_size=0), StrictRange(c.GreedyBytes)],
)
def test_elements_that_may_be_empty_are_refused(declaration: Any) -> None:
    """Any count of them would fit, and a list of them would have no end."""
    with pytest.raises(UnsupportedConstruct, match="no bytes"):
        lower(declaration)


class Case:
    """A declaration, all four functions of it held against each other."""

    def __init__(self, declaration: Any) -> None:
        self.parsers = (compile_parser(declaration), interpret_parser(declaration))
        self.builders = (compile_builder(declaration), interpret_builder(declaration))

    def reads(self, raw: str, value: Any) -> None:
        data = bytes.fromhex(raw)
        for parse in self.parsers:
            assert parse(data) == (value, len(data))

    def writes(self, raw: str, *arguments: Any) -> None:
        for build in self.builders:
            assert build(*arguments).hex() == raw.replace(" ", "")

    def refuses(self, raw: str, kind: type[DecodeError], path: str | None) -> None:
        for parse in self.parsers:
            with pytest.raises(kind) as refusal:
                parse(bytes.fromhex(raw))
            assert (type(refusal.value), refusal.value.path) == (kind, path)

    def refuses_value(self, path: str | None, *arguments: Any) -> None:
        for build in self.builders:
            with pytest.raises(EncodeError) as refusal:
                build(*arguments)
            assert refusal.value.path == path


def test_fixed_fields_are_read_in_one_go_and_the_missing_one_is_named() -> None:
    case = Case(c.Struct("a" / c.Int8ub, "b" / c.Int24ub, "c" / c.Int64sb))
    case.reads("01 000002 ffffffffffffffff", (1, 2, -1))
    case.writes("01 000002 ffffffffffffffff", 1, 2, -1)
    case.refuses("", TruncatedError, "a")
    case.refuses("01 0000", TruncatedError, "b")
    case.refuses("01 000002 ffff", TruncatedError, "c")


def test_a_record_inside_a_record_is_a_tuple_inside_a_tuple() -> None:
    case = Case(c.Struct("a" / c.Int8ub, "b" / c.Struct("c" / c.Int8ub, "d" / c.Bytes(this.c))))
    case.reads("01 02 7879", (1, (2, b"xy")))
    case.writes("01 02 7879", 1, (2, b"xy"))
    case.refuses("01 02 78", TruncatedError, "b.d")


def test_bytes_of_a_fixed_number_are_all_there() -> None:
    case = Case(c.Struct("a" / c.Bytes(2)))
    case.reads("7879", (b"xy",))
    case.writes("7879", b"xy")
    case.refuses("78", TruncatedError, "a")
    for build in case.builders:
        with pytest.raises(EncodeError):
            build(b"x")


@pytest.mark.parametrize(
    ("expression", "length"),
    [
        (this.a + 1, 3),
        (this.a - 1, 1),
        (this.a & 1, 0),
        (this.a | 1, 3),
        ((this.a == 2) + 1, 2),
        ((this.a == 1) + 1, 1),
        (2 + this.a, 4),
    ],
)
def test_a_length_may_be_an_expression(expression: Any, length: int) -> None:
    Case(c.Struct("a" / c.Int8ub, "b" / c.Bytes(expression))).reads(
        "02" + "78" * length, (2, b"x" * length)
    )


def test_a_negative_length_is_refused_and_is_no_truncation() -> None:
    case = Case(c.Struct("a" / c.Int8ub, "b" / c.Bytes(this.a - 3)))
    case.refuses("02 7879", DecodeError, "b")
    Case(c.Struct("a" / c.Prefixed(c.Int8sb, c.GreedyBytes))).refuses("ff 78", DecodeError, "a")


def test_a_derived_field_is_written_but_not_handed_over() -> None:
    case = Case(
        c.Struct(
            "n" / c.Rebuild(c.Int8ub, len_(this.a)),
            "z" / c.Rebuild(c.Int8ub, 7),
            "a" / c.Bytes(this.n),
        )
    )
    case.reads("02 00 7879", (b"xy",))
    case.writes("02 07 7879", b"xy")


def test_a_derived_field_without_a_name_is_written_too() -> None:
    case = Case(c.Struct(c.Rebuild(c.Int8ub, len_(this.a)), "a" / c.GreedyBytes))
    case.reads("63 7879", (b"xy",))
    case.writes("02 7879", b"xy")


def test_bytes_that_do_not_agree_with_their_length_are_not_written() -> None:
    case = Case(c.Struct("n" / c.Int8ub, "a" / c.Bytes(this.n)))
    case.refuses_value("a", 3, b"xy")


def test_what_is_prefixed_has_its_bytes_to_itself() -> None:
    case = Case(c.Struct("a" / c.Prefixed(c.Int8ub, c.Struct("b" / c.Int8ub)), "c" / c.Int8ub))
    for parse in case.parsers:
        assert parse(bytes.fromhex("03 01 ffff 02")) == (((1,), 2), 5)
    case.writes("01 01 02", (1,), 2)
    case.refuses("00 01 02", TruncatedError, "a.b")
    case.refuses("05 01 02", TruncatedError, "a")


def test_nothing_may_be_left_over_where_the_declaration_says_so() -> None:
    case = Case(c.Struct("a" / c.Prefixed(c.Int8ub, c.Struct("b" / c.Int8ub, c.Terminated))))
    case.reads("01 01", ((1,),))
    case.writes("01 01", (1,))
    case.refuses("02 01 ff", DecodeError, "a")


def test_a_size_may_count_itself() -> None:
    case = Case(c.Prefixed(c.Int16ub, c.GreedyBytes, includelength=True))
    case.reads("0004 7879", b"xy")
    case.writes("0004 7879", b"xy")
    case.refuses("0001 7879", DecodeError, None)


def test_an_optional_part_is_none_when_its_length_is_zero() -> None:
    case = Case(c.Struct("a" / OptionalPrefixed(c.Int8sb, JavaText())))
    case.reads("00", (None,))
    case.refuses("ff", DecodeError, "a")
    case.reads("01 78", ("x",))
    case.writes("00", None)
    case.writes("00", "")
    case.writes("02 c3a9", "\u00e9")
    case.refuses("02 78", TruncatedError, "a")


def test_a_text_that_is_mostly_empty_is_read_with_what_is_around_it() -> None:
    case = Case(c.Struct("a" / c.Int8ub, "b" / c.Prefixed(c.Int32sb, JavaText()), "d" / c.Int16ub))
    case.reads("01 00000000 0002", (1, "", 2))
    case.reads("01 00000002 7879 0002", (1, "xy", 2))
    case.reads("01 00000001 ff 0002", (1, "\ufffd", 2))
    case.writes("01 00000000 0002", 1, "", 2)
    case.refuses("01 000000", TruncatedError, "b")
    case.refuses("01 00000000 00", TruncatedError, "d")
    case.refuses("01 00000000", TruncatedError, "d")
    case.refuses("01 00000003 7879", TruncatedError, "b")
    case.refuses("01 ffffffff 7879 0000", DecodeError, "b")


def test_damaged_text_is_replaced_as_java_does() -> None:
    Case(JavaText()).reads("78 eda080 ff", "x\ufffd\ufffd")


def test_a_count_is_held_against_the_bytes_left() -> None:
    case = Case(c.Struct("a" / StrictArray(c.Int32sb, c.Int16ub, element_size=2)))
    case.reads("00000002 0001 0002", ([1, 2],))
    case.writes("00000002 0001 0002", [1, 2])
    case.reads("ffffffff", ([],))
    case.refuses("7fffffff 0001", LimitExceededError, "a")
    for parse in case.parsers:
        with pytest.raises(LimitExceededError) as refusal:
            parse(bytes.fromhex("00000003 0001 0002 ff"))
        assert (refusal.value.declared, refusal.value.limit) == (3, 2)


def test_pieces_by_a_count_end_where_their_lengths_say() -> None:
    case = Case(StrictArray(c.Int32sb, c.Prefixed(c.Int32sb, c.GreedyBytes), element_size=4))
    two = "00000002 00000001 78 00000002 797a"
    case.reads(two, [b"x", b"yz"])
    case.writes(two, [b"x", b"yz"])
    case.refuses("00000002 00000001 78 00000003 797a", TruncatedError, "[]")
    case.refuses("00000002 ffffffff 00000004 00000000", DecodeError, "[]")
    case.refuses("00000003 00000000 fffffff8 00000000", DecodeError, "[]")
    for parse in case.parsers:
        with pytest.raises(TruncatedError):
            parse(bytes.fromhex(two), 0, 14)  # the last piece passes this end, but not the buffer's


def test_records_may_repeat_until_the_end() -> None:
    case = Case(StrictRange(c.Struct("a" / c.Int8ub, "b" / c.Prefixed(c.Int8ub, c.GreedyBytes))))
    case.reads("", [])
    case.reads("01 00 02 01 78", [(1, b""), (2, b"x")])
    case.writes("01 00 02 01 78", [(1, b""), (2, b"x")])
    case.writes("", [])
    case.refuses("01 00 02 01", TruncatedError, "[].b")
    case.refuses("01 00 02", TruncatedError, "[].b")


def test_records_may_repeat_by_a_count() -> None:
    element = c.Struct("a" / c.Int8ub, "b" / c.Bytes(this.a))
    case = Case(StrictArray(c.Int8ub, element, element_size=1))
    case.reads("02 00 01 78", [(0, b""), (1, b"x")])
    case.writes("02 00 01 78", [(0, b""), (1, b"x")])
    case.refuses("02 00 01", TruncatedError, "[].b")


def test_a_choice_follows_a_field() -> None:
    case = Case(
        c.Struct(
            "a" / c.Int8ub,
            "b" / c.IfThenElse(this.a & 1, c.Bytes(2), c.Bytes(1)),
            "c" / c.IfThenElse(this.a & 2, c.Int16ub, c.Int8ub),
        )
    )
    case.reads("00 78 05", (0, b"x", 5))
    case.reads("03 7879 0005", (3, b"xy", 5))
    case.writes("00 78 05", 0, b"x", 5)
    case.writes("03 7879 0005", 3, b"xy", 5)
    case.refuses("01 78", TruncatedError, "b")
    case.refuses("02 78 05", TruncatedError, "c")
    case.refuses_value("c", 0, b"x", 256)


def test_a_condition_must_hold_both_ways() -> None:
    declaration = c.Struct("x" / c.Struct("a" / c.Int8ub, c.Check((this.a == 1) | (this.a == 2))))
    case = Case(declaration)
    case.reads("02", ((2,),))
    case.writes("02", (2,))
    for parse in case.parsers:
        with pytest.raises(DecodeError):
            parse(b"\x03")
    for build in case.builders:
        with pytest.raises(EncodeError):
            build((3,))
    with pytest.raises(DecodeError) as refusal:
        compile_parser(declaration)(b"\x03")
    assert (refusal.value.path, refusal.value.offset) == ("x.a", 1)


def test_the_fields_of_a_condition_are_named_at_the_top_too() -> None:
    declaration = c.Struct("a" / c.Int8ub, c.Check(this.a == 1))
    with pytest.raises(EncodeError) as refusal:
        compile_builder(declaration)(2)
    assert refusal.value.path == "a"


def test_a_text_map_may_stand_alone() -> None:
    case = Case(JavaEntries(c.Int16sb, c.Int16sb, c.Int32sb, limit=3))
    case.reads("0008 0001 61 00000001 62", {"a": "b"})
    case.reads("0000", None)
    case.writes("0008 0001 61 00000001 62", {"a": "b"})
    case.writes("0000", None)
    for build in case.builders:
        with pytest.raises(EncodeError):
            build({"a" * 32768: "b"})
        with pytest.raises(EncodeError):
            build({str(key): "b" * 127 for key in range(300)})


def test_a_text_map_with_more_entries_than_the_limit_is_refused() -> None:
    case = Case(JavaEntries(c.Int16sb, c.Int16sb, c.Int32sb, limit=3))
    a, b = "0001 61 00000001 62", "0001 63 00000001 64"
    case.reads(f"0018 {a} {a} {b}", {"a": "b", "c": "d"})
    for parse in case.parsers:
        with pytest.raises(LimitExceededError, match="more than 3 entries"):
            parse(bytes.fromhex("0018" + "0000 00000000" * 4))


def test_a_single_byte_is_read_without_unpacking() -> None:
    Case(c.Struct("a" / c.Int8ub)).reads("ff", (255,))
    Case(c.Struct("a" / c.Int8sb)).reads("ff", (-1,))


def test_an_error_says_where_and_shows_the_bytes() -> None:
    parse = compile_parser(c.Struct("a" / c.Int8ub, "b" / c.Prefixed(c.Int8ub, c.GreedyBytes)))
    with pytest.raises(TruncatedError) as refusal:
        parse(b"##\x01\x09xyz##", 2, 7)
    assert str(refusal.value) == "b: a length of 9, 3 bytes left (at byte 4) [78 79 7a]"


def test_a_part_beyond_the_data_ends_with_the_data() -> None:
    parse = compile_parser(c.Int32ub)
    with pytest.raises(TruncatedError, match="4 bytes needed, 2 left"):
        parse(b"xy", 0, 100)
    with pytest.raises(TruncatedError, match="4 bytes needed, 0 left"):
        parse(b"xy", 9)


@pytest.mark.parametrize(
    ("declaration", "size"),
    [
        (c.Int24ub, 3),
        (c.Bytes(5), 5),
        (c.GreedyBytes, 0),
        (c.Prefixed(c.Int16ub, c.GreedyBytes), 2),
        (StrictArray(c.Int8ub, c.Int8ub, element_size=1), 1),
        (JavaEntries(c.Int32sb, c.Int16sb, c.Int32sb, limit=9), 4),
        (
            c.Struct(
                "a" / c.Rebuild(c.Int8ub, 1), "b" / c.IfThenElse(this.a, c.Int16ub, c.Int32ub)
            ),
            3,
        ),
    ],
)
def test_the_fewest_bytes_of_a_layout_are_known(declaration: Any, size: int) -> None:
    assert minimum_size(lower(declaration)) == size


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (None, ""),
        ("(parsing)", ""),
        ("(building) -> a", "a"),
        ("(parsing) -> a -> b[] -> c", "a.b[].c"),
        ("(parsing)[] -> c", "[].c"),
    ],
)
def test_paths_of_construct_become_ours(path: str | None, expected: str) -> None:
    assert field_path(path) == expected
