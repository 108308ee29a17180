"""Numbers as arguments of commands."""

import argparse

import pytest

from rocketwire_tools.values import natural, number_in, positive


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


@pytest.mark.parametrize("text", [None, "", "-1", "1.5", "x", "²", "\u0663", "1" * 19, "9" * 5000])
def test_other_texts_of_properties_are_no_numbers(text: str | None) -> None:
    assert number_in(text) is None
    assert number_in("007") == 7
    assert number_in("9" * 18) == 10**18 - 1
