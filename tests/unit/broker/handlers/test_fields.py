"""Fields of requests that are read without a header class."""

from __future__ import annotations

import pytest

from rocketwire.errors import DecodeError
from rocketwire.messages.heartbeat import HeartbeatData
from rocketwire.wire.command import RemotingCommand
from rocketwire_broker.handlers.fields import body_of, integer, required, text


def test_fields_are_read() -> None:
    fields = {"name": "value", "number": "-12", "signed": "+3"}

    assert text(fields, "name") == "value"
    assert (integer(fields, "number"), integer(fields, "signed")) == (-12, 3)
    assert integer(fields, "missing", 7) == 7
    assert required(0, "zero") == 0


@pytest.mark.parametrize("value", ["", "abc", "1.5", " 1", "1_0", "--1", "9" * 25, "٣"])
def test_what_is_no_number_is_an_error(value: str) -> None:
    with pytest.raises(DecodeError, match="For input string"):
        integer({"number": value}, "number")


def test_a_missing_field_is_an_error_that_names_it() -> None:
    with pytest.raises(DecodeError, match="<topic>"):
        text({}, "topic")
    with pytest.raises(DecodeError, match="<queueId>"):
        integer({}, "queueId")
    with pytest.raises(DecodeError, match="<body>"):
        body_of(RemotingCommand(code=34), HeartbeatData)
