"""Message properties: a string on the wire, a dict here.

The string is ``name 0x01 value 0x02`` repeated, without escapes.  So names cannot contain a
separator, and values cannot contain ``0x02``.  Like Java, this module does not check that (Java:
``MessageDecoder.messageProperties2String``, ``string2messageProperties``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME_VALUE_SEPARATOR: Final = "\x01"
PROPERTY_SEPARATOR: Final = "\x02"

# Maximum bytes of a message's properties; the length is an int16
MAX_PROPERTIES_BYTES: Final = 32_767
UNIQUE_KEY: Final = "UNIQ_KEY"  # name of the property with the producer's message id
# Name of the property with ``true`` if the producer waits until the message is stored
WAIT: Final = "WAIT"


def split_keys(text: str | None) -> list[str]:
    """Split the property ``KEYS`` at spaces; other white space is a part of a key.

    Java: ``MessageConst.KEY_SEPARATOR``; ``IndexService.buildIndex`` skips empty keys, too.
    """
    return [key for key in (text or "").split(" ") if key]


def encode_properties(properties: Mapping[str, str | None] | None) -> str:
    """Encode properties in their order; None gives an empty string.

    Properties with the value None are skipped.  Empty values are written, but readers skip them.
    """
    if not properties:
        return ""
    items = [
        f"{name}{NAME_VALUE_SEPARATOR}{value}{PROPERTY_SEPARATOR}"
        for name, value in properties.items()
        if value is not None
    ]
    return "".join(items)


def decode_properties(text: str) -> dict[str, str]:
    """Decode properties; of several with one name the last counts.

    As in Java, items without a separator, a name or a value are skipped, and the last ``0x02`` is
    optional.
    """
    properties: dict[str, str] = {}
    for item in text.split(PROPERTY_SEPARATOR):
        name, _, value = item.partition(NAME_VALUE_SEPARATOR)
        if name and value:
            properties[name] = value
    return properties
