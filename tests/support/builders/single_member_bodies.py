"""Bodies of a single member, to see what Java's types make of each kind of JSON."""

from typing import Any

from rocketwire.errors import DecodeError
from rocketwire.messages import decode_body

REFUSED = object()


def read(cls: type[Any], member: str, text: str) -> Any:
    """The member after reading an object that holds only it, or REFUSED."""
    wire = "".join(
        part if index == 0 else part.capitalize() for index, part in enumerate(member.split("_"))
    )
    try:
        body = decode_body(cls, f'{{"{wire}":{text}}}'.encode())
    except DecodeError:
        return REFUSED
    return getattr(body, member)
