"""Errors say what is wrong, where, and on whose side."""

from __future__ import annotations

import rocketwire


def test_a_codec_error_names_field_place_and_bytes() -> None:
    error = rocketwire.DecodeError(
        "negative length", path="header.remark", offset=13, excerpt=b"\xff" * 20
    )

    assert str(error) == f"header.remark: negative length (at byte 13) [{'ff ' * 15}ff]"


def test_a_codec_error_without_a_place_is_just_its_message() -> None:
    assert str(rocketwire.EncodeError("too long")) == "too long"


def test_each_side_has_its_class() -> None:
    assert issubclass(rocketwire.DecodeError, rocketwire.RemoteProtocolError)
    assert issubclass(rocketwire.EncodeError, rocketwire.LocalProtocolError)


def test_a_limit_error_carries_both_numbers() -> None:
    error = rocketwire.LimitExceededError("too deep", declared=70, limit=64)

    assert (error.declared, error.limit) == (70, 64)
