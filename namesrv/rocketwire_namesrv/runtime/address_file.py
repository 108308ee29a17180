"""``AddressFile``: the file with the lists of name servers that are given to clients and brokers.

Rules of this file: it is read for each request, which a client sends once in two minutes, so that a
change needs no command. If the file is invalid or missing, the last valid lists stay.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar

from rocketwire.os_errors import os_error_text
from rocketwire_namesrv.runtime.logging_setup import LOGGER
from rocketwire_namesrv.runtime.storage import read_start

T = TypeVar("T")
MAX_READ: Final = 1 << 20


class AddressFile(Generic[T]):
    """A file whose last valid content stays."""

    def __init__(self, path: str, parse: Callable[[bytes], T], nothing: T) -> None:
        self._path = path  # empty if there is none
        self._parse = parse  # raises ValueError if the content is invalid
        self._content = nothing  # as long as no valid one was read
        self._data: bytes = b""
        self._fault = ""

    def read(self) -> T:
        if not self._path:
            return self._content
        try:
            data = read_start(self._path, MAX_READ)
            if data != self._data:
                self._content = self._parse(data)
                self._data = data
                LOGGER.info("the lists of name servers come from %s now", self._path)
        except OSError as error:
            self._report(os_error_text(error))
        except ValueError as error:
            self._report(f"{self._path}: {error}")
        else:
            self._fault = ""
        return self._content

    def _report(self, fault: str) -> None:
        if fault != self._fault:
            self._fault = fault
            LOGGER.warning("the last valid lists of name servers stay: %s", fault)
