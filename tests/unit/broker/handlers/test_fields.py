"""Fields of requests that are read without a header class."""

from __future__ import annotations

from rocketwire_broker.handlers.fields import integer, required, text


def test_fields_are_read() -> None:
    fields = {"name": "value", "number": "-12", "signed": "+3"}

    assert text(fields, "name") == "value"
    assert (integer(fields, "number"), integer(fields, "signed")) == (-12, 3)
    assert integer(fields, "missing", 7) == 7
    assert required(0, "zero") == 0
