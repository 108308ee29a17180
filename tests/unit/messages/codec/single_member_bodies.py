"""Bodies of a single member, for tests that read each kind of JSON."""

from typing import Any

from rocketwire.errors import DecodeError
from rocketwire.messages import decode_body
from rocketwire.messages._codec.fields import members_of
from tests.support.tables import cases

REFUSED = object()


def read(cls: type[Any], member: str, text: str) -> Any:
    """The member after reading an object that holds only it, or REFUSED."""
    name = members_of(cls)[member].wire
    try:
        body = decode_body(cls, f'{{"{name}":{text}}}'.encode())
    except DecodeError:
        return REFUSED
    return getattr(body, member)


def list_cases(values: dict[tuple[type[Any], str], list[tuple[Any, ...]]]) -> list[tuple[Any, ...]]:
    """Class, member, text and expected value of each text."""
    return [
        (cls, member, text, expected)
        for (cls, member), rows in values.items()
        for text, expected in cases(*rows)
    ]
