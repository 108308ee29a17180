"""Paths are those of mounted file systems."""

from __future__ import annotations

import pytest

from rocketwire_tools.spark.option_values import OptionError
from rocketwire_tools.spark.paths import local


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/a/b*", "/a/b*"), ("file:///a/b%20c", "/a/b c"), ("C:\\a", "C:\\a"), ("x:y", "x:y")],
)
def test_a_path_may_be_a_url_of_a_file(path: str, expected: str) -> None:
    assert local(path) == expected


def test_a_file_system_of_hadoop_is_refused() -> None:
    with pytest.raises(OptionError, match="hdfs://a/b: Python workers see mounted file systems"):
        local("hdfs://a/b")
