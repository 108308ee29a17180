"""Message properties: one string on the wire, a dict here.

The string is ``name 0x01 value 0x02`` repeated.  Nothing is escaped, so neither separator may occur
in a name; a ``0x01`` in a value survives, a ``0x02`` does not.  Java checks neither and neither
does this file: what Java would write is what comes out (Java:
``MessageDecoder.messageProperties2String``, ``string2messageProperties``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME_VALUE_SEPARATOR: Final = "\x01"
PROPERTY_SEPARATOR: Final = "\x02"

MAX_PROPERTIES_BYTES: Final = 32_767
"""Most bytes of properties that a stored message or a batch can hold; the length is an int16."""

UNIQUE_KEY: Final = "UNIQ_KEY"
"""Name of the property with the sender's own message id."""

WAIT: Final = "WAIT"
"""Name of the property that says whether the sender waits until the message is stored."""


def encode_properties(properties: Mapping[str, str | None] | None) -> str:
    """The wire's string; properties without a value are left out, None gives an empty string.

    Args:
        properties: written in their own order.  An empty value is written, but no reader will see
            it again.
    """
    if not properties:
        return ""
    written = [
        f"{name}{NAME_VALUE_SEPARATOR}{value}{PROPERTY_SEPARATOR}"
        for name, value in properties.items()
        if value is not None
    ]
    return "".join(written)


def decode_properties(text: str) -> dict[str, str]:
    """The properties in ``text``; of two with one name the last counts.

    As Java reads them: what has no separator, an empty name or an empty value is not there, and the
    last property may lack its ``0x02``.
    """
    found: dict[str, str] = {}
    for item in text.split(PROPERTY_SEPARATOR):
        name, _, value = item.partition(NAME_VALUE_SEPARATOR)
        if name and value:
            found[name] = value
    return found
