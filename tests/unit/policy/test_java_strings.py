"""Text as Java's ``String`` sees it."""

import pytest

from rocketwire.policy import java_strings
from tests.support.policy_vectors import decisions
from tests.support.vectors import JavaVector


def texts() -> list[JavaVector]:
    return [vector for vector in decisions("selectors", "hash_code") if vector["type"] == "string"]


@pytest.mark.parametrize("vector", texts(), ids=str)
def test_hash_codes_are_java_s(vector: JavaVector) -> None:
    assert java_strings.string_hash(vector["text"]) == vector["value"]


def test_characters_beyond_the_basic_plane_sort_before_the_last_of_it() -> None:
    assert sorted(["\uff5e", "\U0001f680"], key=java_strings.sort_key) == ["\U0001f680", "\uff5e"]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [("", [""]), ("a", ["a"]), (";a;;b;;", ["", "a", "", "b"]), (";", []), (";;", [])],
)
def test_empty_pieces_are_dropped_at_the_end_only(text: str, pieces: list[str]) -> None:
    assert java_strings.split(text, ";") == pieces


def test_trimming_takes_control_characters_and_no_other_spaces() -> None:
    assert java_strings.trim("\x00\x1f a\u00a0\u3000 \t") == "a\u00a0\u3000"
