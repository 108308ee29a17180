"""The lists of name servers that this server gives to clients and brokers over HTTP.

Java's clients and brokers without configured name servers ask
``http://DOMAIN/rocketmq/SUBGROUP``, or ``SUBGROUP-UNIT?nofix=1`` if they have a unit name. The
subgroup is ``nsaddr`` by default.

Rules of this file: pure. A list with one invalid address is invalid as a whole: clients would
replace a working list by it.

Java: ``TopAddressing`` of 4.9.4, ``DefaultTopAddressing`` of 5.5.0, ``MixAll.getWSAddr``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from rocketwire.errors import DecodeError
from rocketwire.serving.java_properties import load_properties

PATH: Final = "/rocketmq/"
MAX_FILE_SIZE: Final = 65_536
"""Largest file in bytes; clients of this project read as much of an answer."""

_ADDRESS: Final = re.compile(r"(?:\[[0-9A-Fa-f:.%a-z]+\]|[^\s:;,\[\]]+):([0-9]{1,5})")
_MAX_PORT: Final = 65_535

AddressLists = Mapping[str, str]
"""Subgroup, with or without a unit -> ``host:port;host:port``."""


class AddressListError(ValueError):
    """The text has no valid list; the message says where."""


def read_lists(data: bytes) -> AddressLists:
    """Read the lists of a properties text."""
    if len(data) > MAX_FILE_SIZE:
        raise AddressListError(f"it is larger than {MAX_FILE_SIZE} bytes")
    try:
        entries = load_properties(data)
    except DecodeError as error:
        raise AddressListError(str(error)) from error
    return {name: _join_addresses(name, text) for name, text in entries.items()}


def _join_addresses(name: str, text: str) -> str:
    addresses = text.replace(";", " ").split()
    if not addresses:
        raise AddressListError(f"{name}: has no address")
    for address in addresses:
        match = _ADDRESS.fullmatch(address)
        if match is None or not 0 < int(match[1]) <= _MAX_PORT:
            raise AddressListError(f"{name}: {address!a} must be host:port")
    return ";".join(addresses)


def list_for(lists: AddressLists, path: str) -> str | None:
    """Return the list for the path of a request.

    Without a list for a unit, the one of the subgroup is for its clients too. None if the path
    has another form, or if there is no list.
    """
    name = path.removeprefix(PATH)
    if name == path:
        return None
    while name not in lists:
        name, dash, _ = name.rpartition("-")
        if not dash:
            return None
    return lists[name]
