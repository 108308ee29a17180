"""Texts are read as ``java.util.Properties`` reads them; the tables were checked with Java 17."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.errors import DecodeError, IllegalValueError
from rocketwire.serving.java_properties import (
    Entry,
    PropertiesFile,
    file_text,
    flat_text,
    load_config,
    load_entries,
    load_properties,
    load_update,
)

TEXTS = st.text(st.sampled_from("ab =:#!\\\n\r\t\fé漢😀\x00\x7f\u2028"), max_size=8)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=b", {"a": "b"}),
        ("a:b", {"a": "b"}),
        ("a b", {"a": "b"}),
        ("  a \t = \f b c ", {"a": "b c "}),
        ("a", {"a": ""}),
        ("=b", {"": "b"}),
        ("a = = b", {"a": "= b"}),
        ("a==b", {"a": "=b"}),
        ("a\\=b=c", {"a=b": "c"}),
        ("a\\ b c", {"a b": "c"}),
        ("# a=b\n!c=d\n  # e\n\n", {}),
        ("a=#b", {"a": "#b"}),
        ("a=1\na=2", {"a": "2"}),
        ("a=1\rb=2\r\nc=3", {"a": "1", "b": "2", "c": "3"}),
        ("a=b\\\n   c", {"a": "bc"}),
        ("a=b\\\r\n\\\n c", {"a": "bc"}),
        ("a=b\\\n# no comment", {"a": "b# no comment"}),
        ("a=b\\\n\nc=d", {"a": "b", "c": "d"}),
        ("a=b\\\\\nc=d", {"a": "b\\", "c": "d"}),
        ("\\\n# a comment\na=b", {"a": "b"}),
        ("conf\\\n  ig=1", {"config": "1"}),
        ("config\\u0053torePath=x", {"configStorePath": "x"}),
        ("a=\\t\\n\\r\\f\\q\\\\", {"a": "\t\n\r\fq\\"}),
        ("a=\\ud83d\\ude00 \\ud800", {"a": "😀 \ud800"}),
        ("a=é", {"a": "Ã©"}),
        ("a=b\\", {"a": "b"}),
        ("\\", {"": ""}),
        ("\\\n", {"": ""}),
        ("\\\r\n", {}),
        ("", {}),
    ],
)
def test_texts_are_read_as_java_reads_them(text: str, expected: dict[str, str]) -> None:
    assert load_properties(text.encode("utf-8")) == expected


@pytest.mark.parametrize("text", ["a=\\u00zz", "a=\\u12", "\\u=1", "bad\\u00zz=1"])
def test_a_malformed_unicode_escape_is_an_error(text: str) -> None:
    with pytest.raises(DecodeError, match="malformed"):
        load_properties(text.encode())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=b", [Entry("a", "b", 1, "a=b")]),
        ("# x\n\n  a : b ", [Entry("a", "b ", 3, "a : b ")]),
        (
            "a=1\r\nb=2\rc=3",
            [Entry("a", "1", 1, "a=1"), Entry("b", "2", 2, "b=2"), Entry("c", "3", 3, "c=3")],
        ),
        (
            "x=1\na=b\\\n   c\nd=e",
            [Entry("x", "1", 1, "x=1"), Entry("a", "bc", 2, "a=bc"), Entry("d", "e", 4, "d=e")],
        ),
        ("\\\n\\\na=b", [Entry("a", "b", 3, "a=b")]),
        ("\n\\", [Entry("", "", 2, "")]),
        ("\na=b\\", [Entry("a", "b", 2, "a=b")]),
        ("\\u0061=\\u0062", [Entry("a", "b", 1, "\\u0061=\\u0062")]),
        ("a=1\na=2", [Entry("a", "1", 1, "a=1"), Entry("a", "2", 2, "a=2")]),
    ],
)
def test_entry_has_its_line_and_its_text(text: str, expected: list[Entry]) -> None:
    assert load_entries(text.encode()) == expected


def test_malformed_entry_is_named_with_its_line() -> None:
    with pytest.raises(DecodeError, match=r"^line 3: malformed"):
        load_properties(b"a=b\n# \\u00zz\nc=\\u00zz\n")


def test_a_file_is_a_table_that_knows_its_lines() -> None:
    file = PropertiesFile("f", load_entries(b"a=1\nb=2\na=3\n"))

    assert dict(file) == {"b": "2", "a": "3"}
    assert list(file) == ["b", "a"]
    assert len(file) == 2
    assert file.entry("a").line == 3
    assert file.repeated == [Entry("a", "1", 1, "a=1")]
    with pytest.raises(KeyError):
        file.entry("c")


def test_an_update_is_utf_8_read_as_latin_1() -> None:
    assert load_update("productEnvName=é".encode()) == {"productEnvName": "Ã©"}
    assert load_update(b"productEnvName=a\\u00e9b  ") == {"productEnvName": "aéb  "}


def test_an_update_that_is_no_utf_8_has_replacement_characters() -> None:
    assert load_update(b"a=\xff") == {"a": "ï¿½"}


def test_the_flat_text_is_sorted_by_utf_16_units_and_not_escaped() -> None:
    table = {"b": "x = y\\", "a": "é\tz", "\uffee": "2", "😀": "1"}

    assert flat_text(table) == "a=é\tz\nb=x = y\\\n😀=1\n\uffee=2\n"


def test_ordinary_settings_are_stored_as_java_stores_them() -> None:
    table = {"configBlackList": "a;b", "bindAddress": "::", "kvConfigPath": "/a b/kv=1.json"}

    assert file_text(table) == flat_text(table).encode()


def test_a_line_break_in_a_value_does_not_become_a_key_of_the_stored_text() -> None:
    assert file_text({"a": "1\nconfigStorePath=/x"}) == b"a=1\\nconfigStorePath=/x\n"


@given(st.dictionaries(TEXTS, TEXTS, max_size=4))
def test_what_is_stored_reads_back_as_it_was(table: dict[str, str]) -> None:
    assert load_properties(file_text(table)) == table


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        table = load_properties(data)
    except DecodeError:
        return
    assert load_properties(file_text(table)) == table


def test_a_text_of_continued_lines_alone_takes_linear_time() -> None:
    assert load_properties(b"a\\\n" * 200_000) == {"a" * 200_000: ""}
    assert load_properties(b"\\\n" * 200_000) == {"": ""}


def test_a_configuration_file_gives_its_pairs(tmp_path: Path) -> None:
    path = tmp_path / "ns.properties"
    path.write_bytes(b"listenPort=1\nname=\xe9\n")

    assert load_config(str(path)) == {"listenPort": "1", "name": "é"}


def test_a_malformed_configuration_file_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "ns.properties"
    path.write_bytes(b"a=\\u00zz")

    with pytest.raises(IllegalValueError, match=r"ns\.properties"):
        load_config(str(path))
