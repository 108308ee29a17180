"""Frozen values that were filled before they were frozen."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.drafts import drafting


def test_a_drafted_value_is_an_equal_and_frozen_one_of_its_class() -> None:
    made = drafting(RemotingCommand)(7, "GO", 1, 2, 3, "r", {"a": "b"}, b"x", 0)
    assert type(made) is RemotingCommand
    assert made == RemotingCommand(
        code=7,
        language="GO",
        version=1,
        opaque=2,
        flag=3,
        remark="r",
        ext_fields={"a": "b"},
        body=b"x",
        serialize_type=made.serialize_type,
    )
    with pytest.raises(FrozenInstanceError):
        made.code = 8  # type: ignore[misc]


def test_a_value_too_few_is_refused() -> None:
    with pytest.raises(TypeError):
        drafting(RemotingCommand)(7)
