"""Frozen values that were filled before they were frozen."""

import pickle
from copy import copy, deepcopy
from dataclasses import FrozenInstanceError, replace
from functools import partial

import pytest

from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.message.lazy_reader import decode_stored_messages
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from rocketwire.wire.values.drafts import build_constructor


def test_a_drafted_value_is_an_equal_and_frozen_one_of_its_class() -> None:
    drafted = build_constructor(RemotingCommand)(7, "GO", 1, 2, 3, "r", {"a": "b"}, b"x", 0)
    assert type(drafted) is RemotingCommand
    assert drafted == RemotingCommand(
        code=7,
        language="GO",
        version=1,
        opaque=2,
        flag=3,
        remark="r",
        ext_fields={"a": "b"},
        body=b"x",
        serialize_type=drafted.serialize_type,
    )
    with pytest.raises(FrozenInstanceError):
        drafted.code = 8  # type: ignore[misc]  # it is frozen


def test_a_missing_value_raises() -> None:
    with pytest.raises(TypeError):
        build_constructor(RemotingCommand)(7)


def test_a_message_with_undecoded_properties_equals_any_other() -> None:
    message = StoredMessage(topic="T", body=b"x", properties={"a": "b"}, store_size=97)
    read = partial(decode_stored_messages, encode_stored_message(message))
    pickled = pickle.loads(pickle.dumps(read()))
    for (copied,) in (read(), pickled, copy(read()), deepcopy(read())):
        assert copied == message
    assert repr(read()[0]) == repr(message)
    assert replace(read()[0], flag=7) == replace(message, flag=7)
    assert encode_stored_message(read()[0]) == encode_stored_message(message)
    (decoded,) = read()
    assert decoded.properties is decoded.properties
    with pytest.raises(FrozenInstanceError):
        decoded.properties = None  # type: ignore[misc]  # it is frozen
