"""Texts of another shape are still JSON, with one container of the other kind."""

from __future__ import annotations

import json

import pytest

from tests.fuzz.chance import Chance
from tests.fuzz.shapes import containers, reshaped

TEXT = rb'{"a":[1,{"b":"[\"}"},[]],"c":{"d":null,"e":{}}}'


def kinds(text: bytes) -> tuple[int, int]:
    found = [text[one.start : one.start + 1] for one in containers(text)]
    return found.count(b"{"), found.count(b"[")


def test_containers_are_found_and_brackets_inside_texts_are_none() -> None:
    assert kinds(TEXT) == (4, 2)
    outer = containers(TEXT)[-1]
    assert (outer.start, outer.end, len(outer.items)) == (0, len(TEXT), 2)


def test_an_object_in_key_position_stays() -> None:
    assert kinds(b'{{"q":1}:2}') == (1, 0)


def test_a_text_without_containers_stays() -> None:
    assert reshaped(Chance(1), b"null") == b"null"


@pytest.mark.parametrize("seed", range(40))
def test_one_container_is_of_the_other_kind(seed: int) -> None:
    other = reshaped(Chance(seed), TEXT)
    assert json.loads(other) != json.loads(TEXT)
    assert kinds(other) != kinds(TEXT)
