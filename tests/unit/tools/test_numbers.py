"""Numbers as arguments of commands."""

from __future__ import annotations

import argparse

import pytest

from rocketwire_tools.numbers import natural, positive


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "x", "²"])
def test_counts_are_numbers_from_one_on(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=f"'{text}': must be a positive integer"):
        positive(text)
    assert positive("7") == 7


@pytest.mark.parametrize("text", ["", "-1", "1.5", "x", "²"])
def test_numbers_of_queues_may_be_nought(text: str) -> None:
    with pytest.raises(
        argparse.ArgumentTypeError, match=f"'{text}': must be 0 or a positive integer"
    ):
        natural(text)
    assert natural("0") == 0
