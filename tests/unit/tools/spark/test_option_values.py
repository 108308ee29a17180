"""Texts of options become values, or an error that names the option."""

from __future__ import annotations

from typing import Any

import pytest

from rocketwire_tools.spark.option_values import (
    OptionError,
    local,
    one_of,
    one_path,
    plain_text,
    read_values,
    read_with_paths,
    several_paths,
    size,
    switch,
)

READERS: dict[str, Any] = {
    "path": ("paths", one_path),
    "paths": ("paths", several_paths),
    "partSize": ("part_size", size),
    "form": ("form", one_of("short", "long")),
    "deep": ("deep", switch),
    "note": ("note", plain_text),
}


def test_options_fill_their_fields_in_any_case() -> None:
    options = {
        "PATH": "a",
        "paths": '["b", "c"]',
        "PARTSIZE": "64m",
        "Form": "LONG",
        "deep": "True",
    }

    values = read_values(options, READERS)

    assert values == {"paths": ("a", "b", "c"), "part_size": 64 << 20, "form": "long", "deep": True}


@pytest.mark.parametrize(
    ("text", "value"), [("7", 7), ("1k", 1024), ("2MB", 2 << 20), ("1g", 1 << 30), (" 3b ", 3)]
)
def test_a_size_has_a_unit_or_none(text: str, value: int) -> None:
    assert size("x", text) == value


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        ("nonsense", "1", "unknown option 'nonsense'; the options are path, paths, partSize"),
        ("form", "fast", "option 'form': 'fast' is not one of short, long"),
        ("partSize", "large", "option 'partSize': 'large' is not a size"),
        ("partSize", "-1", "'-1' is not a size"),
        ("partSize", "1kmb", "'1kmb' is not a size"),
        ("paths", "a", "option 'paths': 'a' is not a JSON list"),
        ("deep", "1", "option 'deep': '1' is not one of true, false"),
    ],
)
def test_an_invalid_option_is_refused_by_name(option: str, text: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        read_values({"path": "x", option: text}, READERS)


def test_without_a_path_nothing_can_be_read() -> None:
    with pytest.raises(OptionError, match="no path"):
        read_with_paths({"note": "x"}, READERS)


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/a/b*", "/a/b*"), ("file:///a/b%20c", "/a/b c"), ("C:\\a", "C:\\a"), ("x:y", "x:y")],
)
def test_a_path_may_be_a_url_of_a_file(path: str, expected: str) -> None:
    assert local(path) == expected


def test_a_file_system_of_hadoop_is_refused() -> None:
    with pytest.raises(OptionError, match="hdfs://a/b: Python workers see mounted file systems"):
        local("hdfs://a/b")
