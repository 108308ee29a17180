"""Texts of options become values, or an error that names the option."""

import pytest

from rocketwire_tools.spark.option_values import local


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/a/b*", "/a/b*"), ("file:///a/b%20c", "/a/b c"), ("C:\\a", "C:\\a"), ("x:y", "x:y")],
)
def test_path_may_be_a_url_of_a_file(path: str, expected: str) -> None:
    assert local(path) == expected
